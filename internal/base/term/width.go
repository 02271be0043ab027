package term

import (
	"strings"

	"mcptest/internal/base/display"
)

// Pad appends blanks until s takes n cells. A longer s is returned as it is.
func Pad(s string, n int) string {
	if w := display.Width(s); w < n {
		return s + strings.Repeat(" ", n-w)
	}
	return s
}

// PadLeft puts blanks before s until it takes n cells.
func PadLeft(s string, n int) string {
	if w := display.Width(s); w < n {
		return strings.Repeat(" ", n-w) + s
	}
	return s
}
