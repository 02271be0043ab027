package html

import (
	"strings"

	"mcptest/internal/report/explain"
	"mcptest/internal/report/render"
	"mcptest/internal/report/result"
)

const (
	openMost   = 1   // failures that are shown expanded
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

// Command returns the command line that sends a request alone.
func (t testView) Command(x *result.Exchange) string {
	return explain.Command(t.page.Run, t.Case, x)
}

// DiagnosisText says that another test caused the failure, or "".
func (t testView) DiagnosisText() string { return explain.Diagnosis(t.Case) }

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

// scrolls reports whether a block is so long that it scrolls and therefore must be
// reachable by keyboard.
func scrolls(text string) bool { return len(text) > 1000 || strings.Count(text, "\n") > 18 }

// Try returns the i-th try as a separate test.
func (t testView) Try(i int) testView {
	a := &t.Attempts[i]
	c := &result.Case{
		Server:    t.Server,
		Suite:     t.Suite,
		File:      t.File,
		Status:    a.Status,
		Message:   a.Message,
		Phases:    a.Phases,
		Exchanges: a.Exchanges,
		StartMS:   a.Exchanges[0].StartMS,
	}
	if len(a.Phases) > 0 {
		c.StartMS = min(c.StartMS, a.Phases[0].StartMS)
	}
	return testView{c, t.page, false}
}
