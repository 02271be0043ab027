package compat

import (
	"fmt"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/base/term"
)

// cell escapes text for a cell of a Markdown table.
func cell(s string) string {
	escape := strings.NewReplacer(
		"\\", "\\\\", "|", "\\|", "<", "&lt;", ">", "&gt;", "[", "\\[", "]", "\\]",
		"*", "\\*", "_", "\\_", "`", "\\`", "@", "&#64;", "#", "&#35;",
	)
	return escape.Replace(term.Escape(s))
}

func code(s string) string {
	if s == "" {
		return ""
	}
	return "`` " + strings.ReplaceAll(strings.ReplaceAll(term.Escape(s), "|", "\\|"), "``", "'") + " ``"
}

func versions(r Rule) string {
	if r.Versions == "" {
		return ""
	}
	return " (" + r.Versions + ")"
}

func count(n int, l Level) string {
	if l == LevelAdvice {
		return fmt.Sprintf("%d advice", n)
	}
	return display.Count(n, string(l))
}
