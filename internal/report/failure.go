package report

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"mcptest/internal/display"
	"mcptest/internal/result"
	"mcptest/internal/source"
	"mcptest/internal/term"
)

// How much of a failure is shown when the report is not verbose.
const (
	diffLines   = 30
	stderrLines = 24
	valueLines  = 12

	excerptMax = 240
)

// failure explains why one case did not pass.
func failure(p *printer, n int, c *result.Case) {
	st, _ := verdictStyle(c.Status)
	p.blank()
	p.line(0, p.paint(term.Strong, fmt.Sprintf("%d) ", n)), p.paint(st, strings.ToUpper(string(c.Status))), "  ", p.paint(term.Strong, term.Escape(c.Name)))
	explainCase(p, c)
}

// why explains a case below its name.
func explainCase(p *printer, c *result.Case) {
	st, _ := verdictStyle(c.Status)
	p.line(3, p.faint(caseLocation(p, c)))
	if c.Description != "" {
		p.line(3, p.faint(oneLine(c.Description, longest)))
	}
	p.blank()
	failed := failing(c.Assertions)
	if text := headline(c, failed); text != "" && !p.Headlined {
		p.message(3, st, text)
	}
	for _, a := range c.Attempts {
		if len(c.Attempts) < 2 {
			break
		}
		text := oneLine(a.Message, longest)
		if a.Message == c.Message {
			text = "" // the headline
		}
		p.line(3, p.glyph(a.Status), " ", p.faint("try, "+duration(a.DurationMS)), "  ", text)
	}
	for i := range failed {
		assertion(p, 3, c, &failed[i], alone(c, failed))
	}
	writeScores(p, c)
	otherAssertions(p, c, len(failed))
	response(p, c, failed)
	violations(p, c)
	for i := range c.Phases {
		if ph := &c.Phases[i]; ph.Status == result.Fail || ph.Status == result.Error {
			explainPhase(p, 3, ph)
		}
	}
	if text := serverStderr(p, c); text != "" {
		p.line(3, p.faint("server stderr"))
		p.block(3, text, stderrLines, true)
	}
	exchanges(p, c)
	if s := repro(c); s != "" {
		p.line(3, p.faint("repro  "), p.paint(term.Accent, s))
	}
}

// stderr is what the server wrote during the case, or, if the server could not
// be started, what it wrote then.
func serverStderr(p *printer, c *result.Case) string {
	text := c.Stderr
	for i := range p.run.Servers {
		s := &p.run.Servers[i]
		if s.Name != c.Server || s.Stderr == "" {
			continue
		}
		if text == "" && c.Status == result.Error && len(c.Exchanges) == 0 {
			text = s.Stderr
		}
		if strings.HasSuffix(strings.TrimSpace(text), strings.TrimSpace(s.Stderr)) {
			if p.stderrShown == nil {
				p.stderrShown = map[*result.Server]bool{}
			}
			p.stderrShown[s] = true
		}
	}
	return text
}

// location describes what was called, on which server, and from which line.
func caseLocation(p *printer, c *result.Case) string {
	parts := []string{place(c.File, c.Line, 0)}
	if c.Server != "" {
		parts = append(parts, "server "+term.Escape(c.Server))
	}
	if c.Call != "" {
		parts = append(parts, term.Escape(c.Call))
	}
	if c.DurationMS > 0 {
		parts = append(parts, duration(c.DurationMS))
	}
	if c.AfterRestart {
		parts = append(parts, "after a restart of the server")
	}
	return strings.Join(parts, " · ")
}

// message writes a message of one line or more in a colour.
func (p *printer) message(indent int, st term.Style, text string) {
	text = strings.Trim(term.EscapeLines(text), "\n ")
	for i, l := range strings.Split(text, "\n") {
		if i > 0 {
			l = "│ " + l
		}
		p.line(indent, p.paint(st, p.fit(l, indent)))
	}
}

// failing returns the assertions that failed, at the top level.
func failing(as []result.Assertion) (out []result.Assertion) {
	for _, a := range as {
		if !a.Pass {
			out = append(out, a)
		}
	}
	return out
}

// alone reports whether the case's message is that of its only failed
// assertion, which is then not repeated.
func alone(c *result.Case, failed []result.Assertion) bool {
	if len(failed) != 1 || failed[0].Set || c.Message == "" {
		return false
	}
	m := failed[0].Message
	return m != "" && strings.Contains(c.Message, m)
}

