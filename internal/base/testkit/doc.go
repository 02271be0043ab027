// Package testkit has helpers for tests: a comparison that explains itself, a loop that waits
// for a condition, free ports, a listener of in-memory connections, and a function that
// reports whether the long form of a test is requested, and one that reports whether times
// are compared. Only tests use it.
package testkit
