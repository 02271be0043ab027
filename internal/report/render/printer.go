package render

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/base/term"
	"mcptest/internal/report/result"
)

// Printer writes lines of text for people.
type Printer struct {
	Out
	Options
	Run         *result.Run
	StderrShown map[*result.Server]bool // shown with a test
}

// NewPrinter returns a Printer of a run that writes to w.
func NewPrinter(w io.Writer, r *result.Run, o Options) *Printer {
	return &Printer{Out: NewOut(w), Run: r, Options: o, StderrShown: map[*result.Server]bool{}}
}

// Line writes one line with the given indentation. The parts must be escaped.
func (p *Printer) Line(indent int, parts ...string) {
	text := strings.TrimRight(strings.Join(parts, ""), " ")
	if text != "" {
		text = strings.Repeat(" ", indent) + text
	}
	p.Put(text, "\n")
}

// Blank writes an empty line.
func (p *Printer) Blank() { p.Put("\n") }

// Heading starts a section.
func (p *Printer) Heading(text string) {
	p.Blank()
	p.Line(0, p.Paint(term.Strong, text))
}

// Paint styles a text with the palette of the report.
func (p *Printer) Paint(st term.Style, s string) string { return p.Palette.Paint(st, s) }

// Faint paints secondary text.
func (p *Printer) Faint(s string) string { return p.Paint(term.Faint, s) }

// Block writes foreign text of several lines after a gutter, so that no line begins
// with a command of a CI system. It writes at most the given number of lines: the
// first ones, or, with tail, some of the first and the last ones. Verbose output has
// all lines.
func (p *Printer) Block(indent int, text string, most int, tail bool) {
	text = strings.TrimRight(term.EscapeLines(text), "\n ")
	lines := strings.Split(text, "\n")
	cut := len(lines) - most
	if p.Verbose || cut < 0 {
		cut = 0
	}
	if cut > 0 && tail {
		first := most / 4 // the cause is often in the first lines
		lines = slices.Replace(lines, first, first+cut+1, fmt.Sprintf("[%s left out]", display.Count(cut+1, "line")))
	} else {
		lines = lines[:len(lines)-cut]
	}
	for _, l := range lines {
		p.Line(indent, p.Faint("│ "), p.Fit(l, indent+2))
	}
	if cut > 0 && !tail {
		p.Line(indent, p.Faint(fmt.Sprintf("│ … %s more", display.Count(cut, "line"))))
	}
}

// LongestLine limits the shown width of a line of foreign text.
const LongestLine = 600

// Fit shortens long lines, in the middle.
func (p *Printer) Fit(s string, indent int) string {
	if p.Verbose || len(s) <= LongestLine {
		return s
	}
	return display.Middle(s, LongestLine-indent)
}

// Glyph returns the symbol of a status.
func (p *Printer) Glyph(s result.Status) string {
	st, mark := StyleVerdict(s)
	return p.Paint(st, mark)
}

// StyleVerdict returns the style and the symbol of a status.
func StyleVerdict(s result.Status) (term.Style, string) {
	switch s {
	case result.Pass:
		return term.Good, "✓"
	case result.Fail:
		return term.Bad, "✗"
	case result.Skip:
		return term.Faint, "-"
	case result.Inconclusive:
		return term.Warn, "?"
	}
	return term.Broken, "!"
}