// assertion explains a failed assertion or set.
func assertion(p *printer, indent int, c *result.Case, a *result.Assertion, said bool) {
	message, values := wording(a)
	if !said {
		p.line(indent, p.paint(term.Bad, "✗ "), label(a), weighed(p, a))
		indent += 2
		if message != "" && (!values || len(a.Diff) > 0 || !messageHasValues(a)) {
			p.message(indent, term.Bad, message)
		}
	}
	switch {
	case len(a.Diff) > 0:
		diff(p, indent, a.Diff)
	case values:
		p.value(indent, "expected  ", term.Good, a.Expected)
		p.value(indent, "actual    ", term.Bad, a.Actual)
	}
	for _, n := range a.Notes {
		p.line(indent, p.faint("note: "), oneLine(n, longest))
	}
	file := a.File
	if file == "" {
		file = c.File
	}
	if a.Line > 0 {
		sourceLine(p, indent, file, a.Line, a.Column, a.Source)
	}
	for _, inner := range a.Assertions {
		if !inner.Pass {
			assertion(p, indent, c, &inner, false)
		}
	}
	if n := len(a.Assertions) - len(failing(a.Assertions)); n > 0 {
		p.line(indent, p.faint(fmt.Sprintf("✓ %s of the set passed", display.Count(n, "assertion"))))
	}
}

// sayable is the length up to which a message that contains both values is
// easier to read than the values on separate lines.
const sayable = 80

// wording returns the message of an assertion without the target, which the
// label shows, and whether to show the expected and actual values as well.
func wording(a *result.Assertion) (message string, values bool) {
	message = strings.TrimPrefix(a.Message, a.Target+": ")
	switch {
	case a.Expected == "" && a.Actual == "":
		return message, false
	case message == "":
		return message, true
	case a.Actual == "" || a.Actual == "nothing":
		return message, a.Actual == "" && !strings.Contains(message, a.Expected)
	case !strings.Contains(message, a.Actual):
		return message, true
	}
	return message, messageHasValues(a) && len(message) > sayable
}

// messageHasValues reports whether the message contains both values.
func messageHasValues(a *result.Assertion) bool {
	return a.Expected != "" && a.Actual != "" && strings.Contains(a.Message, a.Expected) && strings.Contains(a.Message, a.Actual)
}

// label is the name of an assertion, or its target and matcher.
func label(a *result.Assertion) string {
	var parts []string
	if a.Name != "" {
		parts = append(parts, term.Escape(a.Name)+":")
	}
	switch {
	case a.Set:
		parts = append(parts, "assert-set")
	case a.Target != "":
		parts = append(parts, term.Escape(a.Target))
	}
	if a.Matcher != "" {
		parts = append(parts, term.Escape(a.Matcher))
	}
	return strings.TrimSuffix(strings.Join(parts, " "), ":")
}

// weighed adds score, threshold and weight, where they count.
func weighed(p *printer, a *result.Assertion) string {
	var parts []string
	if a.Score != nil && (a.Set || a.Threshold != nil) {
		text := "score " + number(*a.Score)
		if a.Threshold != nil {
			text += ", needs " + number(*a.Threshold)
		}
		parts = append(parts, text)
	}
	if a.Weight != nil {
		parts = append(parts, "weight "+number(*a.Weight))
	}
	if len(parts) == 0 {
		return ""
	}
	return p.faint("  (" + strings.Join(parts, ", ") + ")")
}

func (p *printer) value(indent int, name string, st term.Style, text string) {
	if text == "" {
		return
	}
	if !strings.Contains(strings.TrimRight(text, "\n"), "\n") {
		p.line(indent, p.faint(name), p.paint(st, p.fit(term.Escape(text), indent)))
		return
	}
	p.line(indent, p.faint(strings.TrimSpace(name)))
	p.block(indent, text, valueLines, false)
}

func diff(p *printer, indent int, lines []string) {
	if slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, "-") || strings.HasPrefix(l, "+") }) {
		p.line(indent, p.paint(term.Good, "- expected"), "  ", p.paint(term.Bad, "+ actual"))
	}
	cut, rest := 0, ""
	if len(lines) > diffLines && !p.Verbose {
		if last := lines[len(lines)-1]; strings.HasPrefix(last, "…") {
			rest, lines = last, lines[:len(lines)-1] // what the record itself leaves out
		}
		cut = len(lines) - diffLines
		lines = lines[:diffLines]
	}
	for _, l := range lines {
		st := term.Faint
		switch {
		case strings.HasPrefix(l, "-"):
			st = term.Good
		case strings.HasPrefix(l, "+"):
			st = term.Bad
		}
		p.line(indent, p.faint("│ "), p.paint(st, p.fit(term.Escape(l), indent)))
	}
	if cut > 0 {
		p.line(indent, p.faint(fmt.Sprintf("│ … %s more", display.Count(cut, "line"))))
	}
	if rest != "" {
		p.line(indent, p.faint("│ "+term.Escape(rest)))
	}
}

