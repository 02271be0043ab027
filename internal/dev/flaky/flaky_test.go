package flaky_test

import (
	"os"
	"path/filepath"
	"testing"

	"mcptest/internal/dev/flaky"
)

// What failed once is tried twice more, and is reported.
func TestRepeatedOnce(t *testing.T) {
	name := filepath.Join(t.TempDir(), "flaky")
	t.Setenv("MCPTEST_FLAKY", name)
	tries := 0
	flaky.Retry(t, "fault a/b", func(tb testing.TB) {
		if tries++; tries == 1 {
			tb.Errorf("%d\ntests", 2)
			tb.Error("no ", "end")
			tb.Logf("exit %d", 3)
		}
		if tb.Failed() != (tries == 1) {
			t.Errorf("try %d: failed is %v", tries, tb.Failed())
		}
	})
	if tries != 3 {
		t.Errorf("%d tries", tries)
	}
	const want = "FLAKY fault a/b failed once, and passed twice after that: 2 tests; no end\n2\ntests\nno end\nexit 3\n"
	if b, err := os.ReadFile(name); err != nil || string(b) != want {
		t.Errorf("%v: %s", err, b)
	}
}

// What passes is tried once, and what fails again fails.
func TestRepeatedFailure(t *testing.T) {
	tries := 0
	flaky.Retry(t, "x", func(testing.TB) { tries++ })
	if tries != 1 {
		t.Errorf("%d tries of what passes", tries)
	}
	outer := &flaky.Attempt{TB: t}
	flaky.Retry(outer, "x", func(tb testing.TB) { tb.Error("wrong") })
	if !outer.Failed() {
		t.Error("what fails three times passed")
	}
}
