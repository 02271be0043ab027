package compat

import (
	"fmt"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/base/term"
)

// escapeCell escapes text for a cell of a Markdown table.
func escapeCell(s string) string {
	escape := strings.NewReplacer(
		"\\", "\\\\", "|", "\\|", "<", "&lt;", ">", "&gt;", "[", "\\[", "]", "\\]",
		"*", "\\*", "_", "\\_", "`", "\\`", "@", "&#64;", "#", "&#35;",
	)
	return escape.Replace(term.Escape(s))
}

func quoteCode(s string) string {
	if s == "" {
		return ""
	}
	return "`` " + strings.ReplaceAll(strings.ReplaceAll(term.Escape(s), "|", "\\|"), "``", "'") + " ``"
}

// describeVersions returns the versions of a client in parentheses, "" if a fact is about all.
func describeVersions(versions string) string {
	if versions == "" {
		return ""
	}
	return " (" + versions + ")"
}

func count(n int, l Level) string {
	if l == LevelAdvice {
		return fmt.Sprintf("%d advice", n)
	}
	return display.Count(n, string(l))
}
