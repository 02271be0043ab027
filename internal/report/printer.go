package report

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"mcptest/internal/display"
	"mcptest/internal/result"
	"mcptest/internal/term"
)

// printer writes lines of text for people. It remembers the first error.
type printer struct {
	w *bufio.Writer
	Options
	run         *result.Run
	stderrShown map[*result.Server]bool // with a case
	err         error
}

func newPrinter(w io.Writer, r *result.Run, o Options) *printer {
	return &printer{w: bufio.NewWriter(w), run: r, Options: o}
}

// line writes one line, indented by so many blanks. The parts must have been
// escaped.
func (p *printer) line(indent int, parts ...string) {
	if p.err != nil {
		return
	}
	text := strings.TrimRight(strings.Join(parts, ""), " ")
	if text != "" {
		text = strings.Repeat(" ", indent) + text
	}
	_, p.err = p.w.WriteString(text + "\n")
}

func (p *printer) blank() { p.line(0) }

// heading starts a section.
func (p *printer) heading(text string) {
	p.blank()
	p.line(0, p.paint(term.Strong, text))
}

func (p *printer) flush() error {
	if p.err != nil {
		return p.err
	}
	return p.w.Flush()
}

func (p *printer) paint(st term.Style, s string) string { return p.Palette.Paint(st, s) }
func (p *printer) faint(s string) string                { return p.paint(term.Faint, s) }

// block writes foreign text of several lines behind a gutter, so that none of
// them starts with what a CI system takes for a command. At most so many
// lines are written, the first and the last ones when tail is set; verbose writes all.
func (p *printer) block(indent int, text string, most int, tail bool) {
	text = strings.TrimRight(term.EscapeLines(text), "\n ")
	lines := strings.Split(text, "\n")
	cut := len(lines) - most
	if p.Verbose || cut < 0 {
		cut = 0
	}
	if cut > 0 && tail {
		first := most / 4 // a cause is often in the first lines
		lines = slices.Replace(lines, first, first+cut+1, fmt.Sprintf("[%s left out]", display.Count(cut+1, "line")))
	} else {
		lines = lines[:len(lines)-cut]
	}
	for _, l := range lines {
		p.line(indent, p.faint("│ "), p.fit(l, indent+2))
	}
	if cut > 0 && !tail {
		p.line(indent, p.faint(fmt.Sprintf("│ … %s more", display.Count(cut, "line"))))
	}
}

// longest is how many cells of one line of foreign text are shown.
const longest = 400

// fit truncates overlong lines.
func (p *printer) fit(s string, indent int) string {
	if p.Verbose || len(s) <= longest {
		return s
	}
	return display.Truncate(s, longest-indent)
}

// glyph is the mark of a verdict.
func (p *printer) glyph(s result.Status) string {
	st, mark := verdictStyle(s)
	return p.paint(st, mark)
}

func verdictStyle(s result.Status) (term.Style, string) {
	switch s {
	case result.Pass:
		return term.Good, "✓"
	case result.Fail:
		return term.Bad, "✗"
	case result.Skip:
		return term.Faint, "-"
	}
	return term.Broken, "!"
}

// count writes a number with its noun: 1 line, 2 lines.
// duration writes milliseconds with as many digits as are worth reading.
func duration(ms float64) string {
	switch {
	case ms < 10:
		return fmt.Sprintf("%.1f ms", ms)
	case ms < 999.5:
		return fmt.Sprintf("%.0f ms", ms)
	case ms < 59_950:
		return fmt.Sprintf("%.2f s", ms/1000)
	}
	s := int(ms/1000 + 0.5)
	if s < 3600 {
		return fmt.Sprintf("%d min %02d s", s/60, s%60)
	}
	return fmt.Sprintf("%d h %02d min", s/3600, s/60%60)
}

// number writes a score or a metric.
func number(f float64) string {
	s := fmt.Sprintf("%.3f", f)
	s = strings.TrimRight(s, "0")
	return strings.TrimSuffix(s, ".")
}

// place writes file:line:column, as far as known, escaped.
func place(file string, line, column int) string {
	s := term.Escape(file)
	if line > 0 {
		s += fmt.Sprintf(":%d", line)
		if column > 0 {
			s += fmt.Sprintf(":%d", column)
		}
	}
	return s
}

// oneLine escapes foreign text for the middle of a line and cuts it.
func oneLine(s string, most int) string {
	return display.Truncate(term.Escape(strings.TrimRight(s, "\r\n ")), most)
}
