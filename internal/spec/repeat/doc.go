// Package repeat holds the keys that say how often a test is run: repeat and trials.
//
// [Check] finds what is wrong with them, and [Trials.Design] is the test that trials
// describe. Invariant: a design that passes Check can end with every verdict.
package repeat
