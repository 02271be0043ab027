package conn

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"mcptest/internal/base/display"
	"mcptest/internal/client/wire"
)

// Limit is the cause of a context that exceeded a time limit: the setting and its
// value. [WithLimit] creates such a context.
type Limit struct {
	Name string // the setting's name as the user writes it, e.g. "timeout"
	For  time.Duration
}

// Error returns e.g. "timeout 3s".
func (l *Limit) Error() string { return l.Name + " " + wire.Duration(l.For) }

// WithLimit is context.WithTimeout with the setting's name, so that a [TimeoutError]
// can include it.
func WithLimit(ctx context.Context, name string, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, d, &Limit{Name: name, For: d})
}

// TimeoutError ends a call that got no response before its context's deadline.
type TimeoutError struct {
	Method  string
	After   time.Duration
	At      time.Time // when the time was over
	Limit   string    // e.g. "timeout 3s"; empty when the context did not say
	Sending bool      // the request could not be written: the server does not read
	Waiting int       // unread bytes of the server, after a second without a message

	Reports  int           // progress notifications of the call
	Quiet    time.Duration // since the last of them
	Busy     bool          // the server still reported the progress of an earlier call, which had timed out
	BusyLast time.Duration // since its last report
}

// Error returns e.g. "tools/call timed out after 3s (limit: timeout 3s)".
func (e *TimeoutError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s timed out after %s", e.Method, wire.Duration(e.After))
	if e.Limit != "" {
		fmt.Fprintf(&b, " (limit: %s)", e.Limit)
	}
	switch {
	case e.Reports > 0:
		fmt.Fprintf(&b, "; it had reported progress %s, the last %s before", display.Count(e.Reports, "time"), wire.Duration(e.Quiet))
	case e.Busy:
		fmt.Fprintf(&b, "; the server is still busy with an earlier call that timed out: it reported its progress %s before", wire.Duration(e.BusyLast))
	}
	if e.Sending {
		b.WriteString("; the server does not read its input")
	}
	if e.Waiting > 0 {
		fmt.Fprintf(&b, "; %d bytes of its output had not been read", e.Waiting)
	}
	return b.String()
}

// Timeout returns true, as in net.Error.
func (e *TimeoutError) Timeout() bool { return true }

// Unwrap makes errors.Is(err, context.DeadlineExceeded) true.
func (e *TimeoutError) Unwrap() error { return context.DeadlineExceeded }

// explainContextError returns the cause of a call whose context ended.
func explainContextError(ctx context.Context, x *Exchange, sending bool) error {
	at, cause := time.Now(), context.Cause(ctx)
	after := at.Sub(x.Start)
	if d, ok := ctx.Deadline(); ok && d.Before(at) {
		at = d
	}
	if limit, ok := errors.AsType[*Limit](cause); ok {
		// The limit may have started before this request and cover more than it.
		return &TimeoutError{Method: x.Method, After: max(after, limit.For), At: at, Limit: limit.Error(), Sending: sending}
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return &TimeoutError{Method: x.Method, After: after, At: at, Sending: sending}
	}
	return &CancelledError{Method: x.Method, After: after, Cause: cause}
}

// ContextError returns the cause of a call whose context ended before it was complete.
func ContextError(ctx context.Context, x *Exchange) error { return explainContextError(ctx, x, false) }

// CancelledError ends a call that was canceled before its response arrived, by its
// context (see Cause) or by Call.CancelAfter.
type CancelledError struct {
	Method string
	After  time.Duration
	Cause  error // nil if Call.CancelAfter canceled it
}

// Error returns when and why the call was canceled.
func (e *CancelledError) Error() string {
	s := fmt.Sprintf("%s was cancelled after %s", e.Method, wire.Duration(e.After))
	if e.Cause != nil {
		s += ": " + e.Cause.Error()
	}
	return s
}

// Unwrap returns the cause of the context.
func (e *CancelledError) Unwrap() error { return e.Cause }

// SendError ends a call whose request could not be sent although the session is
// alive.
type SendError struct {
	Method string
	Err    error
}

// Error returns the method and the cause.
func (e *SendError) Error() string { return fmt.Sprintf("send %s: %v", e.Method, e.Err) }

// Unwrap returns the transport's error.
func (e *SendError) Unwrap() error { return e.Err }

func idText(id int64) string { return strconv.FormatInt(id, 10) }

// TooManyValuesError ends a call whose response has more values than Limits.Values.
// That is not a violation of the protocol but a limit of mcptest: such a response may
// be small as text, but a tree needs about sixty bytes for each value.
type TooManyValuesError struct {
	Method string
	Limit  int
}

// Error returns e.g. "the response to tools/call has more than 1,000,000 JSON
// values (limit: --max-values 1000000)".
func (e *TooManyValuesError) Error() string {
	return fmt.Sprintf("the response to %s has more than %s JSON values (limit: --max-values %d)", e.Method, display.Thousands(e.Limit), e.Limit)
}
