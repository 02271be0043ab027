package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"mcptest/internal/base/display"
	"mcptest/internal/base/source"
	"mcptest/internal/base/term"
	"mcptest/internal/report/render"
	"mcptest/internal/report/result"
)

// Failure explains why one case did not pass.
func Failure(p *render.Printer, n int, c *result.Case) {
	st, _ := render.StyleVerdict(c.Status)
	p.Blank()
	number := p.Paint(term.Strong, fmt.Sprintf("%d) ", n))
	word := p.Paint(st, strings.ToUpper(string(c.Status)))
	p.Line(0, number, word, "  ", p.Paint(term.Strong, term.Escape(c.Name)))
	Case(p, c)
}

// Case explains a case below its name.
func Case(p *render.Printer, c *result.Case) {
	st, _ := render.StyleVerdict(c.Status)
	p.Line(3, p.Faint(FormatCaseLocation(p, c)))
	if row := Row(c); row != "" {
		p.Line(3, p.Faint("row  "), render.OneLine(row, render.LongestLine))
	}
	if c.Description != "" {
		p.Line(3, p.Faint(render.OneLine(c.Description, render.LongestLine)))
	}
	p.Blank()
	failed := ListFailing(c.Assertions)
	if text := ChooseHeadline(c, failed); text != "" && !p.Headlined {
		p.Message(3, st, text)
	}
	for i, a := range c.Attempts {
		if len(c.Attempts) < 2 {
			break
		}
		if i == triesMost && !p.Verbose {
			p.Line(3, p.Faint(fmt.Sprintf("… and %d more", len(c.Attempts)-i)))
			break
		}
		text := render.OneLine(a.Message, render.LongestLine)
		if a.Message == c.Message {
			text = "" // it is in the headline
		}
		p.Line(3, p.Glyph(a.Status), " ", p.Faint("try, "+render.Duration(a.DurationMS)), "  ", text)
	}
	for i := range failed {
		writeAssertion(p, 3, c, &failed[i], Alone(c, failed))
	}
	writeScores(p, c)
	writeOtherAssertions(p, c, len(failed))
	step, text := FindLastCall(c)
	if c.Status == result.Fail && !p.Verbose {
		p.Value(3, cmp.Or(term.Escape(step), "call")+"  ", term.Plain, text)
	}
	if text, kind := FindUnseenResponse(p, c, failed); text != "" {
		p.Value(3, "response  "+kind, term.Plain, text)
	}
	writeViolations(p, c)
	for i := range c.Phases {
		if ph := &c.Phases[i]; ph.Status == result.Fail || ph.Status == result.Error {
			Phase(p, 3, ph)
		}
	}
	if text := WriteServerStderr(p, c); text != "" {
		p.Line(3, p.Faint("server stderr"))
		p.Block(3, text, render.StderrLines, true)
	}
	writeExchanges(p, c)
	if p.Verbose {
		p.Value(3, "looked in", term.Plain, strings.Join(c.Searched, "\n"))
	}
	Upstream(p, 3, c)
	p.Value(3, "diagnosis  ", term.Warn, Diagnosis(c))
	if s := Repro(c); s != "" {
		p.Line(3, p.Faint("repro  "), p.Paint(term.Accent, s))
	}
}

// WriteServerStderr writes the server's standard error output during the case, or during
// its start if that failed.
func WriteServerStderr(p *render.Printer, c *result.Case) string {
	text := c.Stderr
	for i := range p.Run.Servers {
		s := &p.Run.Servers[i]
		if s.Name != c.Server || s.Stderr == "" {
			continue
		}
		neverUp := s.Protocol == ""
		if text == "" && neverUp && c.Status == result.Error && len(c.Exchanges) == 0 {
			text = s.Stderr
		}
		if strings.HasSuffix(strings.TrimSpace(text), strings.TrimSpace(s.Stderr)) {
			p.StderrShown[s] = true
		}
	}
	return text
}

// FormatCaseLocation returns the call, the server and the line of a case.
func FormatCaseLocation(p *render.Printer, c *result.Case) string {
	parts := []string{render.Place(c.File, c.Line, 0)}
	if c.Server != "" {
		parts = append(parts, "server "+term.Escape(c.Server))
	}
	if c.Call != "" {
		parts = append(parts, term.Escape(c.Call))
	}
	if c.DurationMS > 0 {
		parts = append(parts, render.Duration(c.DurationMS))
	}
	if c.AfterRestart {
		parts = append(parts, "after a restart of the server")
	}
	return strings.Join(parts, " · ")
}

// ListFailing returns the failed assertions at the top level.
func ListFailing(as []result.Assertion) []result.Assertion {
	var failing []result.Assertion
	for _, a := range as {
		if !a.Pass {
			failing = append(failing, a)
		}
	}
	return failing
}

