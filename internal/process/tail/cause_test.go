package tail_test

import (
	"strings"
	"testing"

	"mcptest/internal/process/tail"
)

func TestEndsKeepTheCause(t *testing.T) {
	trace := strings.Repeat("goroutine\n", 50)
	for _, tt := range []struct {
		text, want, cause string
	}{
		{"", "", ""},
		{"one\r\ntwo\n", "one|two", ""},
		{"API_TOKEN is required\n", "API_TOKEN is required", "API_TOKEN is required"},
		{"panic: boom\n\n" + trace + "exit status 2\n", "panic: boom||[45 lines left out]|goroutine|goroutine|goroutine|goroutine|goroutine|exit status 2", "panic: boom"},
		{strings.Repeat("log\n", 9) + "fatal error: all asleep\n" + trace, "log|log|[7 lines left out]|fatal error: all asleep|[44 lines left out]" + strings.Repeat("|goroutine", 6), "fatal error: all asleep"},
		{"node:internal:1\n  throw err;\n\nTypeError [ERR_X]: bad\n    at x:1\n", "node:internal:1|  throw err;||TypeError [ERR_X]: bad|    at x:1", "TypeError [ERR_X]: bad"},
		{"Error: unknown flag: --x\nUsage:\n  x [flags]\n", "Error: unknown flag: --x|Usage:|  x [flags]", "Error: unknown flag: --x"},
		{"npm error code E404\nnpm error 404 Not Found - GET https://r/x\nnpm error 404\nnpm error 404 Note: more\n", "npm error code E404|npm error 404 Not Found - GET https://r/x|npm error 404|npm error 404 Note: more", "npm error 404 Not Found - GET https://r/x"},
		{"Traceback:\n  File x\nsome.mod.ValueError: no\n", "Traceback:|  File x|some.mod.ValueError: no", "some.mod.ValueError: no"},
	} {
		got := tail.Ends(tt.text, 8)
		if strings.Join(got, "|") != tt.want {
			t.Errorf("%.40q: got %q", tt.text, got)
		}
		if c := tail.Cause(got); c != tt.cause {
			t.Errorf("%.40q: the cause is %q, want %q", tt.text, c, tt.cause)
		}
	}
}
