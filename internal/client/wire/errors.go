package wire

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"mcptest/internal/base/display"
	"mcptest/internal/client/protocol"
	"mcptest/internal/process/proc"
	"mcptest/internal/process/tail"
)

// ClosedError reports why a session has ended. Calls in flight at that time and all
// later ones return it.
type ClosedError struct {
	Reason   string     // "the server exited", "the server closed its standard output", "the session was closed", …
	Exited   bool       // the process has exited: Exit is valid
	Exit     proc.Exit  //
	Stderr   []string   // beginning and end of standard error, 20 lines
	LastLine string     // last line of standard output, escaped and shortened
	InFlight []InFlight // requests that were waiting, oldest first
	Log      *tail.Tail // standard error; may be nil
	Err      error      // the transport's error, if that is what ended it
	Ours     bool       // the client closed it

	Also string // what the client did before, which may be why; begins with ", "

	Unread []byte // the input that the process did not read, if known
}

// InFlight is a request that waits for its response.
type InFlight struct {
	Method string
	Start  time.Time
}

// Error describes in one line why the session ended and which requests were waiting.
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
	b.WriteString(e.Also)
	if len(e.InFlight) == 0 || e.Log == nil || !e.Exited || e.Ours {
		return b.String() + findStderrCause(e, e.Stderr)
	}
	start := e.InFlight[0].Start // what the process wrote before is not why it exited
	if cause := findStderrCause(e, tail.Ends(e.Log.Since(e.Log.After(start)), StderrLines)); cause != "" {
		return b.String() + cause
	}
	return b.String() + strings.Replace(findLastLine(e.Log, start, " before the request"), ", ", "; ", 1)
}

// findStderrCause returns the error in lines that the process wrote to standard error.
func findStderrCause(e *ClosedError, lines []string) string {
	cause := tail.Cause(lines)
	if !e.Exited || e.Ours || cause == "" {
		return ""
	}
	return ": " + quoteLine(cause)
}

func quoteLine(line string) string {
	line = display.Escape(display.StripColors(line))
	if len(line) > protocol.MaxExcerpt {
		line = protocol.Excerpt([]byte(line))
	}
	return line
}

// findLastLine quotes the last line of standard error, with how long before a time it was
// written.
func findLastLine(log *tail.Tail, at time.Time, than string) string {
	line, written := log.Last()
	if line == "" {
		return ", it wrote nothing to stderr"
	}
	age := ""
	if d := at.Sub(written); d > 0 {
		age = ", " + Duration(d) + than
	}
	return ", its last line on stderr" + age + ": " + strconv.Quote(quoteLine(line))
}

// Meanwhile describes the process of a server whose response is missing at a time; it
// is empty for other servers.
func (f Facts) Meanwhile(at time.Time) string {
	if f.Process == nil {
		return ""
	}
	text := "; the server is alive"
	select {
	case <-f.Process.Exited():
		text = "; the process of the server is gone (" + f.Process.Exit().String() + ")"
	default:
	}
	return text + findLastLine(f.Stderr, at, " old")
}

// Unwrap returns the transport's error.
func (e *ClosedError) Unwrap() error { return e.Err }

// Detail returns lines that help to find the reason: the end of standard error and
// the last line of standard output.
func (e *ClosedError) Detail() string { return describeDetail(e.Stderr, e.LastLine) }

// OpenError reports why a session could not be opened.
type OpenError struct {
	Phase      string // "start" (the process or connection), "initialize", "protocol" (no common revision)
	Cause      error
	Exited     bool // the process exited: Exit is valid
	Exit       proc.Exit
	StderrTail []string // beginning and end of standard error, 20 lines
	LastLine   string   // last line of standard output, escaped and shortened
	Violations []protocol.Violation
	Silent     bool // a process without any standard output
}

// Error returns the cause with its phase in one line; see also Detail.
func (e *OpenError) Error() string {
	if closed, ok := errors.AsType[*ClosedError](e.Cause); ok && closed.Exited && len(closed.InFlight) > 0 {
		return fmt.Sprintf("the server %s before responding to %s", describeEnd(closed.Exit), closed.InFlight[0].Method) + findStderrCause(closed, closed.Stderr)
	}
	s := e.Cause.Error()
	if !strings.HasPrefix(s, e.Phase) { // many causes contain their request
		s = e.Phase + ": " + s
	}
	if e.Exited && !errors.As(e.Cause, new(*ClosedError)) {
		s += " (" + e.Exit.String() + ")"
	}
	return s
}

// describeEnd describes how a process ended, as the verb of a sentence.
func describeEnd(x proc.Exit) string {
	if x.Err == nil && x.Signal == "" {
		return fmt.Sprintf("exited with status %d", x.Code)
	}
	return "ended (" + x.String() + ")"
}

// Unwrap returns the cause.
func (e *OpenError) Unwrap() error { return e.Cause }

// Detail returns lines that help to find the reason: violations so far, the end of
// standard error, the last line of standard output.
func (e *OpenError) Detail() string {
	var b strings.Builder
	for i, v := range e.Violations {
		if i == 5 {
			fmt.Fprintf(&b, "… and %d more\n", len(e.Violations)-i)
			break
		}
		b.WriteString(v.String() + "\n")
	}
	return b.String() + describeDetail(e.StderrTail, e.LastLine)
}

func describeDetail(stderr []string, last string) string {
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

// BrokenError is returned by Send if nothing can be sent any more. The end of the
// other direction, with the reason, usually follows.
type BrokenError struct {
	Err    error
	Partly bool // a part of the message was written
}

// Error returns the transport's error.
func (e *BrokenError) Error() string { return "the server's input is closed: " + e.Err.Error() }

// Unwrap returns the transport's error.
func (e *BrokenError) Unwrap() error { return e.Err }

// ProtocolError ends a call that cannot get a usable response because of a message
// from the server: a response over the size limit, or the client's own request.
type ProtocolError struct {
	Method string
	Msg    string
}

// Error returns the method and the message.
func (e *ProtocolError) Error() string { return e.Method + ": " + e.Msg }
