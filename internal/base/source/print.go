package source

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"

	"mcptest/internal/base/display"
)

// Style configures how [Diagnostics.Print] colors its parts. Each function gets the
// text of a part and returns it with color; it may be nil. The zero Style is plain
// text of default width.
type Style struct {
	Error   func(string) string // the word "error"
	Warning func(string) string // the word "warning"
	Caret   func(string) string
	Hint    func(string) string // the word "hint"
	Width   int                 // columns for a source line, 0 = 100
}

func paint(f func(string) string, s string) string {
	if f == nil || s == "" {
		return s
	}
	return f(s)
}

const (
	defaultWidth = 100
	minWidth     = 20
	shownTab     = "→   " // visible, since a tab where spaces belong is a common mistake
	margin       = "    "
	shownText    = 60 // columns of a quoted text in a message
	shownPlaces  = 4  // of the others that say the same
)

// Print writes every diagnostic with its source line, a caret below the position, its
// hint and its related positions; of many that say the same, the first. It escapes control
// characters. The error is that of w.
func (ds Diagnostics) Print(w io.Writer, style Style) error {
	p := printer{style: style, width: defaultWidth}
	if style.Width > 0 {
		p.width = max(style.Width, minWidth)
	}
	printed, others := gatherRepeats(ds)
	for i, d := range printed {
		p.printDiagnostic(d)
		p.printPlaces(others[i])
	}
	if _, err := io.WriteString(w, p.b.String()); err != nil && len(ds) > 0 {
		return fmt.Errorf("write diagnostics: %w", err)
	}
	return nil
}

type printer struct {
	b     strings.Builder
	style Style
	width int
	// last is the last position in a line, lastAt its offset in the line.
	last   Pos
	lastAt int
}

// findColumnOffset returns the byte offset of a column in a line. It continues from the
// last position in the same line, because a long line may have many mistakes.
func (p *printer) findColumnOffset(pos Pos, line []byte) int {
	col, at := 1, 0
	same := p.last.File == pos.File && p.last.Line == pos.Line
	if same && p.last.Col <= pos.Col {
		col, at = p.last.Col, p.lastAt
	}
	for ; col < pos.Col && at < len(line); col++ {
		_, size := utf8.DecodeRune(line[at:])
		at += size
	}
	if !same || col == pos.Col && p.last.Col <= col {
		p.last, p.lastAt = pos, at
	}
	return at
}

func (p *printer) printDiagnostic(d Diagnostic) {
	p.printPosition(d.Pos)
	word := paint(p.style.Error, "error")
	if d.Severity == Warning {
		word = paint(p.style.Warning, "warning")
	}
	p.b.WriteString(word + ": ")
	if d.Path != "" {
		p.b.WriteString(display.Escape(d.Path) + ": ")
	}
	p.printText(d.Msg, margin)
	p.printExcerpt(d.Pos, margin)
	if d.Hint != "" {
		p.b.WriteString("  " + paint(p.style.Hint, "hint") + ": ")
		p.printText(d.Hint, margin+margin)
	}
	for _, r := range d.Related {
		p.b.WriteString("  ")
		p.printPosition(r.Pos)
		p.printText(r.Msg, margin+margin)
		p.printExcerpt(r.Pos, margin+"  ")
	}
}

// printPlaces says where else a diagnostic holds.
func (p *printer) printPlaces(others []Pos) {
	if len(others) == 0 {
		return
	}
	var shown []string
	for _, pos := range others[:min(len(others), shownPlaces)] {
		shown = append(shown, display.Escape(pos.String()))
	}
	if len(others) > shownPlaces {
		shown = append(shown, "…")
	}
	fmt.Fprintf(&p.b, "  and at %s: %s\n", display.Count(len(others), "more place"), strings.Join(shown, ", "))
}

func (p *printer) printPosition(pos Pos) {
	if s := pos.String(); s != "" {
		p.b.WriteString(display.Escape(s) + ": ")
	}
}

// printText writes a message. It keeps and indents line breaks, so that no part of it
// looks like a line of Print.
func (p *printer) printText(s, indent string) {
	for i, line := range strings.Split(strings.TrimRight(s, "\n"), "\n") {
		if i > 0 {
			p.b.WriteString(indent)
		}
		p.b.WriteString(display.Escape(strings.TrimSuffix(line, "\r")))
		p.b.WriteByte('\n')
	}
}

// printExcerpt writes the line and the caret, or nothing if there is no line.
func (p *printer) printExcerpt(pos Pos, indent string) {
	if pos.File == nil || pos.Line < 1 || pos.Col < 1 {
		return
	}
	line := pos.File.cutLine(pos.Line)
	if len(line) == 0 {
		return
	}
	text, caret := cut(line, p.findColumnOffset(pos, line), p.width)
	p.b.WriteString(indent + text + "\n")
	p.b.WriteString(indent + strings.Repeat(" ", caret) + paint(p.style.Caret, "^") + "\n")
}

// CutWindow returns a line as Print shows it: printable, and at most width columns wide
// around a column (counted in runes from 1). It also returns the position of the
// caret, from 0.
func CutWindow(line string, column, width int) (text string, caret int) {
	at := 0
	for ; column > 1 && at < len(line); column-- {
		_, size := utf8.DecodeRuneInString(line[at:])
		at += size
	}
	return cut([]byte(line), at, max(width, minWidth))
}

// cut shortens a line for display: at most width columns around the byte at, with …
// for omitted parts and all characters printable. It returns the display column (from
// 0) of the caret.
func cut(line []byte, at, width int) (text string, caret int) {
	// Every rune takes at least one column, so at most width runes on either side
	// matter, even in a line of megabytes.
	start, end := findWindow(line, at, width)
	left, right := expand(line[start:at]), expand(line[at:end])
	cutLeft, cutRight := start > 0, end < len(line) // already by the window
	right = strings.TrimRight(right, " ")
	// The position gets at least a third of the width after it.
	room := width - min(displaywidth.String(right), width/3)
	if cutLeft || displaywidth.String(left) > room {
		left = "…" + cutLastColumns(left, room-1)
	}
	caret = displaywidth.String(left)
	if room := width - caret; cutRight || displaywidth.String(right) > room {
		right = displaywidth.TruncateString(right, max(room-1, 0), "")
		right += "…"
	}
	return left + right, caret
}

// findWindow returns the bytes of at most width runes before and after an offset.
func findWindow(line []byte, at, width int) (start, end int) {
	start, end = at, at
	for n := 0; n < width && start > 0; n++ {
		_, size := utf8.DecodeLastRune(line[:start])
		start -= size
	}
	for n := 0; n < width && end < len(line); n++ {
		_, size := utf8.DecodeRune(line[end:])
		end += size
	}
	return start, end
}

// cutLastColumns returns the end of s that is at most width columns wide.
func cutLastColumns(s string, width int) string {
	total := displaywidth.String(s)
	g := displaywidth.StringGraphemes(s)
	for total > width && g.Next() {
		total -= g.Width()
		s = s[len(g.Value()):]
	}
	return s
}

// expand makes a part of a source line printable, with tabs as arrows.
func expand(b []byte) string {
	return display.Escape(strings.ReplaceAll(string(b), "\t", shownTab))
}

// quote puts user text in double quotes for a message. display.Escape would escape
// hidden characters later anyway.
func quote(s string) string { return strconv.Quote(s) }
