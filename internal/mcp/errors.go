package mcp

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"mcptest/internal/display"
	"mcptest/internal/proc"
)

// RPCError is the error member of a JSON-RPC answer.
type RPCError struct {
	Code    int64
	Message string
	Data    []byte // JSON, nil when absent
}

// Error returns the message with its code.
func (e *RPCError) Error() string { return fmt.Sprintf("%s (code %d)", e.Message, e.Code) }

// Error codes of JSON-RPC 2.0 section 5.1.
const (
	CodeParse          = -32700
	CodeInvalidRequest = -32600
	CodeMethodNotFound = -32601
	CodeInvalidParams  = -32602
	CodeInternal       = -32603
)

// Limit is the cause of a context whose time ran out: which setting, and how
// much it allowed. [WithLimit] makes such a context.
type Limit struct {
	Name string // the setting's name as the user writes it, e.g. "timeout"
	For  time.Duration
}

// Error returns e.g. "timeout 3s".
func (l *Limit) Error() string { return l.Name + " " + duration(l.For) }

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
}

// Error returns e.g. "tools/call timed out after 3s (limit: timeout 3s)".
func (e *TimeoutError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s timed out after %s", e.Method, duration(e.After))
	if e.Limit != "" {
		fmt.Fprintf(&b, " (limit: %s)", e.Limit)
	}
	if e.Sending {
		b.WriteString("; the server does not read its input")
	}
	return b.String()
}

// Timeout reports true, as net.Error has it.
func (e *TimeoutError) Timeout() bool { return true }

// Unwrap makes errors.Is(err, context.DeadlineExceeded) true.
func (e *TimeoutError) Unwrap() error { return context.DeadlineExceeded }

// CancelledError ends a call that was given up before its answer came, by its
// context (Cause says why) or by Call.CancelAfter.
type CancelledError struct {
	Method string
	After  time.Duration
	Cause  error // nil when Call.CancelAfter did it
}

// Error says when and why the call was cancelled.
func (e *CancelledError) Error() string {
	s := fmt.Sprintf("%s was cancelled after %s", e.Method, duration(e.After))
	if e.Cause != nil {
		s += ": " + e.Cause.Error()
	}
	return s
}

// Unwrap returns the cause of the context.
func (e *CancelledError) Unwrap() error { return e.Cause }

// ClosedError says why a session is over. Calls in flight at that time and all
// later ones end with it.
type ClosedError struct {
	Reason   string     // "the server exited", "the server closed its standard output", "the session was closed", …
	Exited   bool       // the process is known to have ended: Exit is valid
	Exit     proc.Exit  //
	Stderr   []string   // beginning and end of standard error, 20 lines
	LastLine string     // last line of standard output, escaped and shortened
	InFlight []InFlight // requests that were waiting, oldest first
	Err      error      // the transport's error, if that is what ended it
	Ours     bool       // we closed it

	unread []byte // what the process left unread of its input, where that is known
}

// InFlight names a request that waits for its answer.
type InFlight struct{ Method, ID string }

// Error says in one line why the session ended and what was waiting.
func (e *ClosedError) Error() string {
	var b strings.Builder
	b.WriteString(e.Reason)
	if e.Exited {
		fmt.Fprintf(&b, " (%s)", e.Exit)
	}
	if e.Err != nil {
		fmt.Fprintf(&b, ": %v", e.Err)
	}
	for i, f := range e.InFlight {
		if i == 0 {
			b.WriteString(" while ")
		} else {
			b.WriteString(", ")
		}
		if i == 3 {
			fmt.Fprintf(&b, "%d more", len(e.InFlight)-i)
			break
		}
		b.WriteString(f.Method)
	}
	switch len(e.InFlight) {
	case 0:
	case 1:
		b.WriteString(" was in flight")
	default:
		b.WriteString(" were in flight")
	}
	return b.String() + lastWords(e)
}

