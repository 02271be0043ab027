package shellwords

import "testing"

func TestQuoteForWindows(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ word, want string }{
		{"suite.yaml", "suite.yaml"},
		{`C:\work\suite.yaml`, `C:\work\suite.yaml`},
		{"--server=api", "--server=api"},
		{"", `""`},
		{"my suite.yaml", `"my suite.yaml"`},
		{"re:^greets by name$", `"re:^greets by name$"`},
		{`re:^a \(b\)$`, `"re:^a \(b\)$"`},
		{"it's", `"it's"`},
		{"a,b", `"a,b"`},
		{"@scope/x", `"@scope/x"`},
		{`C:\my folder\`, `"C:\my folder\\"`},
		{"a&b|c", `"a&b|c"`},
		{`{"a":1}`, `"{\"a\":1}"`},
		{`{"a":"x&y"}`, `"{\"a\":\"x^&y\"}"`},
		{`{"a&b":1}`, `"{\"a^&b\":1}"`},
		{`5" & more`, `"5\" ^& more^"`},
		{`a\"b c"`, `"a\\\"b c\""`},
	} {
		if got := quoteForWindows(c.word); got != c.want {
			t.Errorf("quoteForWindows(%q) = %s, want %s", c.word, got, c.want)
		}
	}
}
