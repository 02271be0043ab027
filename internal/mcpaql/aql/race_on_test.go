//go:build race

package aql_test

// raceEnabled says that the race detector slows everything down: tests then
// do less, and hold no figure of time.
const raceEnabled = true
