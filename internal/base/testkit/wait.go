package testkit

import (
	"testing"
	"time"
)

// patience is how long Wait looks: far longer than any condition needs on a
// busy machine, so that only a defect reaches it.
const patience = 30 * time.Second

// Wait returns when a condition is true, and ends the test when it stays
// false. It is for the state of other processes, files and ports, which send no
// event; for goroutines of the test use a channel or testing/synctest.
func Wait(t testing.TB, what string, condition func() bool) {
	t.Helper()
	if !Poll(patience, condition) {
		t.Fatalf("timed out waiting for %s", what)
	}
}

// Poll reports whether a condition becomes true within a limit.
func Poll(limit time.Duration, condition func() bool) bool {
	for end := time.Now().Add(limit); !condition(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}
