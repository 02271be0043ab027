package attempts

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"mcptest/internal/base/stats"
	"mcptest/internal/report/result"
)

var statuses = map[rune]result.Status{'p': result.Pass, 'f': result.Fail, 'e': result.Error, 's': result.Skip, 'i': result.Inconclusive}

// play runs a test whose n-th attempt has the n-th outcome. Attempts that begin earlier
// end later, so a test that took them as they end would see another order.
func play(design stats.Sequential, outcomes string, parallel int) (c result.Case, began int) {
	test := NewTrials(design)
	var mu sync.Mutex
	test.Run(parallel, func(n int) *result.Case {
		mu.Lock()
		began++
		mu.Unlock()
		n--
		time.Sleep(time.Duration(parallel-n%parallel) * time.Second)
		status := statuses[rune(outcomes[n%len(outcomes)])]
		c := &result.Case{Status: status}
		if status != result.Pass {
			c.Message = fmt.Sprintf("%s at %d", status, n+1)
		}
		return c
	}, func(string) {})
	return test.Result(), began
}

func TestTrials(t *testing.T) {
	design := stats.Sequential{Want: 0.9, Floor: 0.7, Confidence: 0.95, Max: 60}
	short := stats.Sequential{Want: 0.6, Floor: 0.4, Confidence: 0.95, Max: 10}
	strict := stats.Sequential{Want: 1, Floor: 0.8, Confidence: 0.95, Max: 20}
	for _, tt := range []struct {
		design           stats.Sequential
		outcomes         string
		status           result.Status
		passed, failed   int
		errors, attempts int
		message          string
	}{
		{design, "p", result.Pass, 12, 0, 0, 12, ""},
		{design, "f", result.Fail, 0, 3, 0, 3, "0 of 3 trials passed, p between 0.00 and 0.71, wanted 0.9: fail at 1"},
		{design, "pfffpp", result.Fail, 1, 3, 0, 4, "1 of 4 trials passed, p between 0.01 and 0.81, wanted 0.9: fail at 2"},
		{short, "pf", result.Inconclusive, 5, 5, 0, 10, "5 of 10 trials passed, p between 0.19 and 0.81, no verdict between 0.4 and 0.6: fail at 2"},
		// A failure is none of the model if there was no answer.
		{design, "pe", result.Pass, 12, 0, 11, 23, ""},
		{strict, "ppepppppppppppp", result.Pass, 14, 0, 1, 15, ""},
		{design, "e", result.Error, 0, 0, 3, 3, "3 errors in a row: error at 1"},
		{design, "pfeee", result.Error, 1, 1, 3, 5, "1 of 2 trials passed, p between 0.01 and 0.99, 3 errors in a row: error at 5"},
		{design, "eepeepeepe", result.Error, 3, 0, 7, 10, "3 of 3 trials passed, p between 0.29 and 1.00, 7 of 10 attempts were errors: error at 1"},
		{design, "ppps", result.Skip, 3, 0, 0, 4, "3 of 3 trials passed, p between 0.29 and 1.00: skip at 4"},
		{design, "i", result.Inconclusive, 0, 0, 0, 1, "inconclusive at 1"},
		{design, "pfi", result.Inconclusive, 1, 1, 0, 3, "1 of 2 trials passed, p between 0.01 and 0.99: inconclusive at 3"},
	} {
		for _, parallel := range []int{1, 2, 7} {
			synctest.Test(t, func(t *testing.T) {
				c, began := play(tt.design, tt.outcomes, parallel)
				s := c.Trials
				if c.Status != tt.status || s.Passed != tt.passed || s.Failed != tt.failed || s.Errors != tt.errors || len(c.Attempts) != tt.attempts || c.Message != tt.message {
					t.Errorf("%s, %d at a time: %s %q, %+v, %d attempts", tt.outcomes, parallel, c.Status, c.Message, *s, len(c.Attempts))
				}
				if began < tt.attempts || began > tt.attempts+parallel-1 {
					t.Errorf("%s, %d at a time: %d attempts began, %d counted", tt.outcomes, parallel, began, tt.attempts)
				}
				if want := fmt.Sprintf(" at %d", c.Shown); c.Status == result.Pass && c.Shown != len(c.Attempts) || c.Status != result.Pass && !strings.HasSuffix(c.Message, want) {
					t.Errorf("%s: %q, and attempt %d is shown", tt.outcomes, c.Message, c.Shown)
				}
				if s.Low > s.High || s.High == 0 {
					t.Errorf("%s: %g to %g", tt.outcomes, s.Low, s.High)
				}
			})
		}
	}
}

// Whoever waits for trials with a model sees how far they are, and what they cost.
func TestProgressOfTrials(t *testing.T) {
	usd := 0.00015
	test := NewTrials(stats.Sequential{Want: 0.9, Floor: 0.5, Confidence: 0.95, Max: 30})
	var states []string
	test.Run(1, func(n int) *result.Case {
		c := &result.Case{Status: []result.Status{result.Pass, result.Fail}[n%2], Conversation: &result.Conversation{CostUSD: &usd}}
		if n == 3 { // there was no answer, and it cost nothing
			c.Status, c.Conversation = result.Error, nil
		}
		return c
	}, func(s string) { states = append(states, s) })
	want := []string{"1 of at most 30 trials, 0 passed, 0.000150 USD", "2 of at most 30 trials, 1 passed, 0.000300 USD", "2 of at most 30 trials, 1 passed, 0.000300 USD", "3 of at most 30 trials, 2 passed, 0.000450 USD"}
	if len(states) < 4 || !slices.Equal(states[:4], want) {
		t.Errorf("got %q", states)
	}
	if c := test.Result(); math.Abs(c.Trials.CostUSD-float64(len(states)-1)*usd) > 1e-9 {
		t.Errorf("%d trials cost %g", len(states), c.Trials.CostUSD)
	}
}

// No more attempts begin than could count.
func TestTrialsBeginNoMoreThanTheMaximum(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		design := stats.Sequential{Want: 0.6, Floor: 0.4, Confidence: 0.95, Max: 10}
		if _, began := play(design, strings.Repeat("pf", 5), 100); began != 10 {
			t.Errorf("%d began", began)
		}
	})
}
