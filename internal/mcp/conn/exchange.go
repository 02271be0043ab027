package conn

import (
	"net/http"
	"time"

	"mcptest/internal/jsonv"
	"mcptest/internal/mcp/protocol"
	"mcptest/internal/mcp/wire"
)

// Call is one request to the server, sent unchanged: nothing is checked.
type Call struct {
	Method        string
	Params        []byte        // JSON text, usually an object; nil sends none
	Answer        Answerer      // answers requests of the server during this call; nil: the session's
	CancelAfter   time.Duration // give the call up after this time, as a client does; 0 never
	ProgressToken bool          // ask for progress: adds _meta.progressToken unless Params has one
	Header        http.Header   // HTTP only
	LogLevel      string        // asks for log messages during this call; stateless revisions only
	Own           bool          // no test waits for it: a crash meanwhile is not put down to it
}

// Exchange is what happened to one call. It is complete when it is returned
// and never changes afterwards. Byte slices are not shared with anything that
// changes.
type Exchange struct {
	Method       string
	ID           string // the id as JSON text
	Request      []byte // frame sent, nil when none was
	Response     []byte // frame received, nil when none was
	Result       []byte // sub-slice of Response, nil when absent
	Error        []byte // sub-slice of Response, nil when absent (or null next to a result)
	During       []Message
	Dropped      int                  // messages that came during the call and were not kept (Limits.During, DuringCount)
	DroppedBytes int64                // their bytes
	Violations   []protocol.Violation // that belong to this call, in order
	Start        time.Time
	Elapsed      time.Duration  // from before the request was written until the answer was read
	Cause        error          // why there is no usable answer; nil when there is one
	Unread       bool           // the session had ended before the server read the request: it may be sent to another
	HTTP         *wire.HTTPInfo // nil on stdio
	Hops         []*Exchange    // the ones before this that belong to the same call, each with its own request and answer
}

// Cause is one of *TimeoutError, *CancelledError, *ClosedError, *SendError,
// *TooManyValuesError and *ProtocolError; the last always comes with a violation.

// Answered reports whether a response to the call was received and is usable.
func (x *Exchange) Answered() bool { return x.Cause == nil && x.Response != nil }

// RPCError returns the error member of the answer as far as it can be read,
// nil when there is none.
func (x *Exchange) RPCError() *protocol.RPCError {
	if x.Error == nil {
		return nil
	}
	return protocol.ParseRPCError(x.Error)
}

// Parse reads the whole answer and returns it with the violations that only
// show below its top level: duplicate keys and lone surrogates.
func (x *Exchange) Parse(o jsonv.Options) (jsonv.Value, []protocol.Violation, error) {
	v, out, err := parseDeep(x.Response, o)
	for i := range out {
		out[i].ID = x.ID
	}
	return v, out, err
}

// parseDeep reads a message and returns it with the violations that only show
// below its top level.
func parseDeep(raw []byte, o jsonv.Options) (jsonv.Value, []protocol.Violation, error) {
	v, notes, err := jsonv.ParseWith(raw, o)
	var out []protocol.Violation
	for _, n := range notes {
		var kind, what string
		switch n.Kind {
		case jsonv.DuplicateKey:
			if countSlash(n.Pointer) < 2 {
				continue // seen by the session
			}
			kind, what = protocol.DuplicateKey, "the same key twice"
		case jsonv.LoneSurrogate:
			kind, what = protocol.LoneSurrogate, "half of a surrogate pair in a string"
		default:
			continue // invalid UTF-8 was seen by the session
		}
		out = append(out, protocol.Violation{
			Kind: kind, Msg: what + " at " + n.Pointer, Excerpt: protocol.Excerpt(raw[max(0, min(n.Offset-20, len(raw))):]),
		})
	}
	return v, out, err
}

func countSlash(s string) (n int) {
	for i := range len(s) {
		if s[i] == '/' {
			n++
		}
	}
	return n
}

// maxCallViolations bounds Exchange.Violations.
const maxCallViolations = 100

// violate adds a violation, within a limit.
func (x *Exchange) violate(v protocol.Violation) {
	switch n := len(x.Violations); {
	case n < maxCallViolations:
		x.Violations = append(x.Violations, v)
	case n == maxCallViolations:
		x.Violations = append(x.Violations, protocol.Violation{Kind: protocol.Flood, Msg: "more violations of this call were not kept", ID: v.ID, At: v.At, Offset: v.Offset})
	}
}

// Violate adds a violation of the response to an exchange that is complete.
func Violate(x *Exchange, v protocol.Violation) { x.violate(v) }
