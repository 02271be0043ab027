package pretty

import (
	"fmt"
	"slices"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/base/term"
	"mcptest/internal/report/explain"
	"mcptest/internal/report/render"
	"mcptest/internal/report/result"
)

// The list of tests: one line each, under the name of their suite.

// formatSuiteTitle returns the heading of a case.
func formatSuiteTitle(p *render.Printer, c *result.Case, suites []result.Suite) string {
	name, file := c.Suite, c.File
	for _, s := range suites {
		if s.Name == c.Suite {
			file = s.File
		}
	}
	return formatTitle(p, name, file)
}

// formatFileTitle returns the heading of a phase outside the tests, or "" if its file is
// not a suite but imported by suites.
func formatFileTitle(p *render.Printer, ph *result.Phase, suites []result.Suite) string {
	for _, s := range suites {
		if s.File == ph.File {
			return formatTitle(p, s.Name, s.File)
		}
	}
	return ""
}

func formatTitle(p *render.Printer, name, file string) string {
	switch {
	case name == "" && file == "":
		return ""
	case name == "" || name == file:
		return p.Paint(term.Strong, term.Escape(file))
	case file == "":
		return p.Paint(term.Strong, term.Escape(name))
	}
	return p.Paint(term.Strong, term.Escape(name)) + p.Faint("  "+term.Escape(file))
}

// listCase writes the line of a case. The reason of a failure is explained once,
// below the list.
func listCase(p *render.Printer, c *result.Case) {
	name := term.Escape(c.Name)
	if c.Status == result.Skip {
		reason := ""
		if c.Message != "" {
			reason = "  skipped: " + render.OneLine(c.Message, p.Across(14+display.Width(name)))
		}
		p.Line(2, p.Glyph(c.Status), " ", p.Faint(name+reason))
		return
	}
	p.Line(2, p.Glyph(c.Status), " ", name, p.Took(c.DurationMS), explain.WriteRemarks(p, c))
	for _, w := range c.Warnings {
		p.Line(6, p.Paint(term.Warn, "warning: "), render.OneLine(w, p.Across(15)))
	}
	if !p.Verbose {
		return
	}
	for i, a := range c.Attempts {
		for j := range a.Phases {
			writeCasePhase(p, &a.Phases[j], fmt.Sprintf("attempt %d, ", i+1))
		}
	}
	for i := range c.Phases {
		writeCasePhase(p, &c.Phases[i], "")
	}
	listPassed(p, c)
}

// writeCasePhase writes the line of a hook or step of a test, and its output if it failed.
func writeCasePhase(p *render.Printer, ph *result.Phase, of string) {
	p.Line(6, p.Glyph(ph.Status), " ", p.Faint(of+term.Escape(ph.Phase)+": "), term.Escape(ph.Name), p.Took(ph.DurationMS))
	if text := strings.TrimSpace(ph.Output); text != "" {
		for line := range strings.SplitSeq(text, "\n") {
			p.Line(8, p.Faint("│ "), render.OneLine(line, render.LongestLine))
		}
	}
}

// listPhase writes the line of a hook or a fixture step.
func listPhase(p *render.Printer, ph *result.Phase) {
	p.Line(2, p.Glyph(ph.Status), " ", p.Faint(term.Escape(ph.Phase)+": "), term.Escape(ph.Name), p.Took(ph.DurationMS))
	if ph.Status == result.Skip && ph.Message != "" {
		p.Line(6, p.Faint(render.OneLine(ph.Message, render.LongestLine)))
	}
	for _, w := range ph.Warnings {
		p.Line(6, p.Paint(term.Warn, "warning: "), render.OneLine(w, render.LongestLine))
	}
}

// list writes all tests of a record under their suites, with the phases of a file
// before and after its tests.
func list(p *render.Printer, r *result.Run) error {
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
	for c, err := range r.Cases.All() {
		if err != nil {
			return err
		}
		key := c.Suite + "\x00" + explain.FindSuiteFile(c, r.Suites)
		if first || key != current {
			phases(func(ph *result.Phase) bool { return !first && !explain.BeforeTests(ph) && ph.File == file })
			p.Blank()
			if title := formatSuiteTitle(p, c, r.Suites); title != "" {
				p.Line(0, title)
			}
			current, file = key, explain.FindSuiteFile(c, r.Suites)
			phases(func(ph *result.Phase) bool {
				return explain.BeforeTests(ph) && (ph.File == file || first && !isOfSuite(ph, r.Suites))
			})
			first = false
		}
		listCase(p, c)
	}
	if first && len(r.Phases) > 0 {
		p.Blank()
	}
	phases(func(*result.Phase) bool { return true })
	return nil
}

func isOfSuite(ph *result.Phase, suites []result.Suite) bool {
	return slices.ContainsFunc(suites, func(s result.Suite) bool { return s.File == ph.File })
}

// Limits of the exchanges of a passed test in verbose output.
const (
	passedExchanges = 20
	passedMessages  = 10
)

// listPassed writes the details of a passed test for verbose output: its assertions,
// and a line for each frame.
func listPassed(p *render.Printer, c *result.Case) {
	if c.Status != result.Pass {
		return // explained with the failures
	}
	for i := range c.Assertions {
		if a := &c.Assertions[i]; a.Pass {
			p.Line(6, p.Paint(term.Good, "✓ "), p.Faint(explain.Label(a)), explain.AddWeight(p, a))
		}
	}
	for i := range c.Exchanges {
		if i == passedExchanges {
			p.Line(6, p.Faint(fmt.Sprintf("… and %s", display.Count(len(c.Exchanges)-i, "more exchange"))))
			return
		}
		writePassedExchange(p, &c.Exchanges[i])
	}
	explain.Upstream(p, 6, c)
}

func writePassedExchange(p *render.Printer, x *result.Exchange) {
	p.Line(6, p.Faint(explain.ExchangeTitle(x)))
	for i, f := range explain.ListFrames(x) {
		more := len(x.During) - passedMessages
		if i == 1+passedMessages && more > 0 {
			p.Line(6, p.Faint(fmt.Sprintf("… and %s", display.Count(more, "more message"))))
		}
		if i <= passedMessages || i > len(x.During) {
			p.Line(6, p.Faint(f.Arrow), render.OneLine(f.Raw, render.LongestLine))
		}
	}
	if x.Error != "" {
		p.Line(6, p.Paint(term.Broken, "✗ "), render.OneLine(x.Error, render.LongestLine))
	}
}
