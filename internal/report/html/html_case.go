package html

import (
	"cmp"
	"fmt"
	"strings"

	"mcptest/internal/report/explain"
	"mcptest/internal/report/render"
	"mcptest/internal/report/result"
)

const (
	openMost   = 30  // failures that are shown expanded
	listedMost = 100 // failures of a large run that are shown at once
)

// testView is the data of a test's template.
type testView struct {
	*result.Case
	page *htmlPage
	Open bool // shown expanded
}

// Asked returns what the last call of a failed test asked for.
func (t testView) Asked() string {
	if !explain.Failed(t.Status) || len(t.Exchanges) == 0 {
		return ""
	}
	return explain.Asked(&t.Exchanges[len(t.Exchanges)-1])
}

// Reason returns the message without its hint.
func (t testView) Reason() string {
	text, _ := explain.Hint(t.Message)
	return text
}

// Hint returns the assertion that accepts what failed the test.
func (t testView) Hint() string {
	_, assertion := explain.Hint(t.Message)
	return assertion
}

// Slow reports whether the test takes so long that reports mark it.
func (t testView) Slow() bool { return t.DurationMS >= render.SlowMS }

// Change returns the difference from the earlier record.
func (t testView) Change() string { return t.page.Changes[t.Index] }

// Command returns the command line that sends a request alone.
func (t testView) Command(x *result.Exchange) string {
	return explain.Command(t.page.Run, t.Case, x)
}

// Many returns the page's Many.
func (t testView) Many() bool { return t.page.Many() }

// Location returns the position of the test and its call.
func (t testView) Location() string { return explain.CaseLocation(t.page.printer, t.Case) }

// InRow returns the row of the test, if it has one.
func (t testView) InRow() string { return explain.Row(t.Case) }

// ServerStderr returns the server's standard error output.
func (t testView) ServerStderr() string {
	return strings.TrimRight(explain.ServerStderr(t.page.printer, t.Case), "\n")
}

// LongMessage returns the message if the heading cannot show all of it.
func (t testView) LongMessage() string {
	if text := t.Reason(); strings.Contains(strings.TrimSpace(text), "\n") || len(text) > render.LongestLine {
		return text
	}
	return ""
}

// Metrics returns the score and the derived metrics.
func (t testView) Metrics() []result.Metric {
	if t.Score == nil {
		return t.DerivedMetrics
	}
	passed := t.Threshold == nil || *t.Score >= *t.Threshold*(1-1e-9)
	return append([]result.Metric{{Name: "score", Value: *t.Score, Threshold: t.Threshold, Passed: &passed}}, t.DerivedMetrics...)
}

// Passed returns the passed assertions, one per line.
func (t testView) Passed() string {
	var lines []string
	for i := range t.Assertions {
		if a := &t.Assertions[i]; a.Pass {
			lines = append(lines, "✓ "+explain.Label(a)+explain.WithWeight(t.page.printer, a))
		}
	}
	return strings.Join(lines, "\n")
}

// assertionView is a failed assertion.
type assertionView struct {
	*result.Assertion
	Label, Weight, Text  string
	Explained            bool // by the message of the test
	Values               bool // expected and actual are shown
	SuiteFile, SuiteLine string
	Caret                string // the line below SuiteLine up to the caret
	Marked               []markedLine
	Inner                []assertionView
}

// Failed returns the failed assertions.
func (t testView) Failed() []assertionView {
	failed := explain.Failing(t.Assertions)
	return t.assertions(failed, explain.Alone(t.Case, failed))
}

func (t testView) assertions(failed []result.Assertion, explained bool) (out []assertionView) {
	for i := range failed {
		a := &failed[i]
		v := assertionView{Assertion: a, Label: explain.Label(a), Weight: explain.WithWeight(t.page.printer, a), Explained: explained, SuiteFile: cmp.Or(a.File, t.File)}
		message, values := explain.Wording(a)
		if !values || len(a.Diff) > 0 || !explain.MessageHasValues(a) {
			v.Text = message
		}
		v.Values = values || explained && (a.Expected != "" || a.Actual != "")
		if shown, caret := explain.SuiteLine(a.Source, a.Column, render.LongestLine); shown != "" {
			number := fmt.Sprint(a.Line)
			v.SuiteLine = number + " │ " + shown
			if caret >= 0 {
				v.Caret = strings.Repeat(" ", len(number)) + " │ " + strings.Repeat(" ", caret)
			}
		}
		v.Marked = marked(a)
		v.Inner = t.assertions(explain.Failing(a.Assertions), false)
		out = append(out, v)
	}
	return out
}

// scrolls reports whether a block is so long that it scrolls and therefore must be
// reachable by keyboard.
func scrolls(text string) bool { return len(text) > 1000 || strings.Count(text, "\n") > 18 }

// Try returns the i-th try as a separate test.
func (t testView) Try(i int) testView {
	a := &t.Attempts[i]
	c := &result.Case{Server: t.Server, Suite: t.Suite, File: t.File, Status: a.Status, Message: a.Message, Phases: a.Phases, Exchanges: a.Exchanges, StartMS: a.Exchanges[0].StartMS}
	if len(a.Phases) > 0 {
		c.StartMS = min(c.StartMS, a.Phases[0].StartMS)
	}
	return testView{c, t.page, false}
}
