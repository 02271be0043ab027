package verdict

import (
	"fmt"
	"strings"

	"mcptest/internal/aql/rule"
	"mcptest/internal/display"
)

// badgeWords returns the text of a badge and its colors. A badge needs complete
// evidence and a level under the strict rules.
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
	title := label + ": " + message
	if claim := r.Claim(); claim != "" {
		title = claim
	}
	return display.Badge(label, message, color, title)
}
