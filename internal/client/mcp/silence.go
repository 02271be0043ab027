package mcp

import "time"

// tick is the interval at which the wait for a response is examined.
const tick = 50 * time.Millisecond

// A stopwatch measures how long a server has been silent. It only counts time in which
// this process was scheduled on time, so that neither a busy machine nor a suspended one
// makes a server look silent: a wake-up adds one tick at most, however late it is.
type stopwatch struct {
	woke    time.Time     // the last wake-up
	counted time.Duration // never decreases
}

// startStopwatch returns a stopwatch that has counted nothing.
func startStopwatch(now time.Time) stopwatch { return stopwatch{woke: now} }

// wake is called at each tick. Time is only counted while the server is awaited.
func (s *stopwatch) wake(now time.Time, awaited bool) {
	passed := now.Sub(s.woke)
	s.woke = now
	if awaited {
		s.counted += min(max(passed, 0), tick)
	}
}
