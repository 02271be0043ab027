package wire

import (
	"errors"
	"fmt"
	"strings"

	"mcptest/internal/display"
	"mcptest/internal/mcp/protocol"
	"mcptest/internal/proc"
	"mcptest/internal/proc/tail"
)

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

	Unread []byte // what the process left unread of its input, where that is known
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
	cause := tail.Cause(e.Stderr)
	if !e.Exited || e.Ours || cause == "" {
		return ""
	}
	cause = display.Escape(display.WithoutColors(cause))
	if len(cause) > protocol.MaxExcerpt {
		cause = protocol.Excerpt([]byte(cause))
	}
	return ": " + cause
}

// Unwrap returns the transport's error.
func (e *ClosedError) Unwrap() error { return e.Err }

// Detail returns the lines that help to find out why the server ended: the end
// of its standard error and the last line of its standard output.
func (e *ClosedError) Detail() string { return detail(e.Stderr, e.LastLine) }

// OpenError says why no session came to be.
type OpenError struct {
	Phase      string // "start" (the process or connection), "initialize", "protocol" (no common revision)
	Cause      error
	Exited     bool // the process ended: Exit is valid
	Exit       proc.Exit
	StderrTail []string // beginning and end of standard error, 20 lines
	LastLine   string   // last line of standard output, escaped and shortened
	Violations []protocol.Violation
	Silent     bool // a process that wrote nothing to standard output
}

// Error returns the cause with its phase in one line; Detail has the rest.
func (e *OpenError) Error() string {
	if closed, ok := errors.AsType[*ClosedError](e.Cause); ok && closed.Exited && len(closed.InFlight) > 0 {
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
			b.WriteString("  " + protocol.Excerpt([]byte(strings.ReplaceAll(l, "\t", "    "))) + "\n")
		}
	}
	return b.String()
}

// BrokenError is what Send returns when nothing can be sent any more. The end
// of the other direction, with the reason, usually follows.
type BrokenError struct {
	Err    error
	Partly bool // some of the message was written before
}

// Error returns the transport's error.
func (e *BrokenError) Error() string { return "the server's input is closed: " + e.Err.Error() }

// Unwrap returns the transport's error.
func (e *BrokenError) Unwrap() error { return e.Err }

// ProtocolError ends a call that can get no usable answer any more because of
// what the server sent: an answer over the size limit, our own request back.
type ProtocolError struct {
	Method string
	Kind   string // of the violation that ended it
	Msg    string
}

// Error returns the method and the message.
func (e *ProtocolError) Error() string { return e.Method + ": " + e.Msg }
