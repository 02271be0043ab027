package attempts

import (
	"fmt"
	"strings"

	"mcptest/internal/base/stats"
	"mcptest/internal/report/render"
	"mcptest/internal/report/result"
)

// Errors are no trials. So many in a row end the test, and more errors than trials from
// so many attempts on.
const (
	errorsInRow  = 3
	errorsJudged = 10
)

// Trials is the sequential test of one case.
type Trials struct {
	stats.Sequential
	all            List
	passed, failed int
	errors, inRow  int
	cost           float64      // in USD, of the conversations with a model
	shown          *result.Case // the first attempt that did not pass; otherwise the last one
	at             int
	last           *result.Case
	status         result.Status // "" while undecided
	why            string
}

// NewTrials returns the test of a design.
func NewTrials(d stats.Sequential) *Trials {
	return &Trials{Sequential: d, all: List{Word: "trial"}}
}

// Run runs attempts, numbered from 1, until the test ends, at most parallel at a time. Their
// outcomes are taken in the order of their number, so the verdict does not depend on which of them is
// fast. Those in flight when the test ends are waited for and dropped. progress gets the
// state after each one.
func (t *Trials) Run(parallel int, attempt func(n int) *result.Case, progress func(string)) {
	var flying []chan *result.Case
	begun := 0
	for t.status == "" {
		for len(flying) < min(parallel, t.Max-t.passed-t.failed) {
			done := make(chan *result.Case, 1)
			flying = append(flying, done)
			begun++
			run := func(n int) { done <- attempt(n) }
			if parallel > 1 {
				go run(begun)
			} else {
				run(begun)
			}
		}
		t.add(<-flying[0])
		flying = flying[1:]
		state := fmt.Sprintf("%d of at most %d trials, %d passed", t.passed+t.failed, t.Max, t.passed)
		if t.cost > 0 {
			state += ", " + render.USD(t.cost)
		}
		progress(state)
	}
	for _, done := range flying {
		<-done
	}
}

// add takes the outcome of the next attempt.
func (t *Trials) add(c *result.Case) {
	t.all.Add(c)
	t.last = c
	if c.Conversation != nil && c.Conversation.CostUSD != nil {
		t.cost += *c.Conversation.CostUSD
	}
	if t.shown == nil || t.shown.Status == result.Pass {
		t.shown, t.at = c, len(t.all.Done)-1
	}
	decided := c.Status == result.Pass || c.Status == result.Fail
	switch {
	case c.Status == result.Error, decided && c.Silent: // there was no response
		t.errors++
		t.inRow++
	case c.Status == result.Pass:
		t.passed++
		t.inRow = 0
	case c.Status == result.Fail:
		t.failed++
		t.inRow = 0
	default: // interrupted, skipped by a hook, or it decides nothing: so does the test
		t.end(c.Status, "")
		return
	}
	n := t.passed + t.failed
	verdict := t.Verdict(t.passed, t.failed)
	switch {
	case t.inRow == errorsInRow && c.Silent:
		t.end(result.Error, fmt.Sprintf("%d attempts in a row got no response", errorsInRow))
	case t.inRow == errorsInRow:
		t.end(result.Error, fmt.Sprintf("%d errors in a row", errorsInRow))
	case n+t.errors >= errorsJudged && t.errors > n:
		t.end(result.Error, fmt.Sprintf("%d of %d attempts were errors", t.errors, n+t.errors))
	case verdict == stats.Good:
		t.status = result.Pass
	case verdict == stats.Bad:
		t.end(result.Fail, fmt.Sprintf("wanted %v", t.Want))
	case n >= t.Max:
		t.end(result.Inconclusive, fmt.Sprintf("no verdict between %v and %v", t.Floor, t.Want))
	}
}

// end ends the test with a status; the first attempt of that status explains it.
func (t *Trials) end(status result.Status, why string) {
	t.status, t.why = status, why
	if t.shown.Status != status && t.last.Status == status {
		t.shown, t.at = t.last, len(t.all.Done)-1
	}
}

// Result returns the case: that of the attempt that explains the verdict, with the
// numbers of all.
func (t *Trials) Result() result.Case {
	if t.status == result.Pass {
		t.shown, t.at = t.last, len(t.all.Done)-1
	}
	out := *t.shown
	out.Status = t.status
	out.Trials = &result.Trials{
		Want:       t.Want,
		Floor:      t.Floor,
		Confidence: t.Confidence,
		Max:        t.Max,
		Passed:     t.passed,
		Failed:     t.failed,
		Errors:     t.errors,
		CostUSD:    t.cost,
	}
	out.Trials.Low, out.Trials.High = stats.ComputeClopperPearson(t.passed, t.passed+t.failed, confidence)
	t.all.Apply(&out, t.at)
	if t.status == result.Pass {
		out.Message = ""
		return out
	}
	var parts []string
	if n := t.passed + t.failed; n > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d trials passed, %s", t.passed, n, render.Share(out.Trials.Low, out.Trials.High)))
	}
	if t.why != "" {
		parts = append(parts, t.why)
	}
	out.Message = strings.TrimSuffix(strings.Join(parts, ", ")+": "+out.Message, ": ")
	out.Message = strings.TrimPrefix(out.Message, ": ")
	return out
}