// sourceLine writes the place in the suite, its line and a caret under the
// column.
func sourceLine(p *printer, indent int, file string, line, column int, text string) {
	if file == "" || line == 0 {
		return
	}
	p.line(indent, p.paint(term.Accent, place(file, line, column)))
	number := fmt.Sprint(line)
	width := longest
	if p.Width > 0 { // a caret below a line that the terminal wraps points at nothing
		width = p.Width - indent - len(number) - 3
	}
	shown, caret := suiteLine(text, column, width)
	if shown == "" {
		return
	}
	p.line(indent, p.faint(number+" │ "), shown)
	if caret >= 0 {
		p.line(indent, p.faint(strings.Repeat(" ", len(number))+" │ "), strings.Repeat(" ", caret), p.paint(term.Bad, "^"))
	}
}

// suiteLine is a line of the suite without its indentation, cut to a width
// around a column, and where the caret goes: -1 for nowhere.
func suiteLine(text string, column, width int) (shown string, caret int) {
	text = strings.TrimRight(text, "\r\n\t ")
	indent := len(text) - len(strings.TrimLeft(text, " \t"))
	text = text[indent:]
	shown, caret = source.Window(text, max(column-indent, 1), width)
	if column < 1 || column-indent > utf8.RuneCountInString(text) {
		caret = -1
	}
	return term.Escape(shown), caret
}

// scores explains a combined score and metrics that gate.
func writeScores(p *printer, c *result.Case) {
	if c.Score != nil && c.Threshold != nil {
		st := term.Good
		if *c.Score < *c.Threshold*(1-1e-9) {
			st = term.Bad
		}
		p.line(3, p.faint("score  "), p.paint(st, number(*c.Score)), p.faint(", needs "+number(*c.Threshold)))
	}
	for _, m := range c.DerivedMetrics {
		st, needs := term.Plain, ""
		if m.Passed != nil && !*m.Passed {
			st = term.Bad
		}
		if m.Threshold != nil {
			needs = ", needs " + number(*m.Threshold)
		}
		p.line(3, p.faint("metric "), term.Escape(m.Name), " ", p.paint(st, number(m.Value)), p.faint(needs))
		for _, n := range m.Notes {
			p.line(5, p.faint("note: "), oneLine(n, longest))
		}
	}
}

// others counts the assertions that passed, or lists them when verbose.
func otherAssertions(p *printer, c *result.Case, failed int) {
	passed := len(c.Assertions) - failed
	if passed == 0 {
		return
	}
	if !p.Verbose {
		noun := "assertion"
		if failed > 0 {
			noun = "other assertion"
		}
		p.line(3, p.faint("✓ "+display.Count(passed, noun)+" passed"))
		return
	}
	for _, a := range c.Assertions {
		if a.Pass {
			p.line(3, p.paint(term.Good, "✓ "), p.faint(label(&a)), weighed(p, &a))
		}
	}
}

func violations(p *printer, c *result.Case) {
	for _, v := range c.Violations {
		st, word := term.Bad, "violation  "
		if v.Tolerated {
			st, word = term.Warn, "tolerated  "
		}
		at := ""
		if v.Offset > 0 {
			at = p.faint(fmt.Sprintf(" (at byte %d of the server's output)", v.Offset))
		}
		p.line(3, p.faint(word), p.paint(st, term.Escape(v.Kind)), "  ", oneLine(v.Message, longest), at)
		if v.Excerpt != "" {
			p.line(5, p.faint("│ "), oneLine(v.Excerpt, excerptMax))
		}
	}
}

// phase explains a hook or a fixture step that failed.
func explainPhase(p *printer, indent int, ph *result.Phase) {
	p.line(indent, p.glyph(ph.Status), " ", p.paint(term.Strong, term.Escape(ph.Phase)), ": ", term.Escape(ph.Name), p.took(ph.DurationMS))
	indent += 2
	if ph.Message != "" {
		st, _ := verdictStyle(ph.Status)
		p.message(indent, st, ph.Message)
	}
	sourceLine(p, indent, ph.File, ph.Line, 0, ph.Source)
	if ph.Output != "" {
		p.line(indent, p.faint("output"))
		p.block(indent, ph.Output, stderrLines, true)
	}
}

// repro is the command that runs the case alone.
func repro(c *result.Case) string { return term.Escape(c.Repro) }
