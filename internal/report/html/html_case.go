package html

import (
	"cmp"
	"strconv"
	"strings"

	"mcptest/internal/base/term"
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

// Change says what changed since an earlier run, or "".
func (t testView) Change() string { return t.page.Changes[t.Index] }

// Asked returns what the last call of a failed test asked for.
func (t testView) Asked() string {
	if !explain.Failed(t.Status) || len(t.Exchanges) == 0 {
		return ""
	}
	return explain.FindQuestion(&t.Exchanges[len(t.Exchanges)-1])
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
	return strings.TrimRight(explain.WriteServerStderr(t.page.printer, t.Case), "\n")
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
			lines = append(lines, "✓ "+explain.Label(a)+explain.AddWeight(t.page.printer, a))
		}
	}
	return strings.Join(lines, "\n")
}

// scrolls reports whether a block is so long that it scrolls and therefore must be
// reachable by keyboard.
func scrolls(text string) bool { return len(text) > 1000 || strings.Count(text, "\n") > 18 }

// messageOf returns the message of a failed assertion, "" if it says no more than the
// values that are shown below it.
func messageOf(a *result.Assertion) string {
	message, values := explain.ChooseWording(a)
	if values && len(a.Diff) == 0 && explain.HasValuesInMessage(a) {
		return ""
	}
	return message
}

// showsValues reports whether the expected and the actual value are shown. Explained: the
// message of the test already says what the assertion says.
func showsValues(a *result.Assertion, explained bool) bool {
	if explained && (a.Expected != "" || a.Actual != "") {
		return true
	}
	_, values := explain.ChooseWording(a)
	return values
}

// diffClass returns the class of a line of a diff.
func diffClass(line string) string {
	switch {
	case strings.HasPrefix(line, "-"):
		return "del"
	case strings.HasPrefix(line, "+"):
		return "add"
	}
	return "eq"
}

// caretMargin returns what is before the caret below a line of a suite: the width of the
// line's number, and the columns before the place.
func caretMargin(line, caret int) string {
	number := strconv.Itoa(line)
	return strings.Repeat(" ", len(number)) + " │ " + strings.Repeat(" ", caret)
}

// commandWords returns the words of a command, between which a browser may break the line.
func commandWords(command string) []string { return strings.Split(term.Escape(command), " ") }

// exchangeName returns the step that an exchange belongs to, and its method.
func exchangeName(x *result.Exchange) string {
	return strings.TrimSpace(term.Escape(x.Step) + " " + term.Escape(x.Method))
}

// sourceOf returns the line of the suite that defines a hook or step.
func sourceOf(ph *result.Phase) string { return strings.TrimSpace(ph.Source) }

// PlaceOf returns the place of an assertion of the test.
func (t testView) PlaceOf(a *result.Assertion) string {
	return render.Place(cmp.Or(a.File, t.File), a.Line, a.Column)
}

// outputOf returns the output of a hook or step.
func outputOf(ph *result.Phase) string { return strings.TrimRight(ph.Output, "\n") }

// severityClass returns the class of a finding outside the tests.
func severityClass(f result.Finding) string {
	switch f.Severity {
	case "error":
		return "msg-fail"
	case "warning":
		return "n-warn"
	}
	return ""
}

// probeColumns are the heads of the table of a probe's families of rules.
func probeColumns() []string {
	return []string{"version", "family", "passed", "failed", "not verified"}
}

// serverName returns the name and version of a server, "" if it did not say them.
func serverName(s *result.Server) string {
	if s.ServerInfo == nil {
		return ""
	}
	return strings.TrimSpace(s.ServerInfo.Name + " " + s.ServerInfo.Version)
}

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
