package flaky

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// Attempt is a test whose mistakes do not count yet. A call of Fatal counts at
// once, and what calls FailNow or Skip itself does.
type Attempt struct {
	testing.TB
	wrong, said []string
}

// Error notes a mistake.
func (a *Attempt) Error(args ...any) { a.wrong = append(a.wrong, fmt.Sprint(args...)) }

// Errorf notes a mistake.
func (a *Attempt) Errorf(format string, args ...any) { a.Error(fmt.Sprintf(format, args...)) }

// Log keeps what is said.
func (a *Attempt) Log(args ...any) { a.said = append(a.said, fmt.Sprint(args...)) }

// Logf keeps what is said.
func (a *Attempt) Logf(format string, args ...any) { a.Log(fmt.Sprintf(format, args...)) }

// Failed tells whether a mistake was noted.
func (a *Attempt) Failed() bool { return len(a.wrong) > 0 }

// String is what went wrong, and then what was said.
func (a *Attempt) String() string {
	return strings.Join(append(a.wrong[:len(a.wrong):len(a.wrong)], a.said...), "\n")
}

// TwiceMore tries once, and twice more when that fails; those count.
func TwiceMore(t testing.TB, what string, once func(testing.TB)) {
	t.Helper()
	first := &Attempt{TB: t}
	if once(first); !first.Failed() {
		return
	}
	once(t)
	once(t)
	if t.Failed() {
		t.Logf("the first time: %s", first)
		return
	}
	Note(t, what, first)
}

// Note says that something failed and passed twice after that. It is no
// failure, and nothing to keep quiet about: it goes to the test's log and to
// the end of the file that MCPTEST_FLAKY names, which `make faults` and `make
// soak` print. CI lists its first line at the end.
func Note(t testing.TB, what string, first *Attempt) {
	t.Helper()
	text := fmt.Sprintf("FLAKY %s failed once, and passed twice after that: %s\n%s\n",
		what, strings.ReplaceAll(strings.Join(first.wrong, "; "), "\n", " "), first)
	t.Log(text)
	name := os.Getenv("MCPTEST_FLAKY")
	if name == "" {
		return
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(text); err != nil {
		t.Error(err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}
