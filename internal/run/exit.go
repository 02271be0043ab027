package run

import (
	"cmp"
	"sync"

	"mcptest/internal/report/result"
)

// Exit codes of a run, other than those of signals; code defines their precedence.
const (
	ExitPassed  = 0
	ExitInvalid = 2 // setup failed
	ExitFailed  = 1
	ExitReady   = 3 // timed out waiting for a server to become ready
	ExitFault   = 4 // an internal error
	ExitPolicy  = 5 // the cost of models reached its cap
	// ExitCancelled is the exit code of a run whose context was canceled without a
	// signal.
	ExitCancelled = 130
)

// exit collects the data that determines the exit code and whether to start further
// cases.
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
	gate        bool   // a minimum of the coverage is not reached, or a case was inconclusive
	capped      bool   // a model was not asked, because of the cost
	halted      string // why no further case is started
}

// update is the only access to the state.
func (e *exit) update(fn func(*exitState)) exitState {
	e.mu.Lock()
	defer e.mu.Unlock()
	fn(&e.state)
	return e.state
}

// halt prevents further cases from starting; the first reason is kept.
func (e *exit) halt(reason string) {
	e.update(func(s *exitState) { s.halted = cmp.Or(s.halted, reason) })
}

// chooseCode returns the exit code of a run that was not interrupted.
func (e *exit) chooseCode() int {
	s := e.update(func(*exitState) {})
	switch {
	case s.setupFailed:
		return ExitInvalid
	case s.capped:
		return ExitPolicy
	case s.failed || s.badFinding:
		return ExitFailed
	case s.notReady:
		return ExitReady
	case s.internal:
		return ExitFault
	case s.gate:
		return result.ExitGate
	}
	return ExitPassed
}
