package textdiff

import (
	"strings"
	"testing"
)

func TestLookAlike(t *testing.T) {
	for _, tt := range []struct{ want, got, msg string }{
		{"abc", "abd", `"abc", got "abd"`},
		{"abc", "abcd", `"abc", got "abcd"`},
		{"caf\u00e9", "cafe\u0301", "\"caf\u00e9\", got \"cafe\u0301\"" + ` (character 4 on, spelled out: expected "\u00e9", got "e\u0301")`},
		{"a b", "a\u00a0b", "\"a b\", got " + quote("a\u00a0b") + ` (character 2 on, spelled out: expected " b", got "\u00a0b")`},
	} {
		if got := Pair(tt.want, tt.got, ", got "); got != tt.msg {
			t.Errorf("%s\nwant %s", got, tt.msg)
		}
	}
}

// A truncated diff says how much is missing, and that the texts continue.
func TestUnifiedCounts(t *testing.T) {
	lines := func(n int) string { return strings.Repeat("x\n", n) }
	for _, c := range []struct {
		want, got, last string
		n               int
	}{
		{"a\nb\n", lines(10), "+x", 13},
		{"a\nb\n", lines(100), "… 64 lines of the diff not shown", maxLines},
		{"a\nb\n", lines(500_000), "… 1964 lines of the diff are not shown, and the texts go on: only their parts around the first difference were compared", maxLines},
	} {
		out := unifiedDiff(c.want, c.got)
		if len(out) != c.n || out[len(out)-1] != c.last {
			t.Errorf("%d lines, the last is %q", len(out), out[len(out)-1])
		}
	}
}
