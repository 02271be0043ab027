package run

import (
	"testing"
)

func TestExitCodePrecedence(t *testing.T) {
	for _, tt := range []struct {
		state exitState
		code  int
	}{
		{exitState{}, ExitPassed},
		{exitState{internal: true}, ExitFault},
		{exitState{internal: true, notReady: true}, ExitReady},
		{exitState{notReady: true, badFinding: true}, ExitFailed},
		{exitState{notReady: true, failed: true}, ExitFailed},
		{exitState{failed: true, setupFailed: true, internal: true}, ExitInvalid},
	} {
		var e exit
		e.update(func(s *exitState) { *s = tt.state })
		if e.chooseCode() != tt.code {
			t.Errorf("%+v: exit %d, expected %d", tt.state, e.chooseCode(), tt.code)
		}
	}
}

func TestFirstReasonToHaltCounts(t *testing.T) {
	var e exit
	e.halt("first")
	e.halt("second")
	if got := e.update(func(*exitState) {}).halted; got != "first" {
		t.Error(got)
	}
}
