package run

import (
	"slices"
	"testing"

	"mcptest/internal/report/result"
)

// A warning of every attempt is shown unchanged, one of some attempts with their numbers.
func TestWarningsOfAttempts(t *testing.T) {
	all := attempts{word: "run"}
	for i := range 6 {
		c := &result.Case{Status: result.Pass, Warnings: []string{"each", "each"}}
		if i != 2 {
			c.Warnings = append(c.Warnings, "most")
		}
		if i == 3 {
			c.Warnings = append(c.Warnings, "once")
		}
		if i == 5 {
			c.Status, c.Message = result.Skip, "no creds"
		}
		all.add(c)
	}
	out := &result.Case{Warnings: []string{"replaced"}}
	all.apply(out, 1)
	want := []string{"each", "run 1, 2, 4 and 2 more: most", "run 4: once", "run 6: skipped: no creds"}
	if !slices.Equal(out.Warnings, want) || len(out.Attempts) != 6 {
		t.Errorf("%q", out.Warnings)
	}
}

// The exchanges of the first five attempts that did not pass are kept; the case has those
// of the attempt that is shown.
func TestExchangesOfAttempts(t *testing.T) {
	all := attempts{word: "attempt"}
	for i := range 9 {
		c := &result.Case{Status: result.Fail, Exchanges: []result.Exchange{{Request: "{}"}}}
		if i == 1 {
			c.Status = result.Pass
		}
		all.add(c)
	}
	out := &result.Case{}
	all.apply(out, 3)
	var with []int
	for i, a := range out.Attempts {
		if len(a.Exchanges) > 0 {
			with = append(with, i)
		}
	}
	if want := []int{0, 2, 4, 5}; !slices.Equal(with, want) {
		t.Errorf("attempts %v have exchanges, want %v", with, want)
	}
}

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
		if e.code() != tt.code {
			t.Errorf("%+v: exit %d, expected %d", tt.state, e.code(), tt.code)
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

// An internal error decides the status; a later failure is not worse.
func TestWorstVerdictCounts(t *testing.T) {
	for _, tt := range []struct {
		first, second result.Status
		want          string
	}{
		{result.Fail, result.Fail, "1"},
		{result.Fail, result.Error, "2"},
		{result.Fail, result.Skip, "2"},
		{result.Error, result.Skip, "1"},
		{result.Skip, result.Fail, "1"},
	} {
		o := outcome{c: &result.Case{}}
		o.fail(tt.first, "1\nmore")
		o.fail(tt.second, "2")
		if o.c.Message != tt.want {
			t.Errorf("%s and then %s: %q", tt.first, tt.second, o.c.Message)
		}
	}
	o := outcome{c: &result.Case{}, problems: []string{"a", "b", "c"}}
	if o.decide(); o.c.Status != result.Fail || o.c.Message != "a (and 2 more)" {
		t.Errorf("%s %q", o.c.Status, o.c.Message)
	}
}
