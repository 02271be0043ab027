package option

import (
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"

	"mcptest/internal/cmdutil"
	"mcptest/internal/secret"
	"mcptest/internal/term"
)

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
		return nil, nil, Fail(ExitInvalid, "--log-level: expected error, warn, info or debug, got %q", level)
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
