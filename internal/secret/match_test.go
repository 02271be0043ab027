package secret_test

import (
	"testing"

	"mcptest/internal/secret"
)

func TestMatches(t *testing.T) {
	const m = secret.Mask
	for _, row := range []struct {
		masked, text string
		want         bool
	}{
		{"a", "a", true},
		{"a", "b", false},
		{m, "", true},
		{"Bearer " + m, "Bearer x y", true},
		{"Bearer " + m, "Basic x", false},
		{"a" + m + "b" + m + "c", "a1b2c", true},
		{"a" + m + "b" + m + "c", "a12c", false},
		{"ab" + m + "ba", "aba", false}, // the parts must not overlap
		{"a" + m + "b", "a" + m + "b", true},
		{"ab", m, false},
	} {
		if got := secret.Matches(row.masked, row.text); got != row.want {
			t.Errorf("Matches(%q, %q) = %v", row.masked, row.text, got)
		}
	}
}
