package display

import (
	"fmt"
	"html"
	"strings"
)

// Badge returns an SVG badge without external references. label and message are
// ASCII; color is that of the message; title is for screen readers.
func Badge(label, message, color, title string) []byte {
	left, right := measureBadge(label)+12, measureBadge(message)+12
	title = html.EscapeString(OneLine(title))
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="20" role="img" aria-label="%s">`+"\n", left+right, title)
	fmt.Fprintf(&b, "  <title>%s</title>\n", title)
	fmt.Fprintf(&b, `  <rect width="%d" height="20" rx="3" fill="%s"/>`+"\n", left+right, color)
	fmt.Fprintf(&b, `  <path d="M3 0h%dv20H3a3 3 0 0 1-3-3V3a3 3 0 0 1 3-3z" fill="#555"/>`+"\n", left-3)
	fmt.Fprintf(&b, `  <g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle">`+"\n")
	fmt.Fprintf(&b, `    <text x="%d" y="14">%s</text>`+"\n", left/2, html.EscapeString(label))
	fmt.Fprintf(&b, `    <text x="%d" y="14">%s</text>`+"\n", left+right/2, html.EscapeString(message))
	b.WriteString("  </g>\n</svg>\n")
	return []byte(b.String())
}

// measureBadge estimates the width of an ASCII text in Verdana 11, in pixels.
func measureBadge(s string) int {
	w := 0.0
	for _, r := range s {
		switch {
		case strings.ContainsRune("il .,:'|", r):
			w += 3.6
		case r >= 'A' && r <= 'Z':
			w += 8.2
		default:
			w += 6.8
		}
	}
	return int(w + 0.5)
}
