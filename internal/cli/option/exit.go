package option

import (
	"errors"
	"fmt"
	"io"

	"mcptest/internal/secret"
	"mcptest/internal/term"
)

// Exit codes of mcptest. If several apply, the first of this list takes precedence: a
// signal (128 + its number), 2, 1, 3, 4, 7.
const (
	ExitPassed   = 0
	ExitFailed   = 1 // a test failed, or a server could not be started or tested
	ExitInvalid  = 2 // invalid suite, flags or environment, or setup failed
	ExitReady    = 3 // the time of --wait-for-ready is over
	ExitInternal = 4 // internal error, or a report could not be written
	ExitPolicy   = 5 // refused by policy
	ExitGate     = 6 // a quality gate failed: check, diff, lock --check
	ExitNothing  = 7 // no test selected, nothing compared
)

// ExitError ends a command with a code; the message may be empty.
type ExitError struct {
	Code    int
	Message string
}

// Error returns the message.
func (e *ExitError) Error() string { return e.Message }

// Fail returns an error that ends a command with an exit code and a message.
func Fail(code int, format string, args ...any) error {
	return &ExitError{Code: code, Message: fmt.Sprintf(format, args...)}
}

// PrintError prints the message of a run that returned an error.
func PrintError(w io.Writer, err error) {
	if e := new(ExitError); errors.As(err, &e) && e.Message != "" {
		fmt.Fprintln(w, "mcptest: "+term.Escape(secret.NewRedactor().String(e.Message)))
	}
}
