package report

import (
	"testing"

	"mcptest/internal/result"
)

// Equal findings in a row are one with a number; others stay apart.
func TestFolded(t *testing.T) {
	f := func(kind, excerpt string) result.Finding {
		return result.Finding{Kind: kind, Severity: "error", Message: "m", Excerpt: excerpt}
	}
	got := folded([]result.Finding{f("a", "x"), f("a", "x"), f("a", "y"), f("b", "y"), f("a", "x")})
	want := []string{"m (2 times)", "m", "m", "m"}
	if len(got) != len(want) {
		t.Fatalf("got %v", got)
	}
	for i, w := range want {
		if got[i].Message != w {
			t.Errorf("%d: %q, want %q", i, got[i].Message, w)
		}
	}
}
