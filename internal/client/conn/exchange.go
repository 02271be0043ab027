package conn

import (
	"bytes"
	"context"
	"net/http"
	"strings"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/protocol"
	"mcptest/internal/client/wire"
)

// Call is one request to the server. It is sent unchanged, without validation.
type Call struct {
	Method        string
	Params        []byte        // JSON text, usually an object; nil: no params
	Answer        Answerer      // answers requests of the server during this call; nil: the session's
	CancelAfter   time.Duration // cancel the call after this time, like a client; 0: never
	Idle          time.Duration // limit for the time without a progress notification; 0: none
	ProgressToken bool          // request progress: adds _meta.progressToken unless Params has one
	Header        http.Header   // HTTP only
	LogLevel      string        // request log messages during this call; stateless revisions only
	Own           bool          // no test waits for it: a crash is not attributed to it
}

// Answerer answers a request of the server. The result is JSON text. If result and
// error are nil, the method is unknown: -32601. It runs on a separate goroutine and
// returns when ctx ends; then nothing is sent.
type Answerer func(ctx context.Context, method string, params []byte) (result []byte, rpcErr *protocol.RPCError)

// Exchange is the record of one call. It is complete when it is returned and never
// changes afterwards; its byte slices are immutable.
type Exchange struct {
	Method       string
	ID           string // the id as JSON text
	Request      []byte // frame sent, or nil
	Response     []byte // frame received, or nil
	Result       []byte // sub-slice of Response, nil if absent
	Error        []byte // sub-slice of Response, nil if absent (or null next to a result)
	During       []Message
	Cancellation *Message             // the notification that gave the call up, nil if none was sent
	Dropped      int                  // number of messages over the limits (Limits.During, DuringCount)
	DroppedBytes int64                // their bytes
	Violations   []protocol.Violation // of this call, in order
	Start        time.Time
	Elapsed      time.Duration  // from before the request was written until the response was read
	Cause        error          // why there is no usable response; otherwise nil
	Unread       bool           // the session ended before the server read the request, which may be sent again
	HTTP         *wire.HTTPInfo // nil on stdio
	Hops         []*Exchange    // earlier exchanges of the same call, each with a request and a response
}

// Cause is one of *TimeoutError, *CancelledError, *ClosedError, *SendError,
// *TooManyValuesError and *ProtocolError; the last always comes with a violation.

// Answered reports whether a response to the call was received and is usable.
func (x *Exchange) Answered() bool { return x.Cause == nil && x.Response != nil }

// RPCError returns the error member of the response as far as it can be read, or nil.
func (x *Exchange) RPCError() *protocol.RPCError {
	if x.Error == nil {
		return nil
	}
	e := protocol.ParseRPCError(x.Error)
	if e != nil {
		e.Challenge = x.HTTP.Challenge()
	}
	return e
}

// extTasks is the extension in which a call can return a task.
const extTasks = "io.modelcontextprotocol/tasks"

// AsksTask reports whether the request asks for a task (params.task of 2025-11-25),
// or declares support for tasks (the extension of 2026-07-28).
func (x *Exchange) AsksTask() bool {
	if !bytes.Contains(x.Request, []byte("task")) && bytes.IndexByte(x.Request, '\\') < 0 {
		return false // not even with an escape: parsing takes 2 µs a test
	}
	params := protocol.MemberOf(x.Request, "params")
	if protocol.KindOf(protocol.MemberOf(params, "task")) == jsonv.KindObject {
		return true
	}
	declared := protocol.MemberOf(protocol.MemberOf(protocol.MemberOf(params, "_meta"), protocol.MetaCapabilities), "extensions")
	return protocol.MemberOf(declared, extTasks) != nil
}

// Parse parses the whole response and returns it with the violations below its top
// level: duplicate keys and lone surrogates.
func (x *Exchange) Parse(o jsonv.Options) (jsonv.Value, []protocol.Violation, error) {
	v, out, err := parseDeep(x.Response, o)
	for i := range out {
		out[i].ID = x.ID
	}
	return v, out, err
}

// parseDeep parses a message and returns it with the violations below its top level.
func parseDeep(raw []byte, o jsonv.Options) (jsonv.Value, []protocol.Violation, error) {
	v, notes, err := jsonv.ParseWith(raw, o)
	var out []protocol.Violation
	for _, n := range notes {
		var kind, what string
		switch n.Kind {
		case jsonv.DuplicateKey:
			if strings.Count(n.Pointer, "/") < 2 {
				continue // reported by the session
			}
			kind, what = protocol.DuplicateKey, "the same key twice"
		case jsonv.LoneSurrogate:
			kind, what = protocol.LoneSurrogate, "half of a surrogate pair in a string"
		default:
			continue // invalid UTF-8 was reported by the session
		}
		out = append(out, protocol.Violation{
			Kind:    kind,
			Msg:     what + " at " + n.Pointer,
			Excerpt: protocol.Excerpt(raw[max(0, min(n.Offset-20, len(raw))):]),
		})
	}
	return v, out, err
}

// maxCallViolations limits Exchange.Violations.
const maxCallViolations = 100

// Violate adds a violation, within a limit.
func (x *Exchange) Violate(v protocol.Violation) {
	n := len(x.Violations)
	switch {
	case n < maxCallViolations:
		x.Violations = append(x.Violations, v)
	case n == maxCallViolations:
		x.Violations = append(x.Violations, protocol.Violation{
			Kind:   protocol.Flood,
			Msg:    "more violations of this call were not kept",
			ID:     v.ID,
			At:     v.At,
			Offset: v.Offset,
		})
	}
}
