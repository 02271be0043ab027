package explain

import (
	"fmt"
	"math"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/base/stats"
	"mcptest/internal/base/term"
	"mcptest/internal/report/render"
	"mcptest/internal/report/result"
)

// Warning is a warning of one or more tests, or of the run.
type Warning struct {
	Text string
	Name string // of the first test; the kind of a finding
	File string
	Line int
	Test bool // belongs to tests, not to the run
	More int  // number of further tests with the same warning
}

// IsOfPhase reports whether a finding only repeats the failure of a run-level hook or
// step.
func IsOfPhase(f result.Finding) bool {
	return f.Severity == "warning" && (f.Kind == "teardown" || f.Kind == "afterAll")
}

// MostWarnings limits the warnings in a short format.
const MostWarnings = 20

// MessageLine returns the warning in one line.
func (w *Warning) MessageLine() string {
	text := w.Name + ": " + w.Text
	if w.More > 0 {
		text += fmt.Sprintf(" (and %s)", display.Count(w.More, "more test"))
	}
	return text
}

// Warnings returns the warnings of tests and of the run, without duplicates and
// failed run-level hooks and steps, which formats show separately. The cases of a
// record without warnings are not read.
func Warnings(r *result.Run) (list []*Warning, err error) {
	var found []result.Finding
	for _, f := range r.Findings {
		if f.Severity == "warning" && !IsOfPhase(f) {
			found = append(found, f)
		}
	}
	for i := range found {
		found[i].Excerpt = ""
	}
	for _, f := range FoldFindings(found) {
		list = append(list, &Warning{Text: FormatOnServer(f), Name: f.Kind, File: f.File, Line: f.Line})
	}
	if r.Summary.Warnings == 0 {
		return list, nil
	}
	known := map[string]*Warning{}
	for c, err := range r.Cases.All() {
		if err != nil {
			return nil, err
		}
		for _, text := range c.Warnings {
			if w := known[text]; w != nil {
				w.More++
				continue
			}
			w := &Warning{Text: text, Name: c.Name, File: c.File, Line: c.Line, Test: true}
			known[text] = w
			list = append(list, w)
		}
	}
	return list, nil
}

// VisitWarnings calls write for each warning, up to a limit.
func VisitWarnings(p *render.Printer, r *result.Run, write func(w *Warning)) error {
	list, err := Warnings(r)
	if err != nil {
		return err
	}
	for i, w := range list {
		if i == MostWarnings && !p.Verbose {
			p.Line(0, p.Paint(term.Warn, "MORE"), fmt.Sprintf(" %s not shown", display.Count(len(list)-i, "warning")))
			break
		}
		write(w)
	}
	return nil
}

// NamePhase returns the label of a failed hook or step. One that runs after the tests
// does not change the verdict.
func NamePhase(ph *result.Phase) (st term.Style, word string) {
	switch {
	case !BeforeTests(ph):
		return term.Warn, "WARN"
	case ph.Status == result.Error:
		return term.Bad, "ERROR"
	}
	return term.Bad, "FAIL"
}

// FoldFindings returns the findings of a run in their order. Equal ones are combined; the
// excerpt, or the message, contains their number.
func FoldFindings(all []result.Finding) []result.Finding {
	count := map[result.Finding]int{}
	for _, f := range all {
		count[f]++
	}
	var out []result.Finding
	for _, f := range all {
		n := count[f]
		delete(count, f)
		text := &f.Message
		if f.Excerpt != "" {
			text = &f.Excerpt
		}
		if n > 1 {
			*text += fmt.Sprintf(" (%d times)", n)
		}
		if n > 0 {
			out = append(out, f)
		}
	}
	return out
}

// FormatFinding returns a finding in one line: server, message and excerpt.
func FormatFinding(f result.Finding) string {
	if f.Excerpt == "" {
		return FormatOnServer(f)
	}
	return FormatOnServer(f) + ": " + f.Excerpt
}

// FormatOnServer returns the message of a finding, preceded by the name of its server.
func FormatOnServer(f result.Finding) string {
	if f.Server == "" {
		return f.Message
	}
	return "server " + f.Server + ": " + f.Message
}

// CountResent counts the retries of requests of a test after HTTP 429 and 503.
func CountResent(c *result.Case) (n int) {
	for i := range c.Exchanges {
		if h := c.Exchanges[i].HTTP; h != nil && h.Attempts > 1 {
			n += h.Attempts - 1
		}
	}
	return n
}

// formatTimes returns "once" or "2 times".
func formatTimes(n int) string {
	if n == 1 {
		return "once"
	}
	return display.Count(n, "time")
}

