package flaky

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// Attempt is a test whose errors do not count yet. Fatal, FailNow and Skip take
// effect immediately.
type Attempt struct {
	testing.TB
	errors, logs []string
}

// Error notes an error.
func (a *Attempt) Error(args ...any) { a.errors = append(a.errors, fmt.Sprint(args...)) }

// Errorf notes an error.
func (a *Attempt) Errorf(format string, args ...any) { a.Error(fmt.Sprintf(format, args...)) }

// Log keeps a message.
func (a *Attempt) Log(args ...any) { a.logs = append(a.logs, fmt.Sprint(args...)) }

// Logf keeps a message.
func (a *Attempt) Logf(format string, args ...any) { a.Log(fmt.Sprintf(format, args...)) }

// Failed reports whether an error was noted.
func (a *Attempt) Failed() bool { return len(a.errors) > 0 }

// String is the errors, and then the log.
func (a *Attempt) String() string {
	return strings.Join(append(a.errors[:len(a.errors):len(a.errors)], a.logs...), "\n")
}

// Retry runs a test, and twice more if it fails; those two count.
func Retry(t testing.TB, what string, once func(testing.TB)) {
	t.Helper()
	first := &Attempt{TB: t}
	once(first)
	if !first.Failed() {
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

// Note reports that something failed and passed twice after that, in the test's
// log and at the end of the file that MCPTEST_FLAKY names. `make faults` and
// `make soak` print that file, and CI lists its first line.
func Note(t testing.TB, what string, first *Attempt) {
	t.Helper()
	text := fmt.Sprintf("FLAKY %s failed once, and passed twice after that: %s\n%s\n",
		what, strings.ReplaceAll(strings.Join(first.errors, "; "), "\n", " "), first)
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
