package conn

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"mcptest/internal/mcp/wire"
)

// Limit is the cause of a context whose time ran out: which setting, and how
// much it allowed. [WithLimit] makes such a context.
type Limit struct {
	Name string // the setting's name as the user writes it, e.g. "timeout"
	For  time.Duration
}

// Error returns e.g. "timeout 3s".
func (l *Limit) Error() string { return l.Name + " " + wire.Duration(l.For) }

// WithLimit is context.WithTimeout that remembers the setting's name, so that
// a [TimeoutError] can say which limit was hit.
func WithLimit(ctx context.Context, name string, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, d, &Limit{Name: name, For: d})
}

// TimeoutError ends a call that had no answer when its context ran out of time.
type TimeoutError struct {
	Method  string
	After   time.Duration
	Limit   string // e.g. "timeout 3s"; empty when the context did not say
	Sending bool   // the request itself could not be written: the server does not read
	Waiting int    // bytes that the server had written and that were not read, after a second without a message
}

// Error returns e.g. "tools/call timed out after 3s (limit: timeout 3s)".
func (e *TimeoutError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s timed out after %s", e.Method, wire.Duration(e.After))
	if e.Limit != "" {
		fmt.Fprintf(&b, " (limit: %s)", e.Limit)
	}
	if e.Sending {
		b.WriteString("; the server does not read its input")
	}
	if e.Waiting > 0 {
		fmt.Fprintf(&b, "; %d bytes of its output were not read yet", e.Waiting)
	}
	return b.String()
}

// Timeout reports true, as net.Error has it.
func (e *TimeoutError) Timeout() bool { return true }

// Unwrap makes errors.Is(err, context.DeadlineExceeded) true.
func (e *TimeoutError) Unwrap() error { return context.DeadlineExceeded }

// gaveUp is the cause of a call whose context ended.
func gaveUp(ctx context.Context, x *Exchange, sending bool) error {
	after, cause := time.Since(x.Start), context.Cause(ctx)
	var limit *Limit
	if errors.As(cause, &limit) {
		// The limit may have begun before this request: it covers the whole.
		return &TimeoutError{Method: x.Method, After: max(after, limit.For), Limit: limit.Error(), Sending: sending}
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return &TimeoutError{Method: x.Method, After: after, Sending: sending}
	}
	return &CancelledError{Method: x.Method, After: after, Cause: cause}
}

// GaveUp is the cause of a call whose context ended before it was complete.
func GaveUp(ctx context.Context, x *Exchange) error { return gaveUp(ctx, x, false) }

// CancelledError ends a call that was given up before its answer came, by its
// context (Cause says why) or by Call.CancelAfter.
type CancelledError struct {
	Method string
	After  time.Duration
	Cause  error // nil when Call.CancelAfter did it
}

// Error says when and why the call was cancelled.
func (e *CancelledError) Error() string {
	s := fmt.Sprintf("%s was cancelled after %s", e.Method, wire.Duration(e.After))
	if e.Cause != nil {
		s += ": " + e.Cause.Error()
	}
	return s
}

// Unwrap returns the cause of the context.
func (e *CancelledError) Unwrap() error { return e.Cause }

// SendError ends a call whose request could not be handed to the server while
// the session lives on.
type SendError struct {
	Method string
	Err    error
}

// Error says what could not be sent.
func (e *SendError) Error() string { return fmt.Sprintf("send %s: %v", e.Method, e.Err) }

// Unwrap returns the transport's error.
func (e *SendError) Unwrap() error { return e.Err }

func idText(id int64) string { return strconv.FormatInt(id, 10) }

// TooManyValuesError ends a call whose answer has more values than Limits.Values.
// That is no breach of the protocol: it is our limit. As text such an answer
// may be small; as a tree it would take some sixty bytes for each value.
type TooManyValuesError struct {
	Method string
	Limit  int
}

// Error returns e.g. "the answer to tools/call has more than 1,000,000 JSON
// values (limit: --max-values 1000000)".
func (e *TooManyValuesError) Error() string {
	return fmt.Sprintf("the answer to %s has more than %s JSON values (limit: --max-values %d)", e.Method, thousands(e.Limit), e.Limit)
}

// thousands writes a number with commas.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
