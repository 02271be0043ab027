package run

import (
	"cmp"
	"sync"

	"mcptest/internal/result"
)

// Exit codes of a run, from the most to the least important after a signal.
const (
	ExitPassed  = 0
	ExitInvalid = 2 // setup failed
	ExitFailed  = 1
	ExitReady   = 3 // timed out waiting for a server to become ready
	ExitFault   = 4 // an internal error
	// ExitCancelled ends a run whose context was cancelled, but not by a signal.
	ExitCancelled = 130
)

// exit collects what determines the exit code, and whether the run goes on.
type exit struct {
	mu    sync.Mutex
	state exitState
}

type exitState struct {
	failed      bool // a case or a beforeAll failed, or a case could not be tested
	setupFailed bool
	badFinding  bool
	notReady    bool   // a case could not be tested because its server was not ready in time
	internal    bool   // an internal error
	uncovered   bool   // a minimum of the coverage is not reached
	halted      string // why no further case is started
}

// update is the only access to the state.
func (e *exit) update(fn func(*exitState)) exitState {
	e.mu.Lock()
	defer e.mu.Unlock()
	fn(&e.state)
	return e.state
}

// halt keeps further cases from being started; the first reason counts.
func (e *exit) halt(reason string) {
	e.update(func(s *exitState) { s.halted = cmp.Or(s.halted, reason) })
}

// code is the exit code of a run that was not interrupted.
func (e *exit) code() int {
	switch s := e.update(func(*exitState) {}); {
	case s.setupFailed:
		return ExitInvalid
	case s.failed || s.badFinding:
		return ExitFailed
	case s.notReady:
		return ExitReady
	case s.internal:
		return ExitFault
	case s.uncovered:
		return result.ExitGate
	}
	return ExitPassed
}
