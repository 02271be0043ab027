package stored

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
)

// Writer writes values as YAML blocks, one value per line. The zero value is ready to
// use.
type Writer struct {
	b bytes.Buffer
	// Compact starts a map or list inside a list on the line of its dash, and writes
	// every text of several lines on several lines, even if it requires quotes.
	Compact bool
}

// Bytes returns the text so far.
func (w *Writer) Bytes() []byte { return w.b.Bytes() }

// Raw writes text unchanged.
func (w *Writer) Raw(text string) { w.b.WriteString(text) }

// Line writes one line.
func (w *Writer) Line(level int, text string) {
	w.b.WriteString(strings.Repeat("  ", level) + text + "\n")
}

// Member writes one key and its value.
func (w *Writer) Member(level int, key string, v jsonv.Value) { w.writeValue(level, Text(key)+":", v) }

// writeValue writes a value after head, which is a key with its colon or the dash of a
// list.
func (w *Writer) writeValue(level int, head string, v jsonv.Value) {
	start := w.b.Len()
	compact := w.Compact && head == "-" && v.Len() > 0 && v.Kind() > jsonv.KindString
	if !compact && v.Len() > 0 && v.Kind() > jsonv.KindString {
		w.Line(level, head)
	}
	switch {
	case v.Kind() == jsonv.KindObject && v.Len() > 0:
		for k, e := range v.Members() {
			w.Member(level+1, k, e)
		}
	case v.Kind() == jsonv.KindArray && v.Len() > 0:
		for _, e := range v.Elems() {
			w.writeValue(level+1, "-", e)
		}
	case v.Kind() == jsonv.KindString:
		w.writeText(level, head, v.Text())
	default:
		w.Line(level, head+" "+v.String())
	}
	if compact {
		w.b.Bytes()[start+2*level] = '-'
	}
}

func (w *Writer) writeText(level int, head, s string) {
	body, ended := strings.CutSuffix(s, "\n")
	switch {
	case !ended && strings.Contains(s, "\n") && w.fitsBlock(s):
		w.writeBlock(level, head+" |-", s)
	case w.Compact && ended && w.fitsBlock(body):
		w.writeBlock(level, head+" |", body)
	case w.Compact && strings.Contains(body, "\n"):
		w.writeFolded(level, head, s)
	default:
		w.Line(level, head+" "+Text(s))
	}
}

func (w *Writer) writeBlock(level int, head, s string) {
	w.Line(level, head)
	for line := range strings.SplitSeq(s, "\n") {
		if line == "" {
			w.b.WriteByte('\n')
			continue
		}
		w.Line(level+1, line)
	}
}

// writeFolded writes a text in double quotes on several lines: after a backslash at the
// end of a line, the leading blanks of the next one are ignored.
func (w *Writer) writeFolded(level int, head, s string) {
	w.b.WriteString(strings.Repeat("  ", level) + head + ` "`)
	first := true
	for line := range strings.Lines(s) {
		if !first {
			w.b.WriteString("\\\n" + strings.Repeat("  ", level+1))
			if line[0] == ' ' {
				w.b.WriteByte('\\')
			}
		}
		first = false
		w.b.Write(source.AppendQuoted(nil, line))
	}
	w.b.WriteString("\"\n")
}

// fitsBlock reports whether a text can be written as a block scalar without escapes.
func (w *Writer) fitsBlock(s string) bool {
	if s == "" || strings.HasSuffix(s, "\n") || strings.ContainsRune(" \n\t", rune(s[0])) {
		return false
	}
	for line := range strings.SplitSeq(s, "\n") {
		if strings.HasSuffix(line, " ") || strings.HasSuffix(line, "\t") {
			return false
		}
		for _, r := range line {
			if display.IsHidden(r) && (r != '\t' || !w.Compact) || r == utf8.RuneError {
				return false
			}
		}
	}
	return true
}

// Text formats a text as a YAML scalar: plain if every YAML reader reads it as the
// same text, otherwise in double quotes with hidden characters escaped.
func Text(s string) string {
	if isPlainText(s) {
		return s
	}
	return string(append(source.AppendQuoted([]byte{'"'}, s), '"'))
}

func isPlainText(s string) bool {
	if s == "" || len(s) > 80 {
		return false
	}
	for i, r := range s {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '_' && len(s) > 1
		if !letter && (i == 0 || !strings.ContainsRune("0123456789-/$", r)) {
			return false
		}
	}
	switch strings.ToLower(s) {
	case "true", "false", "yes", "no", "on", "off", "y", "n", "null":
		return false
	}
	return true
}
