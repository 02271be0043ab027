package expect

import "testing"

func TestLookAlike(t *testing.T) {
	for _, tt := range []struct{ want, got, msg string }{
		{"abc", "abd", `"abc", got "abd"`},
		{"abc", "abcd", `"abc", got "abcd"`},
		{"caf\u00e9", "cafe\u0301", "\"caf\u00e9\", got \"cafe\u0301\"" + ` (character 4 on, spelt out: want "\u00e9", got "e\u0301")`},
		{"a b", "a\u00a0b", "\"a b\", got " + quote("a\u00a0b") + ` (character 2 on, spelt out: want " b", got "\u00a0b")`},
	} {
		if got := pairWindow(tt.want, tt.got, ", got "); got != tt.msg {
			t.Errorf("%s\nwant %s", got, tt.msg)
		}
	}
}