// Duration formats milliseconds with a reasonable precision.
func Duration(ms float64) string {
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

// Share formats the interval of a share.
func Share(low, high float64) string { return "p between " + Bound(low) + " and " + Bound(high) }

// Bound formats a bound of a share, which is 0 or 1 only if it is exactly that.
func Bound(v float64) string {
	if v > 0 && v < 1 {
		v = min(max(v, 0.01), 0.99)
	}
	return fmt.Sprintf("%.2f", v)
}

// Quantile formats a quantile of durations with its interval.
func Quantile(q result.Quantile) string {
	text := term.Escape(q.Name) + " " + Duration(q.MS)
	switch {
	case q.HighMS > 0:
		text += " (" + Duration(q.LowMS) + " to " + Duration(q.HighMS) + ")"
	case q.LowMS > 0:
		text += " (at least " + Duration(q.LowMS) + ")"
	}
	return text
}

// Number formats a score or a metric.
func Number(f float64) string {
	s := fmt.Sprintf("%.3f", f)
	s = strings.TrimRight(s, "0")
	return strings.TrimSuffix(s, ".")
}

// USD formats what answers of a model cost.
func USD(v float64) string { return fmt.Sprintf("%.6f USD", v) }

// Place formats file:line:column, as far as known, escaped.
func Place(file string, line, column int) string {
	s := term.Escape(file)
	if line > 0 {
		s += fmt.Sprintf(":%d", line)
		if column > 0 {
			s += fmt.Sprintf(":%d", column)
		}
	}
	return s
}

// OneLine escapes foreign text for the middle of a line and shortens it.
func OneLine(s string, most int) string {
	return display.Truncate(term.Escape(strings.TrimRight(s, "\r\n ")), most)
}

// Limits of a failure's details if the report is not verbose.
const (
	DiffLines      = 30
	StderrLines    = 24
	valueLines     = 12
	LongestExcerpt = 240
)

// Message writes a message of one or more lines in a color.
func (p *Printer) Message(indent int, st term.Style, text string) {
	text = strings.Trim(term.EscapeLines(text), "\n ")
	for i, l := range strings.Split(text, "\n") {
		gutter := ""
		if i > 0 {
			gutter = "│ "
		}
		for _, part := range p.wrap(p.Fit(gutter+l, indent), indent, gutter) {
			p.Line(indent, p.Paint(st, part))
		}
	}
}

// wrap divides a line at blanks into lines that fit on the terminal after the
// indentation. The second and later ones begin with a gutter. Longer words are kept.
func (p *Printer) wrap(text string, indent int, gutter string) (lines []string) {
	if p.Width < indent+30 {
		return []string{text}
	}
	line := ""
	for word := range strings.SplitAfterSeq(text, " ") {
		if line != "" && display.Width(line)+display.Width(strings.TrimRight(word, " ")) > p.Width-indent {
			lines, line = append(lines, strings.TrimRight(line, " ")), gutter
		}
		line += word
	}
	return append(lines, line)
}

// Value writes a value after its name, or below it if it has several lines.
func (p *Printer) Value(indent int, name string, st term.Style, text string) {
	if text == "" {
		return
	}
	if !strings.Contains(strings.TrimRight(text, "\n"), "\n") {
		below := indent + display.Width(name)
		for i, part := range p.wrap(p.Fit(term.Escape(text), indent), below, "") {
			if i > 0 {
				name = strings.Repeat(" ", below-indent)
			}
			p.Line(indent, p.Faint(name), p.Paint(st, part))
		}
		return
	}
	p.Line(indent, p.Faint(strings.TrimSpace(name)))
	p.Block(indent, text, valueLines, false)
}

// Colon prepends a colon to a text that is not empty.
func Colon(s string) string {
	if s == "" {
		return ""
	}
	return s + ":"
}

// Across returns the width of a line of the list after its indentation. The list is
// an overview; shortened text is printed in full below.
func (p *Printer) Across(indent int) int {
	if p.Width > indent+20 && !p.Verbose {
		return p.Width - indent
	}
	return LongestLine
}

// SlowMS is the duration in milliseconds from which a test is marked as slow.
const SlowMS = 1000

// Took formats a duration in brackets. It highlights slow ones, and returns "" for a
// test that never started.
func (p *Printer) Took(ms float64) string {
	if ms == 0 {
		return ""
	}
	text := " (" + Duration(ms) + ")"
	if ms >= SlowMS {
		return p.Paint(term.Warn, text)
	}
	return p.Faint(text)
}

// Options configure a report. The zero value is for a file.
type Options struct {
	Palette   term.Palette // colors of the stream; zero: none
	Width     int          // columns of the terminal; 0: not a terminal, lines are not shortened
	Verbose   bool         // show exchanges, passed assertions, servers, whole texts
	Listed    bool         // a Live has listed the tests during the run
	Headlined bool         // the format itself writes the message of a failure
	Written   []Written    // files of other reports, which the pretty report lists

	Earlier string         // the earlier record, escaped; "" is just that
	Changed string         // the difference from an earlier record, for the html report
	Changes map[int]string // that of each test that changed, by its index
}

// Written is a report that was written to a file.
type Written struct{ Format, Path string }

// Out writes text. It keeps the first error for Flush.
type Out struct {
	w   *bufio.Writer
	err error // of the data
}

// NewOut returns an Out that writes to w.
func NewOut(w io.Writer) Out { return Out{w: bufio.NewWriter(w)} }

// Put writes texts.
func (o *Out) Put(parts ...string) {
	for _, s := range parts {
		_, _ = o.w.WriteString(s) // Flush returns the error
	}
}

// Fail makes Flush return an error.
func (o *Out) Fail(err error) { o.err = cmp.Or(o.err, err) }

// Flush writes buffered data and returns the first error.
func (o *Out) Flush() error {
	o.Fail(o.w.Flush())
	return o.err
}

// JSONWriter writes a JSON document in parts, so that the report of a long run is
// never in memory as a whole.
type JSONWriter struct {
	Out
	items int // of the current array
}

// NewJSON returns a JSONWriter that writes to w.
func NewJSON(w io.Writer) JSONWriter { return JSONWriter{Out: NewOut(w)} }

// Value writes a value on one line. The text in it must be escaped already.
func (w *JSONWriter) Value(v any) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	w.Fail(enc.Encode(v))
	w.Put(strings.TrimSuffix(b.String(), "\n"))
}

// Item writes the next element of the array.
func (w *JSONWriter) Item(v any) {
	comma := ",\n  "
	w.items++
	if w.items == 1 {
		comma = "\n  "
	}
	w.Put(comma)
	w.Value(v)
}
