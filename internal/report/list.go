package report

import (
	"fmt"
	"strings"

	"mcptest/internal/display"
	"mcptest/internal/result"
	"mcptest/internal/term"
)

// The list of tests: one line each, under the name of their suite.

// suiteTitle is the heading under which a case is listed.
func suiteTitle(p *printer, c *result.Case, suites []result.Suite) string {
	name, file := c.Suite, c.File
	for _, s := range suites {
		if s.Name == c.Suite {
			file = s.File
		}
	}
	return titleOf(p, name, file)
}

// fileTitle is the heading that a phase outside the tests belongs under; ""
// when its file is that of no suite, but one that suites import.
func fileTitle(p *printer, ph *result.Phase, suites []result.Suite) string {
	for _, s := range suites {
		if s.File == ph.File {
			return titleOf(p, s.Name, s.File)
		}
	}
	return ""
}

func titleOf(p *printer, name, file string) string {
	switch {
	case name == "" && file == "":
		return ""
	case name == "" || name == file:
		return p.paint(term.Strong, term.Escape(file))
	case file == "":
		return p.paint(term.Strong, term.Escape(name))
	}
	return p.paint(term.Strong, term.Escape(name)) + p.faint("  "+term.Escape(file))
}

// listCase writes the line of a case. Why it did not pass is explained once,
// below the list.
func listCase(p *printer, c *result.Case) {
	name := term.Escape(c.Name)
	if c.Status == result.Skip {
		reason := ""
		if c.Message != "" {
			reason = "  skipped: " + oneLine(c.Message, p.across(14+display.Width(name)))
		}
		p.line(2, p.glyph(c.Status), " ", p.faint(name+reason))
		return
	}
	p.line(2, p.glyph(c.Status), " ", name, p.took(c.DurationMS), remarks(p, c))
	for _, w := range c.Warnings {
		p.line(6, p.paint(term.Warn, "warning: "), oneLine(w, p.across(15)))
	}
	if !p.Verbose {
		return
	}
	for i, a := range c.Attempts {
		for j := range a.Phases {
			casePhase(p, &a.Phases[j], fmt.Sprintf("try %d, ", i+1))
		}
	}
	for i := range c.Phases {
		casePhase(p, &c.Phases[i], "")
	}
	listPassed(p, c)
}

// casePhase writes the line of a hook or step of a test, and what one that
// failed wrote.
func casePhase(p *printer, ph *result.Phase, of string) {
	p.line(6, p.glyph(ph.Status), " ", p.faint(of+term.Escape(ph.Phase)+": "), term.Escape(ph.Name), p.took(ph.DurationMS))
	if text := strings.TrimSpace(ph.Output); text != "" {
		for line := range strings.SplitSeq(text, "\n") {
			p.line(8, p.faint("│ "), oneLine(line, longest))
		}
	}
}

// across is how many cells a line of the list has behind an indentation. The
// list is an overview; what is truncated here is printed in full below.
func (p *printer) across(indent int) int {
	if p.Width > indent+20 && !p.Verbose {
		return p.Width - indent
	}
	return longest
}

// took writes a duration in brackets; a slow one is highlighted, and a test
// that never started has none.
func (p *printer) took(ms float64) string {
	if ms == 0 {
		return ""
	}
	text := " (" + duration(ms) + ")"
	if ms >= 1000 {
		return p.paint(term.Warn, text)
	}
	return p.faint(text)
}

