// Package stats computes intervals of shares and of percentiles.
//
// [ClopperPearson], [Wilson] and [Ranks] are the entry points. Invariants: functions are
// pure and deterministic; an interval contains its estimate and, for shares, lies in [0, 1].
package stats
