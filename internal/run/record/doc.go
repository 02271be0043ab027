// Package record converts what happened in a run to the form of its record.
//
// [Exchange] and [Assertions] are the entry points. Invariant: frames are shared, not
// copied, because they are immutable.
package record
