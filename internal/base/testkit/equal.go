package testkit

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Equal reports how got differs from want, if it does; what names the value. Errors are
// compared by their texts.
func Equal[T any](t testing.TB, what string, got, want T) {
	t.Helper()
	sameText := cmp.Comparer(func(a, b error) bool { return fmt.Sprint(a) == fmt.Sprint(b) })
	if d := cmp.Diff(&want, &got, sameText); d != "" {
		t.Errorf("%s differs (-want +got):\n%s", what, d)
	}
}
