// Package testkit is for tests: the one loop that waits for a condition, and
// whether the long form of a test is asked for. Only tests use it.
package testkit
