//go:build linux

package faults_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// attempt is a test whose mistakes do not count yet: on a machine that does
// something else as well a run can go wrong by chance. What went wrong is tried
// again by itself, and counts when it goes wrong there.
type attempt struct {
	testing.TB
	wrong []string
	said  []string
}

func (a *attempt) Error(args ...any) { a.wrong = append(a.wrong, fmt.Sprint(args...)) }

func (a *attempt) Errorf(format string, args ...any) {
	a.wrong = append(a.wrong, fmt.Sprintf(format, args...))
}

func (a *attempt) Log(args ...any) { a.said = append(a.said, fmt.Sprint(args...)) }

func (a *attempt) Logf(format string, args ...any) {
	a.said = append(a.said, fmt.Sprintf(format, args...))
}

func (a *attempt) Failed() bool { return len(a.wrong) > 0 }

// String is what went wrong, and what was said.
func (a *attempt) String() string {
	return strings.Join(append(append([]string{}, a.wrong...), a.said...), "\n")
}

// twiceMore is a test that is tried twice more when it fails. It must pass both
// times.
func twiceMore(what string, once func(testing.TB)) func(*testing.T) {
	return func(t *testing.T) {
		first := &attempt{TB: t}
		if once(first); !first.Failed() {
			return
		}
		once(t)
		once(t)
		if t.Failed() {
			t.Logf("the first time: %s", first)
			return
		}
		flaky(t, what, first)
	}
}

// flaky says that something failed and passed twice after that.
// It is no failure, and nothing to keep quiet about: `make faults` and `make
// soak` print the file that MCPTEST_FLAKY names, and CI lists each line that
// begins with FLAKY at its end.
func flaky(t testing.TB, what string, first *attempt) {
	text := fmt.Sprintf("FLAKY %s failed once, and passed twice after that: %s\n%s\n", what, strings.Join(first.wrong, "; "), first)
	t.Log(text)
	name := os.Getenv("MCPTEST_FLAKY")
	if name == "" {
		return
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
}

// What failed once is tried twice more, and is told of.
func TestTwiceMore(t *testing.T) {
	name := t.TempDir() + "/flaky"
	t.Setenv("MCPTEST_FLAKY", name)
	tries := 0
	twiceMore("fault a/b", func(tb testing.TB) {
		if tries++; tries == 1 {
			tb.Errorf("%d tests", 2)
		}
	})(t)
	if tries != 3 {
		t.Errorf("%d tries", tries)
	}
	if b, err := os.ReadFile(name); err != nil || !strings.HasPrefix(string(b), "FLAKY fault a/b failed once, and passed twice after that: 2 tests\n") {
		t.Errorf("%v: %s", err, b)
	}
}
