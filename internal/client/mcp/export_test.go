package mcp

import (
	"strconv"
	"time"

	"mcptest/internal/client/protocol"
)

// ID is the id of the n-th request of a session, as JSON text.
func ID(n int64) string { return strconv.FormatInt(protocol.IDAt(n), 10) }

// Counted is the time that a stopwatch counts in wake-ups with the given intervals.
func Counted(at time.Time, awaited bool, wakes ...time.Duration) time.Duration {
	s := startStopwatch(at)
	for _, d := range wakes {
		at = at.Add(d)
		s.wake(at, awaited)
	}
	return s.counted
}