// Alone reports whether the case's message is that of its only failed assertion,
// which is then not repeated.
func Alone(c *result.Case, failed []result.Assertion) bool {
	if len(failed) != 1 || failed[0].Set || c.Message == "" {
		return false
	}
	m := failed[0].Message
	return m != "" && strings.Contains(c.Message, m)
}

// writeAssertion explains a failed assertion or set.
func writeAssertion(p *render.Printer, indent int, c *result.Case, a *result.Assertion, said bool) {
	message, values := ChooseWording(a)
	if !said {
		p.Line(indent, p.Paint(term.Bad, "✗ "), Label(a), AddWeight(p, a))
		indent += 2
		if message != "" && (!values || len(a.Diff) > 0 || !HasValuesInMessage(a)) {
			p.Message(indent, term.Bad, message)
		}
	}
	switch {
	case len(a.Diff) > 0:
		writeDiff(p, indent, a.Diff)
	case values:
		p.Value(indent, "expected  ", term.Good, a.Expected)
		p.Value(indent, "actual    ", term.Bad, a.Actual)
	}
	for _, n := range a.Notes {
		p.Line(indent, p.Faint("note: "), render.OneLine(n, render.LongestLine))
	}
	file := cmp.Or(a.File, c.File)
	if a.Line > 0 {
		writeSourceLine(p, indent, file, a.Line, a.Column, a.Source)
	}
	for _, inner := range a.Assertions {
		if !inner.Pass {
			writeAssertion(p, indent, c, &inner, false)
		}
	}
	if n := len(a.Assertions) - len(ListFailing(a.Assertions)); n > 0 {
		p.Line(indent, p.Faint(fmt.Sprintf("✓ %s of the set passed", display.Count(n, "assertion"))))
	}
}

// sayable is the length up to which a message with both values is easier to read than
// separate lines.
const sayable = 80

// ChooseWording returns the message of an assertion without the target, which the
// label shows, and whether to show the expected and actual values as well.
func ChooseWording(a *result.Assertion) (message string, values bool) {
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
	return message, HasValuesInMessage(a) && len(message) > sayable && !saysMore(a)
}

// saysMore reports whether a message goes on after both values: what then follows is not
// among the values.
func saysMore(a *result.Assertion) bool {
	const clause = 30
	afterWant := strings.LastIndex(a.Message, a.Expected) + len(a.Expected)
	afterGot := strings.LastIndex(a.Message, a.Actual) + len(a.Actual)
	end := max(afterWant, afterGot)
	return len(a.Message)-end > clause
}

// HasValuesInMessage reports whether the message contains both values.
func HasValuesInMessage(a *result.Assertion) bool {
	return a.Expected != "" && a.Actual != "" && strings.Contains(a.Message, a.Expected) && strings.Contains(a.Message, a.Actual)
}

// Label returns the name of an assertion, or its target and matcher.
func Label(a *result.Assertion) string {
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

// AddWeight returns score, threshold and weight, if they matter.
func AddWeight(p *render.Printer, a *result.Assertion) string {
	var parts []string
	if a.Score != nil && (a.Set || a.Threshold != nil) {
		text := "score " + render.Number(*a.Score)
		if a.Threshold != nil {
			text += ", needs " + render.Number(*a.Threshold)
		}
		parts = append(parts, text)
	}
	if a.Weight != nil {
		parts = append(parts, "weight "+render.Number(*a.Weight))
	}
	if len(parts) == 0 {
		return ""
	}
	return p.Faint("  (" + strings.Join(parts, ", ") + ")")
}

func writeDiff(p *render.Printer, indent int, lines []string) {
	if slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, "-") || strings.HasPrefix(l, "+") }) {
		p.Line(indent, p.Paint(term.Good, "- expected"), "  ", p.Paint(term.Bad, "+ actual"))
	}
	cut, rest := 0, ""
	if len(lines) > render.DiffLines && !p.Verbose {
		if last := lines[len(lines)-1]; strings.HasPrefix(last, "…") {
			rest, lines = last, lines[:len(lines)-1] // the record itself is shortened
		}
		cut = len(lines) - render.DiffLines
		lines = lines[:render.DiffLines]
	}
	for _, l := range lines {
		st := term.Faint
		switch {
		case strings.HasPrefix(l, "-"):
			st = term.Good
		case strings.HasPrefix(l, "+"):
			st = term.Bad
		}
		p.Line(indent, p.Faint("│ "), p.Paint(st, p.Fit(term.Escape(l), indent)))
	}
	if cut > 0 {
		p.Line(indent, p.Faint(fmt.Sprintf("│ … %s more", display.Count(cut, "line"))))
	}
	if rest != "" {
		p.Line(indent, p.Faint("│ "+term.Escape(rest)))
	}
}

