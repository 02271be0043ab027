package display

import "strings"

// Markdown escapes a text for a cell of a table or a paragraph: no emphasis, no HTML,
// no link, and no mention that notifies someone.
func Markdown(s string) string {
	var b strings.Builder
	for _, r := range Escape(s) {
		switch {
		case r == '<':
			b.WriteString("&lt;")
		case r == '&':
			b.WriteString("&amp;")
		case r == '@':
			b.WriteString("&#64;")
		case strings.ContainsRune("\\`*_[]#|~", r):
			b.WriteString("\\" + string(r))
		default:
			b.WriteRune(r)
		}
	}
	return strings.ReplaceAll(b.String(), "://", ":&#47;&#47;")
}

// QuoteMarkdownCode is a text as a code span in a cell of a table.
func QuoteMarkdownCode(s string) string {
	s = strings.ReplaceAll(Escape(strings.TrimSpace(s)), "|", `\|`)
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	if len(fence) > 1 {
		s = " " + s + " "
	}
	return fence + s + fence
}