// WriteRemarks returns the remarks on the line of a test: flaky, tolerated violations, …
func WriteRemarks(p *render.Printer, c *result.Case) string {
	var parts []string
	add := func(st term.Style, format string, args ...any) {
		parts = append(parts, p.Paint(st, fmt.Sprintf(format, args...)))
	}
	if c.Flaky {
		add(term.Warn, "flaky: passed on attempt %d of %d", CountPassedOn(c), len(c.Attempts))
	} else if len(c.Attempts) > 1 && c.Repeat == nil && c.Trials == nil {
		add(term.Faint, "%d tries", len(c.Attempts))
	}
	for _, text := range DescribeRepeats(c) {
		add(term.Faint, "%s", text)
	}
	if c.Score != nil {
		text := "score " + render.Number(*c.Score)
		if c.Threshold != nil {
			text += " (needs " + render.Number(*c.Threshold) + ")"
		}
		add(term.Faint, "%s", text)
	}
	for _, m := range c.DerivedMetrics {
		add(term.Faint, "%s %s", term.Escape(m.Name), render.Number(m.Value))
	}
	if c.AfterRestart {
		add(term.Warn, "after a restart of the server")
	}
	if n := CountResent(c); n > 0 {
		add(term.Warn, "sent again %s: HTTP 429 or 503", formatTimes(n))
	}
	if n := CountTolerated(c); n > 0 && c.Status == result.Pass {
		add(term.Warn, "%s tolerated", display.Count(n, "violation"))
	}
	if c.Implicit && c.Status == result.Pass {
		add(term.Faint, "%s; nothing else was checked", end(c))
	}
	if len(parts) == 0 {
		return ""
	}
	return "  " + strings.Join(parts, p.Faint(", "))
}

const (
	triesMost = 10 // how many tries of a test are listed
	streak    = 3  // the number of trials of which reports say how often all pass
)

// Passes are the trials, or runs of repeat, of a case that passed, with the interval of
// their share.
type Passes struct {
	Passed, N int
	Low, High float64
}

// String is short enough for a table: 23/24 0.79–0.99.
func (s Passes) String() string {
	return fmt.Sprintf("%d/%d %s–%s", s.Passed, s.N, render.Bound(s.Low), render.Bound(s.High))
}

// ShareOf returns the share of a case with trials or repeat.
func ShareOf(c *result.Case) (s Passes, ok bool) {
	t, r := c.Trials, c.Repeat
	switch {
	case t != nil && t.Passed+t.Failed > 0:
		return Passes{t.Passed, t.Passed + t.Failed, t.Low, t.High}, true
	case r != nil && r.High > 0:
		return Passes{r.Passed, len(c.Attempts), r.Low, r.High}, true
	}
	return s, false
}

// DescribeRepeats returns what the runs or trials of a case have in common: a share always
// has its number and interval.
func DescribeRepeats(c *result.Case) (out []string) {
	if r := c.Repeat; r != nil {
		text := fmt.Sprintf("%d of %d runs passed", r.Passed, r.Times)
		if r.High > 0 {
			text += " (" + render.Share(r.Low, r.High) + ")"
		}
		out = append(out, fmt.Sprintf("%s, %s%% needed", text, render.Number(r.Rate*100)))
		for _, q := range r.Latency {
			out = append(out, render.Quantile(q))
		}
	}
	if t := c.Trials; t != nil {
		n := t.Passed + t.Failed
		text := fmt.Sprintf("%d of %d trials passed (%s), wanted %s, floor %s",
			t.Passed, n, render.Share(t.Low, t.High), render.Number(t.Want), render.Number(t.Floor))
		if t.Errors > 0 {
			text += ", " + display.Count(t.Errors, "error")
		}
		if t.CostUSD > 0 {
			text += ", " + render.USD(t.CostUSD)
		}
		out = append(out, text)
		if n >= streak {
			low, high := math.Pow(t.Low, streak), math.Pow(t.High, streak)
			share := stats.EstimateAllPass(t.Passed, n, streak)
			out = append(out, fmt.Sprintf("all of %d pass: %.2f (n = %d, %.2f to %.2f)", streak, share, n, low, high))
		}
	}
	return out
}

// CountPassedOn returns the number of the try that passed.
func CountPassedOn(c *result.Case) int {
	for i, a := range c.Attempts {
		if a.Status == result.Pass {
			return i + 1
		}
	}
	return len(c.Attempts)
}

// CountTolerated counts the tolerated violations of a case.
func CountTolerated(c *result.Case) int {
	n := 0
	for _, v := range c.Violations {
		if v.Tolerated {
			n++
		}
	}
	return n
}

// BeforeTests reports whether a phase runs before the tests of its file.
func BeforeTests(ph *result.Phase) bool { return ph.Phase == "beforeAll" || ph.Phase == "setup" }

// end says how the last call of a case without assertions ended.
func end(c *result.Case) string {
	if n := len(c.Exchanges); n > 0 && strings.Contains(c.Exchanges[n-1].Error, " was cancelled after ") {
		return "it was cancelled"
	}
	return "it returned"
}
