// Package habit knows what other test tools call matchers and targets, and how they
// write assertions, for the hints about unknown keys.
//
// Invariants: it only writes hints; what a suite means does not depend on it.
package habit
