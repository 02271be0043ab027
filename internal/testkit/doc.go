// Package testkit has two helpers for tests: a loop that waits for a condition, and a
// function that reports whether the long form of a test is requested. Only tests use it.
package testkit
