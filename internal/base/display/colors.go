package display

import "strings"

// StripColors removes the sequences that set colors and styles (SGR: ESC [ … m).
// Programs write them to their logs, where as escapes they only make the text hard to
// read. Every other sequence is kept for Escape.
func StripColors(s string) string {
	const start = "\x1b["
	if !strings.Contains(s, start) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for {
		text, rest, found := strings.Cut(s, start)
		b.WriteString(text)
		if !found {
			return b.String()
		}
		if s = strings.TrimLeft(rest, "0123456789;:"); strings.HasPrefix(s, "m") {
			s = s[1:]
		} else {
			b.WriteString(start)
			s = rest
		}
	}
}