// remarks are the notes on the line of a test: flaky, tolerated violations, …
func remarks(p *printer, c *result.Case) string {
	var parts []string
	add := func(st term.Style, format string, args ...any) {
		parts = append(parts, p.paint(st, fmt.Sprintf(format, args...)))
	}
	if c.Flaky {
		add(term.Warn, "flaky: passed on try %d of %d", passedOn(c), len(c.Attempts))
	} else if len(c.Attempts) > 1 {
		add(term.Faint, "%d tries", len(c.Attempts))
	}
	if r := c.Repeat; r != nil {
		add(term.Faint, "%d of %d runs passed, %s%% needed", r.Passed, r.Times, number(r.Rate*100))
	}
	if c.Score != nil {
		text := "score " + number(*c.Score)
		if c.Threshold != nil {
			text += " (needs " + number(*c.Threshold) + ")"
		}
		add(term.Faint, "%s", text)
	}
	for _, m := range c.DerivedMetrics {
		add(term.Faint, "%s %s", term.Escape(m.Name), number(m.Value))
	}
	if c.AfterRestart {
		add(term.Warn, "after a restart of the server")
	}
	if n := resent(c); n > 0 {
		add(term.Warn, "sent again %s: HTTP 429 or 503", times(n))
	}
	if n := tolerated(c); n > 0 && c.Status == result.Pass {
		add(term.Warn, "%s tolerated", display.Count(n, "violation"))
	}
	if c.Implicit && c.Status == result.Pass {
		add(term.Faint, "it returned; nothing else was checked")
	}
	if len(parts) == 0 {
		return ""
	}
	return "  " + strings.Join(parts, p.faint(", "))
}

// passedOn is the number of the try that passed.
func passedOn(c *result.Case) int {
	for i, a := range c.Attempts {
		if a.Status == result.Pass {
			return i + 1
		}
	}
	return len(c.Attempts)
}

func tolerated(c *result.Case) (n int) {
	for _, v := range c.Violations {
		if v.Tolerated {
			n++
		}
	}
	return n
}

// listPhase writes the line of a hook or a fixture step.
func listPhase(p *printer, ph *result.Phase) {
	p.line(2, p.glyph(ph.Status), " ", p.faint(term.Escape(ph.Phase)+": "), term.Escape(ph.Name), p.took(ph.DurationMS))
	if ph.Status == result.Skip && ph.Message != "" {
		p.line(6, p.faint(oneLine(ph.Message, longest)))
	}
	for _, w := range ph.Warnings {
		p.line(6, p.paint(term.Warn, "warning: "), oneLine(w, longest))
	}
}

// before reports whether a phase runs before the tests of its file.
func before(ph *result.Phase) bool { return ph.Phase == "beforeAll" || ph.Phase == "setup" }

// list writes all tests of a record under their suites, the phases of a file
// round its tests.
func list(p *printer, r *result.Run) error {
	written := make([]bool, len(r.Phases))
	phases := func(wanted func(*result.Phase) bool) {
		for i := range r.Phases {
			if !written[i] && wanted(&r.Phases[i]) {
				written[i] = true
				listPhase(p, &r.Phases[i])
			}
		}
	}
	first, current, file := true, "", ""
	if r.Cases != nil {
		for c, err := range r.Cases.All() {
			if err != nil {
				return err
			}
			if key := c.Suite + "\x00" + suiteFile(c, r.Suites); first || key != current {
				phases(func(ph *result.Phase) bool { return !first && !before(ph) && ph.File == file })
				p.blank()
				if title := suiteTitle(p, c, r.Suites); title != "" {
					p.line(0, title)
				}
				current, file = key, suiteFile(c, r.Suites)
				phases(func(ph *result.Phase) bool {
					return before(ph) && (ph.File == file || first && !ofSuite(ph, r.Suites))
				})
				first = false
			}
			listCase(p, c)
		}
	}
	if first && len(r.Phases) > 0 {
		p.blank()
	}
	phases(func(*result.Phase) bool { return true })
	return p.err
}

// suiteFile is the file of the suite a case belongs to: its own may be one
// that the suite imports.
func suiteFile(c *result.Case, suites []result.Suite) string {
	for _, s := range suites {
		if s.Name == c.Suite {
			return s.File
		}
	}
	return c.File
}

func ofSuite(ph *result.Phase, suites []result.Suite) bool {
	for _, s := range suites {
		if s.File == ph.File {
			return true
		}
	}
	return false
}
