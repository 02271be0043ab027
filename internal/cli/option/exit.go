package option

import "fmt"

// Exit codes of mcptest. Where several hold, the first of this list wins:
// a signal (128 + its number), 2, 1, 3, 4, 7.
const (
	ExitPassed   = 0
	ExitFailed   = 1 // a test failed, or a server could not be started or tested
	ExitInvalid  = 2 // invalid suite, flags or environment, or setup failed
	ExitReady    = 3 // --wait-for-ready ran out
	ExitInternal = 4 // our own failure, or a report could not be written
	ExitPolicy   = 5 // refused by policy
	ExitGate     = 6 // a quality gate failed: check, diff, lock --check
	ExitNothing  = 7 // no test selected
)

// ExitError ends a command with a code; the message may be empty.
type ExitError struct {
	Code    int
	Message string
}

// Error returns the message.
func (e *ExitError) Error() string { return e.Message }

// Fail is the error that ends a command with an exit code and a message.
func Fail(code int, format string, args ...any) error {
	return &ExitError{Code: code, Message: fmt.Sprintf(format, args...)}
}
