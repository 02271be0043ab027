package plan

import (
	"strings"
)

// cutFirstName returns the part of a dotted name before its first dot or bracket.
func cutFirstName(s string) string {
	if i := strings.IndexAny(s, ".["); i >= 0 {
		return s[:i]
	}
	return s
}
