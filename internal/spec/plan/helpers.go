package plan

import (
	"strings"
)

// firstName returns the part of a dotted name before its first dot or bracket.
func firstName(s string) string {
	if i := strings.IndexAny(s, ".["); i >= 0 {
		return s[:i]
	}
	return s
}
