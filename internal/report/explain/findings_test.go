package explain_test

import (
	"testing"

	"mcptest/internal/report/explain"
	"mcptest/internal/report/result"
)

// Equal findings are one with a number; others stay apart.
func TestFolded(t *testing.T) {
	f := func(kind, excerpt string) result.Finding {
		return result.Finding{Kind: kind, Severity: "error", Message: "m", Excerpt: excerpt}
	}
	got := explain.FoldFindings([]result.Finding{f("a", "x"), f("a", "x"), f("a", "y"), f("b", ""), f("a", "x"), f("b", "")})
	want := []string{"m: x (3 times)", "m: y", "m (2 times)"}
	if len(got) != len(want) {
		t.Fatalf("got %v", got)
	}
	for i, w := range want {
		if text := explain.FormatFinding(got[i]); text != w {
			t.Errorf("%d: %q, want %q", i, text, w)
		}
	}
}
