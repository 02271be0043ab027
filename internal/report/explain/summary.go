package explain

import (
	"fmt"
	"slices"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/base/term"
	"mcptest/internal/report/render"
	"mcptest/internal/report/result"
)

// Summary returns the last line: the verdict, then the counts.
func Summary(p *render.Printer, r *result.Run) string {
	word, st := Verdict(r)
	s := r.Summary
	counts := Counts(p, s) + " of " + display.Count(s.Total, "test")
	broken, found := CountFailedPhases(r), CountErrorFindings(r)
	if r.ExitCode != 0 && s.Passed > 0 && s.Failed+s.Errored+s.Inconclusive+broken == 0 && found > 0 {
		counts = p.Paint(term.Good, display.Count(s.Passed, "test")+" passed")
		if s.Skipped > 0 {
			counts += ", " + countText(p, term.Faint, s.Skipped, "skipped")
		}
		counts += ", but " + p.Paint(term.Bad, explainFindings(r, found))
		found = 0
	}
	if r.ExitCode == 0 && slices.ContainsFunc(r.Findings, func(f result.Finding) bool { return f.Kind == result.AllSkipped }) {
		counts = fmt.Sprintf("0 tests ran, %d skipped", s.Skipped)
	}
	text := p.Paint(st, word) + "  " + counts
	tally := func(st term.Style, n int, noun string) {
		if n > 0 {
			text += p.Faint(" · ") + p.Paint(st, fmt.Sprintf("%d %s", n, noun))
		}
	}
	tally(term.Bad, broken, NameHooksOrSteps(broken)+" failed")
	tally(term.Warn, s.Flaky, "flaky")
	tally(term.Bad, found, display.Plural(found, "finding"))
	tally(term.Warn, s.Warnings, display.Plural(s.Warnings, "warning"))
	if r.DurationMS > 0 {
		text += p.Faint(" · " + render.Duration(r.DurationMS) + describeSpent(r))
	}
	return text
}

// Limits of what is said about the time of a run.
const (
	leastIdleMS  = 1000 // without calls
	leastSpentMS = 50   // of one kind
)

// describeSpent says where the time went, if more than half of it was not calls; otherwise "".
func describeSpent(r *result.Run) string {
	t := r.Times
	if t == nil || r.DurationMS-t.CallsMS < leastIdleMS || t.CallsMS*2 > r.DurationMS {
		return ""
	}
	var parts []string
	add := func(ms float64, what string) {
		if ms >= leastSpentMS {
			parts = append(parts, render.Duration(ms)+" "+what)
		}
	}
	add(t.StartingMS, "starting servers")
	add(t.HooksMS, "hooks")
	add(t.EndingMS, "ending")
	add(t.DiagnosisMS, "running failed tests again")
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

// Counts returns the number of tests by status: 3 passed, 1 failed.
func Counts(p *render.Printer, s result.Summary) string {
	passed := countText(p, term.Good, s.Passed, "passed")
	return strings.Join(append([]string{passed}, ListNotPassed(p.Palette, s)...), ", ")
}

// ListNotPassed returns the numbers of tests that did not pass, by status.
func ListNotPassed(p term.Palette, s result.Summary) (parts []string) {
	add := func(st term.Style, n int, text string) {
		if n > 0 {
			parts = append(parts, p.Paint(st, fmt.Sprintf("%d %s", n, text)))
		}
	}
	add(term.Bad, s.Failed, "failed")
	add(term.Broken, s.Errored, display.Plural(s.Errored, "error"))
	add(term.Warn, s.Inconclusive, "inconclusive")
	add(term.Faint, s.Skipped, "skipped")
	return parts
}

// explainFindings describes the findings that make a run fail although every test
// passed.
func explainFindings(r *result.Run, n int) string {
	var kinds []string
	for _, f := range r.Findings {
		kind := term.Escape(f.Kind)
		if f.Severity == "error" && !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	return display.Count(n, "finding") + " failed the run: " + render.OneLine(strings.Join(kinds, ", "), render.LongestLine)
}

func countText(p *render.Printer, st term.Style, n int, word string) string {
	text := fmt.Sprintf("%d %s", n, word)
	if n == 0 {
		return text
	}
	return p.Paint(st, text)
}

// NameHooksOrSteps names n hooks or steps.
func NameHooksOrSteps(n int) string {
	if n == 1 {
		return "hook or step"
	}
	return "hooks or steps"
}

// CountFailedPhases counts the hooks and steps outside the tests that failed.
func CountFailedPhases(r *result.Run) int {
	n := 0
	for _, ph := range r.Phases {
		if ph.Status == result.Fail || ph.Status == result.Error {
			n++
		}
	}
	return n
}

// CountErrorFindings counts the findings that fail the run.
func CountErrorFindings(r *result.Run) int {
	n := 0
	for _, f := range r.Findings {
		if f.Severity == "error" {
			n++
		}
	}
	return n
}

// Verdict returns the run's outcome in one word. It is derived from the exit code, so
// that they always agree.
func Verdict(r *result.Run) (string, term.Style) {
	switch {
	case r.Interrupted != "":
		return "INTERRUPTED (" + term.Escape(r.Interrupted) + ")", term.Bad
	case r.ExitCode == 0:
		return "PASSED", term.Good
	case r.ExitCode == 7:
		return "NO TESTS", term.Warn
	case r.ExitCode == result.ExitGate && r.Summary.Inconclusive > 0 && CountErrorFindings(r) == 0:
		return "INCONCLUSIVE", term.Warn
	}
	return "FAILED", term.Bad
}
