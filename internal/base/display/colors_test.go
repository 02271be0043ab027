package display_test

import (
	"testing"

	"mcptest/internal/base/display"
)

func TestWithoutColors(t *testing.T) {
	for in, want := range map[string]string{
		"":      "",
		"plain": "plain",
		"\x1b[31merror\x1b[0m: no \x1b[1;4;38;2;1;2;3mdb\x1b[m": "error: no db",
		"\x1b[38:5:1mred":        "red",
		"\x1b[2Jcleared \x1b[31": "\x1b[2Jcleared \x1b[31",
		"\x1b[\x1b[1mx":          "\x1b[x",
		"\x1b]0;title\x07":       "\x1b]0;title\x07",
	} {
		if got := display.StripColors(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}
