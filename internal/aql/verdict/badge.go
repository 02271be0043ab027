package verdict

import (
	"fmt"
	"html"
	"strings"

	"mcptest/internal/aql/rule"
	"mcptest/internal/display"
)

// badgeWords returns what a badge says and its colors. A badge needs
// complete evidence and a level under the strict rules.
func (r *Report) badgeWords() (message, name, color string) {
	switch {
	case !r.Complete && r.AchievedLevel <= 0:
		if r.Summary.Failed == 0 && r.ConformanceLevel > 0 {
			return "evidence incomplete", "lightgrey", "#9f9f9f"
		}
		return "not conformant", "lightgrey", "#9f9f9f"
	case r.AchievedLevel >= rule.LevelTwo:
		return "Level 2", "blue", "#007ec6"
	case r.AchievedLevel == rule.LevelOne:
		return "Level 1", "green", "#4c1"
	}
	return "not conformant", "lightgrey", "#9f9f9f"
}

// BadgeMarkdown returns the Markdown line of the badge and, when a level was
// achieved, the claim that goes with it (S 2.3, 6.2). The image is drawn by
// shields.io; BadgeSVG makes one that needs no service.
func (r *Report) BadgeMarkdown() string {
	message, color, _ := r.badgeWords()
	out := fmt.Sprintf("![MCP-AQL %s](https://img.shields.io/badge/MCP--AQL-%s-%s)\n",
		message, strings.ReplaceAll(message, " ", "%20"), color)
	if claim := r.Claim(); claim != "" {
		out += "\n" + escapeMarkdown(claim) + "\n"
	}
	return out
}

// BadgeSVG returns the badge as an SVG document that refers to nothing
// outside itself.
func (r *Report) BadgeSVG() []byte {
	const label = "MCP-AQL"
	message, _, color := r.badgeWords()
	left, right := textWidth(label)+12, textWidth(message)+12
	title := label + ": " + message
	if claim := r.Claim(); claim != "" {
		title = claim
	}
	title = html.EscapeString(display.OneLine(title))
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="20" role="img" aria-label="%s">`+"\n", left+right, title)
	fmt.Fprintf(&b, "  <title>%s</title>\n", title)
	fmt.Fprintf(&b, `  <rect width="%d" height="20" rx="3" fill="%s"/>`+"\n", left+right, color)
	fmt.Fprintf(&b, `  <path d="M3 0h%dv20H3a3 3 0 0 1-3-3V3a3 3 0 0 1 3-3z" fill="#555"/>`+"\n", left-3)
	fmt.Fprintf(&b, `  <g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle">`+"\n")
	fmt.Fprintf(&b, `    <text x="%d" y="14">%s</text>`+"\n", left/2, label)
	fmt.Fprintf(&b, `    <text x="%d" y="14">%s</text>`+"\n", left+right/2, message)
	b.WriteString("  </g>\n</svg>\n")
	return []byte(b.String())
}

// textWidth estimates the width of an ASCII text in Verdana 11, in pixels.
func textWidth(s string) int {
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
