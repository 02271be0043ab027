package explain

import (
	"testing"

	"mcptest/internal/report/result"
)

func TestSpent(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		whole float64
		times *result.Times
		want  string
	}{
		{5730, &result.Times{CallsMS: 130, StartingMS: 4100, HooksMS: 900, EndingMS: 600}, " (4.10 s starting servers, 900 ms hooks, 600 ms ending)"},
		{5730, &result.Times{CallsMS: 3000, StartingMS: 2700}, ""},
		{900, &result.Times{StartingMS: 900}, ""},
		{5000, &result.Times{StartingMS: 20}, ""},
		{5000, nil, ""},
	} {
		if got := describeSpent(&result.Run{DurationMS: tt.whole, Times: tt.times}); got != tt.want {
			t.Errorf("%v: %q, not %q", tt.times, got, tt.want)
		}
	}
}
