package display_test

import (
	"strings"
	"testing"

	"mcptest/internal/base/display"
)

func TestTruncate(t *testing.T) {
	t.Parallel()
	zeroWidth := strings.Repeat("\u200b", 1000)
	for _, tc := range []struct {
		s    string
		n    int
		want string
	}{
		{"abc", 3, "abc"},
		{"abcdef", 4, "abc…"},
		{"abc", 0, ""},
		{"abc", 1, "…"},
		{"日本", 4, "日本"},
		{"日本語", 4, "日…"}, // no half of a wide character
		{"日本語", 5, "日本…"},
		{"👩\u200d❤\ufe0f\u200d👩 love", 4, "👩\u200d❤\ufe0f\u200d👩 …"}, // one character
		{"e\u0301e\u0301e\u0301", 2, "e\u0301…"},
		{"\x1b[31mabcdef\x1b[0m", 4, "\x1b[31mabc…\x1b[0m"},
		{"a\xffb\xffc", 3, "a\xff…"},
		{"ab" + zeroWidth, 2, "a…"},
		{zeroWidth, 2, strings.Repeat("\u200b", 10) + "…"}, // bounded in bytes
	} {
		if got := display.Truncate(tc.s, tc.n); got != tc.want {
			t.Errorf("%q to %d: got %q, want %q", tc.s, tc.n, got, tc.want)
		}
	}
}

func TestWidth(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]int{"": 0, "abc": 3, "日本": 4, "é": 1, "\x1b[31mab\x1b[0m": 2} {
		if got := display.Width(s); got != want {
			t.Errorf("%q: got %d, want %d", s, got, want)
		}
	}
}

func TestWords(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ got, want string }{
		{display.OneLine(" a\r\n\tb\u2028c\u00a0d "), "a b c d"},
		{display.OneLine("a\u200bb \x1b[31m \u3164"), `a\u200bb \x1b[31m \u3164`},
		{display.OneLine("日 \n本"), "日 本"},
		{display.Count(1, "test"), "1 test"},
		{display.Count(0, "test"), "0 tests"},
		{display.Count(2, "property"), "2 properties"},
		{display.Count(2, "key"), "2 keys"},
		{display.Count(2, "process"), "2 processes"},
		{display.Count(2, "more match"), "2 more matches"},
		{display.Plural(2, "y"), "ys"},
		{display.Alternatives(nil, "or"), ""},
		{display.Alternatives([]string{"a"}, "or"), "a"},
		{display.Alternatives([]string{"a", "b"}, "and"), "a and b"},
		{display.Alternatives([]string{"a", "b", "c"}, "or"), "a, b or c"},
		{display.Article("string"), "a string"},
		{display.Article("object"), "an object"},
		{display.Article(""), "a "},
		{display.Sentence("no test was selected"), "No test was selected."},
		{display.Sentence("--flag is set"), "--flag is set."},
		{display.Sentence("JSON of the run."), "JSON of the run."},
		{display.Sentence("stdout!"), "stdout!"},
		{display.Sentence("and so on …"), "And so on …"},
		{display.Sentence("élan"), "élan."},
		{display.Sentence(""), ""},
	} {
		if tc.got != tc.want {
			t.Errorf("got %q, want %q", tc.got, tc.want)
		}
	}
}
