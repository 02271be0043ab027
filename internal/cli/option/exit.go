package option

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"
	"time"

	"mcptest/internal/base/secret"
	"mcptest/internal/base/term"
	"mcptest/internal/cli/cmdutil"
)

// Exit codes of mcptest. If several apply, the first of this list takes precedence: a
// signal (128 + its number), 2, 1, 3, 4, 6, 7.
const (
	ExitPassed   = 0
	ExitFailed   = 1 // a test failed, or a server could not be started or tested
	ExitInvalid  = 2 // invalid suite, flags or environment, or setup failed
	ExitReady    = 3 // the time of --wait-for-ready is over
	ExitInternal = 4 // internal error, or a report could not be written
	ExitPolicy   = 5 // refused by policy
	ExitGate     = 6 // a quality gate failed: check, probe, leak, load, diff, lock --check
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

// Invalid returns an error that ends a command because of a mistake of its user.
func Invalid(format string, args ...any) error { return Fail(ExitInvalid, format, args...) }

// PrintError prints the message of a run that returned an error.
func PrintError(w io.Writer, err error) {
	if e := new(ExitError); errors.As(err, &e) && e.Message != "" {
		fmt.Fprintln(w, "mcptest: "+term.Escape(secret.NewRedactor().String(e.Message)))
	}
}

// Guarded runs fn. After a panic it stops every process and returns an error with
// exit code 4.
func Guarded(w *cmdutil.World, stderr io.Writer, fn func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			w.Registry.KillAll()
			fmt.Fprintf(stderr, "mcptest: internal error: %s\n%s", term.EscapeLines(fmt.Sprint(p)), debug.Stack())
			err = &ExitError{Code: ExitInternal}
		}
	}()
	return fn()
}

// logLevels are the values of --log-level.
var logLevels = map[string]slog.Level{
	"error": slog.LevelError, "warn": slog.LevelWarn, "info": slog.LevelInfo, "debug": slog.LevelDebug,
}

// OpenLog returns the log of a run, which writes redacted text to standard error.
func OpenLog(w io.Writer, level string, redactor *secret.Redactor) (*slog.Logger, func(), error) {
	lv, ok := logLevels[level]
	if !ok {
		return nil, nil, Invalid("--log-level: expected error, warn, info or debug, got %q", level)
	}
	out := redactor.Writer(w)
	h := slog.NewTextHandler(out, &slog.HandlerOptions{Level: lv, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			a.Value = slog.StringValue(a.Value.Time().Format("15:04:05.000"))
		}
		return a
	}})
	return slog.New(h), func() { _ = out.Close() }, nil
}

// CleanupContext returns a context that limits the ending of processes of another
// run.
func CleanupContext() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), 10*time.Second)
}
