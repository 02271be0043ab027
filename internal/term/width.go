package term

import (
	"strings"

	"github.com/clipperhouse/displaywidth"
)

// cells counts escape sequences as nothing and ambiguous characters as one
// cell, as most terminals draw them.
var cells = displaywidth.Options{ControlSequences: true}

// Width returns the number of cells s takes on a terminal, escape sequences
// not counted and wide characters counted as two.
func Width(s string) int {
	for i := 0; i < len(s); i++ {
		if s[i] < 0x20 || s[i] >= 0x7f {
			return cells.String(s)
		}
	}
	return len(s)
}

// Truncate shortens s to at most n cells, the last of which is an ellipsis
// when something was cut. Escape sequences survive.
func Truncate(s string, n int) string {
	if n <= 0 {
		return ""
	}
	if len(s) <= n { // a cell takes at least one byte
		return s
	}
	return cells.TruncateString(s, n, "…")
}

// Pad appends blanks until s takes n cells. A longer s is returned as it is.
func Pad(s string, n int) string {
	if w := Width(s); w < n {
		return s + strings.Repeat(" ", n-w)
	}
	return s
}

// PadLeft puts blanks before s until it takes n cells.
func PadLeft(s string, n int) string {
	if w := Width(s); w < n {
		return strings.Repeat(" ", n-w) + s
	}
	return s
}