// lastWords is what the process said on standard error about its end.
func lastWords(e *ClosedError) string {
	cause := proc.Cause(e.Stderr)
	if !e.Exited || e.Ours || cause == "" {
		return ""
	}
	cause = display.Escape(display.WithoutColors(cause))
	if len(cause) > maxExcerpt {
		cause = Excerpt([]byte(cause))
	}
	return ": " + cause
}

// Unwrap returns the transport's error.
func (e *ClosedError) Unwrap() error { return e.Err }

// Detail returns the lines that help to find out why the server ended: the end
// of its standard error and the last line of its standard output.
func (e *ClosedError) Detail() string { return detail(e.Stderr, e.LastLine) }

// ProtocolError ends a call that can get no usable answer any more because of
// what the server sent: an answer over the size limit, our own request back.
type ProtocolError struct {
	Method string
	Kind   string // of the violation that ended it
	Msg    string
}

// Error returns the method and the message.
func (e *ProtocolError) Error() string { return e.Method + ": " + e.Msg }

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

// OpenError says why no session came to be.
type OpenError struct {
	Phase      string // "start" (the process or connection), "initialize", "protocol" (no common revision)
	Cause      error
	Exited     bool // the process ended: Exit is valid
	Exit       proc.Exit
	StderrTail []string // beginning and end of standard error, 20 lines
	LastLine   string   // last line of standard output, escaped and shortened
	Violations []Violation
	Silent     bool // a process that wrote nothing to standard output
}

// Error returns the cause with its phase in one line; Detail has the rest.
func (e *OpenError) Error() string {
	var closed *ClosedError
	if errors.As(e.Cause, &closed) && closed.Exited && len(closed.InFlight) > 0 {
		return fmt.Sprintf("the server %s before answering %s", ended(closed.Exit), closed.InFlight[0].Method) + lastWords(closed)
	}
	s := e.Cause.Error()
	if !strings.HasPrefix(s, e.Phase) { // many causes name their request themselves
		s = e.Phase + ": " + s
	}
	if e.Exited && !errors.As(e.Cause, new(*ClosedError)) {
		s += " (" + e.Exit.String() + ")"
	}
	return s
}

// ended is how a process ended, as the verb of a sentence.
func ended(x proc.Exit) string {
	if x.Err == nil && x.Signal == "" {
		return fmt.Sprintf("exited with status %d", x.Code)
	}
	return "ended (" + x.String() + ")"
}

// Unwrap returns the cause.
func (e *OpenError) Unwrap() error { return e.Cause }

// Detail returns the lines that help to find out why: violations seen so far,
// the end of standard error, the last line of standard output.
func (e *OpenError) Detail() string {
	var b strings.Builder
	for i, v := range e.Violations {
		if i == 5 {
			fmt.Fprintf(&b, "… and %d more\n", len(e.Violations)-i)
			break
		}
		b.WriteString(v.String() + "\n")
	}
	return b.String() + detail(e.StderrTail, e.LastLine)
}

func detail(stderr []string, last string) string {
	var b strings.Builder
	if last != "" {
		b.WriteString("last line on stdout: " + last + "\n")
	}
	if len(stderr) > 0 {
		b.WriteString("stderr:\n")
		for _, l := range stderr {
			b.WriteString("  " + Excerpt([]byte(strings.ReplaceAll(l, "\t", "    "))) + "\n")
		}
	}
	return b.String()
}

// duration writes a duration for people: 3.0012s is 3s, 60s is 1m, 12.345ms is
// 12.3ms.
func duration(d time.Duration) string {
	switch {
	case d >= time.Second:
		d = d.Round(10 * time.Millisecond)
	case d >= 100*time.Millisecond:
		d = d.Round(time.Millisecond)
	case d >= time.Millisecond:
		d = d.Round(100 * time.Microsecond)
	}
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

func idText(id int64) string { return strconv.FormatInt(id, 10) }
