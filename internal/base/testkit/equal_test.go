package testkit_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"mcptest/internal/base/testkit"
)

// recorder keeps what a test that fails prints.
type recorder struct {
	testing.TB
	text string
}

func (r *recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) { r.text += fmt.Sprintf(format, args...) }

func TestEqual(t *testing.T) {
	type pair struct {
		Status int
		Err    error
	}
	broken := errors.New("broken")
	for _, tt := range []struct {
		check func(t testing.TB)
		want  []string // in what is printed
	}{
		{func(t testing.TB) { testkit.Equal(t, "x", pair{1, broken}, pair{1, fmt.Errorf("bro%s", "ken")}) }, nil},
		{func(t testing.TB) { testkit.Equal(t, "x", fmt.Errorf("%w", broken), broken) }, nil},
		{func(t testing.TB) { testkit.Equal(t, "x", error(nil), nil) }, nil},
		{func(t testing.TB) { testkit.Equal(t, "the error", broken, nil) }, []string{"the error differs", "broken"}},
		{func(t testing.TB) { testkit.Equal(t, "the error", nil, broken) }, []string{"the error differs", "broken"}},
		{func(t testing.TB) { testkit.Equal(t, "the response", pair{404, nil}, pair{200, nil}) }, []string{"the response differs", "-", "200", "+", "404"}},
		{func(t testing.TB) { testkit.Equal(t, "n", 1, 2) }, []string{"n differs"}},
	} {
		r := &recorder{TB: t}
		tt.check(r)
		if (r.text == "") != (tt.want == nil) {
			t.Errorf("printed %q, want %q in it", r.text, tt.want)
		}
		for _, want := range tt.want {
			if !strings.Contains(r.text, want) {
				t.Errorf("printed %q, want %q in it", r.text, want)
			}
		}
		t.Log(r.text)
	}
}