// writeSourceLine writes the position in the suite, its line and a caret under the column.
func writeSourceLine(p *render.Printer, indent int, file string, line, column int, text string) {
	if file == "" || line == 0 {
		return
	}
	p.Line(indent, p.Paint(term.Accent, render.Place(file, line, column)))
	number := fmt.Sprint(line)
	width := render.LongestLine
	if p.Width > 0 { // in a wrapped line, the caret would be in the wrong place
		width = p.Width - indent - len(number) - 3
	}
	shown, caret := CutSuiteLine(text, column, width)
	if shown == "" {
		return
	}
	p.Line(indent, p.Faint(number+" │ "), shown)
	if caret >= 0 {
		margin := p.Faint(strings.Repeat(" ", len(number)) + " │ ")
		p.Line(indent, margin, strings.Repeat(" ", caret), p.Paint(term.Bad, "^"))
	}
}

// CutSuiteLine returns a line of the suite without its indentation, shortened to a width
// around a column, and the position of the caret, or -1.
func CutSuiteLine(text string, column, width int) (shown string, caret int) {
	text = strings.TrimRight(text, "\r\n\t ")
	indent := len(text) - len(strings.TrimLeft(text, " \t"))
	text = text[indent:]
	shown, caret = source.CutWindow(text, max(column-indent, 1), width)
	if column < 1 || column-indent > utf8.RuneCountInString(text) {
		caret = -1
	}
	return term.Escape(shown), caret
}

// writeScores explains a combined score and the metrics with a threshold.
func writeScores(p *render.Printer, c *result.Case) {
	if c.Score != nil && c.Threshold != nil {
		st := term.Good
		if *c.Score < *c.Threshold*(1-1e-9) {
			st = term.Bad
		}
		p.Line(3, p.Faint("score  "), p.Paint(st, render.Number(*c.Score)), p.Faint(", needs "+render.Number(*c.Threshold)))
	}
	for _, m := range c.DerivedMetrics {
		st, needs := term.Plain, ""
		if m.Passed != nil && !*m.Passed {
			st = term.Bad
		}
		if m.Threshold != nil {
			needs = ", needs " + render.Number(*m.Threshold)
		}
		p.Line(3, p.Faint("metric "), term.Escape(m.Name), " ", p.Paint(st, render.Number(m.Value)), p.Faint(needs))
		for _, n := range m.Notes {
			p.Line(5, p.Faint("note: "), render.OneLine(n, render.LongestLine))
		}
	}
}

// writeOtherAssertions counts the passed assertions, or lists them if verbose.
func writeOtherAssertions(p *render.Printer, c *result.Case, failed int) {
	passed := len(c.Assertions) - failed
	if passed == 0 {
		return
	}
	if !p.Verbose {
		noun := "assertion"
		if failed > 0 {
			noun = "other assertion"
		}
		p.Line(3, p.Faint("✓ "+display.Count(passed, noun)+" passed"))
		return
	}
	for _, a := range c.Assertions {
		if a.Pass {
			p.Line(3, p.Paint(term.Good, "✓ "), p.Faint(Label(&a)), AddWeight(p, &a))
		}
	}
}

func writeViolations(p *render.Printer, c *result.Case) {
	for _, v := range c.Violations {
		st, word := term.Bad, "violation  "
		if v.Tolerated {
			st, word = term.Warn, "tolerated  "
		}
		at := ""
		if v.Offset > 0 {
			at = p.Faint(fmt.Sprintf(" (at byte %d of the server's output)", v.Offset))
		}
		message := render.OneLine(v.Message, render.LongestLine)
		p.Line(3, p.Faint(word), p.Paint(st, term.Escape(v.Kind)), "  ", message, at)
		if v.Excerpt != "" {
			p.Line(5, p.Faint("│ "), render.OneLine(v.Excerpt, render.LongestExcerpt))
		}
	}
}

// Phase explains a hook or a fixture step that failed.
func Phase(p *render.Printer, indent int, ph *result.Phase) {
	name := p.Paint(term.Strong, term.Escape(ph.Phase))
	p.Line(indent, p.Glyph(ph.Status), " ", name, ": ", term.Escape(ph.Name), p.Took(ph.DurationMS))
	indent += 2
	if ph.Message != "" {
		st, _ := render.StyleVerdict(ph.Status)
		p.Message(indent, st, ph.Message)
	}
	writeSourceLine(p, indent, ph.File, ph.Line, 0, ph.Source)
	if ph.Output != "" {
		p.Line(indent, p.Faint("output"))
		p.Block(indent, ph.Output, render.StderrLines, true)
	}
}

// Repro returns the command that runs only this case.
func Repro(c *result.Case) string { return term.Escape(c.Repro) }

// FormatAssertionReason returns the message of an assertion, or its expected and actual
// values.
func FormatAssertionReason(a *result.Assertion) string {
	const most = 200
	message, values := ChooseWording(a)
	if message != "" && !values {
		return render.OneLine(message, most)
	}
	if HasValuesInMessage(a) || message == "" {
		message = ""
	} else {
		message = render.OneLine(message, most) + "; "
	}
	return message + "expected " + render.OneLine(a.Expected, most) + ", got " + render.OneLine(a.Actual, most)
}
