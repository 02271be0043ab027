package verdict

import (
	"cmp"
	"fmt"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/mcpaql/rule"
)

// describeBadge returns the text of a badge and its colors. A badge needs complete
// evidence and a level under the strict rules.
func (r *Report) describeBadge() (message, name, color string) {
	switch {
	case !r.Complete && r.AchievedLevel <= 0 && r.Summary.Failed == 0 && r.ConformanceLevel > 0:
		return "evidence incomplete", "lightgrey", "#9f9f9f"
	case r.AchievedLevel >= rule.LevelTwo:
		return "Level 2", "blue", "#007ec6"
	case r.AchievedLevel == rule.LevelOne:
		return "Level 1", "green", "#4c1"
	}
	return "not conformant", "lightgrey", "#9f9f9f"
}

// FormatBadgeMarkdown returns the Markdown line of the badge and, when a level was
// achieved, the claim that goes with it (S 2.3, 6.2). The image is drawn by
// shields.io; DrawBadge makes one that needs no service.
func (r *Report) FormatBadgeMarkdown() string {
	message, color, _ := r.describeBadge()
	out := fmt.Sprintf("![MCP-AQL %s](https://img.shields.io/badge/MCP--AQL-%s-%s)\n",
		message, strings.ReplaceAll(message, " ", "%20"), color)
	if claim := r.Claim(); claim != "" {
		out += "\n" + escapeMarkdown(claim) + "\n"
		if r.Basis != "" {
			out += "\n" + escapeMarkdown(r.Basis) + ".\n"
		}
	}
	return out
}

// DrawBadge returns the badge as an SVG document that refers to nothing
// outside itself.
func (r *Report) DrawBadge() []byte {
	const label = "MCP-AQL"
	message, _, color := r.describeBadge()
	claim := cmp.Or(r.Claim(), label+": "+message)
	return display.Badge(label, message, color, strings.TrimSuffix(claim+". "+r.Basis, ". "))
}
