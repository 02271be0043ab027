// Package trajectory compares the calls that a model made with those that a test
// expects.
//
// [Decode] reads the argument of the matcher trajectory, [Path.Match] compares. Invariant:
// a call fulfils at most one entry.
package trajectory
