// Package stats computes intervals of shares and of percentiles, decides how many trials
// are enough, and compares two versions in pairs.
//
// [ComputeClopperPearson], [ComputeWilson], [ComputeRanks], [Sequential] and [ComputePairedDifference] are the entry points. Invariants: functions are
// pure and deterministic; an interval contains its estimate and, for shares, lies in [0, 1].
package stats
