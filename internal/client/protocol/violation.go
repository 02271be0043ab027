package protocol

import (
	"fmt"
	"time"
	"unicode/utf8"

	"mcptest/internal/base/display"
)

// Violation is one protocol violation by the server. It never ends a session by
// itself.
type Violation struct {
	Kind      string // a name of ViolationKinds
	Msg       string // description in one sentence
	Excerpt   string // the offending bytes, escaped, at most 200 bytes
	Offset    int64  // byte offset of the offending frame in the server's output
	ID        string // id of the call it belongs to, as JSON text, or empty
	At        time.Time
	Tolerated bool // Options.Tolerate accepted the kind
}

// String returns e.g. `stray-output at byte 120: the server wrote a log line to stdout…: "hello"`.
func (v Violation) String() string {
	s := fmt.Sprintf("%s at byte %d: %s", v.Kind, v.Offset, v.Msg)
	if v.Excerpt != "" {
		s += ": " + v.Excerpt
	}
	return s
}

// Rule returns the sentence of the table about the kind.
func (v Violation) Rule() string {
	for _, k := range ViolationKinds {
		if k.Name == v.Kind {
			return k.Doc
		}
	}
	return ""
}

// ViolationKind describes one kind of violation. Every Violation.Kind is the Name of
// a row of the table.
type ViolationKind struct {
	Name  string
	Doc   string // one sentence for users
	Since string // version of mcptest
}

// Names of violation kinds.
const (
	StrayOutput    = "stray-output"
	BadJSON        = "bad-json"
	PrettyJSON     = "pretty-json"
	PartialLine    = "partial-line"
	Oversize       = "oversize"
	InvalidUTF8    = "invalid-utf8"
	LoneSurrogate  = "lone-surrogate"
	BOM            = "bom"
	NULByte        = "nul-byte"
	DuplicateKey   = "duplicate-key"
	Batch          = "batch"
	BadJSONRPC     = "bad-jsonrpc"
	BadMessage     = "bad-message"
	Echo           = "echo"
	EarlyResponse  = "early-answer"
	UnknownID      = "unknown-id"
	DuplicateID    = "duplicate-id"
	IDType         = "id-type"
	MissingID      = "missing-id"
	NullID         = "null-id"
	ResultAndError = "result-and-error"
	NoResult       = "no-result"
	BadError       = "bad-error"
	BadResult      = "bad-result"
	ResultType     = "result-type"
	ProgressToken  = "progress-token"
	ContentType    = "content-type"
	SessionID      = "session-id"
	Flood          = "flood"
	ServerCrashed  = "server-crashed"
)

// ViolationKinds is the table of all kinds, in the order of the documentation.
// `tolerate:` accepts these names.
var ViolationKinds = []ViolationKind{
	{StrayOutput, "A line on standard output that is not a JSON-RPC message: logs belong on standard error.", "1.0"},
	{BadJSON, "A line that starts like a JSON message but is not valid JSON.", "1.0"},
	{PrettyJSON, "A message written over several lines; messages must not contain newlines.", "1.0"},
	{PartialLine, "Output that ended in the middle of a line.", "1.0"},
	{Oversize, "A message over the size limit; it was skipped.", "1.0"},
	{InvalidUTF8, "A message that is not valid UTF-8.", "1.0"},
	{LoneSurrogate, "A string with half of a UTF-16 surrogate pair.", "1.0"},
	{BOM, "A byte order mark before a message.", "1.0"},
	{NULByte, "NUL bytes around a message.", "1.0"},
	{DuplicateKey, "An object with the same key twice; the last one was used.", "1.0"},
	{Batch, "A JSON array of messages; only protocol version 2025-03-26 has batches.", "1.0"},
	{BadJSONRPC, `A message without "jsonrpc": "2.0".`, "1.0"},
	{BadMessage, "A request or notification of the server with a member of the wrong type.", "1.0"},
	{Echo, "The server sent a request of the client back.", "1.0"},
	{EarlyResponse, "A response before any request was sent.", "1.0"},
	{UnknownID, "A response to an id that was never sent.", "1.0"},
	{DuplicateID, "A second response to a request.", "1.0"},
	{IDType, `A response whose id has a different type than the request's, such as "3" for 3.`, "1.0"},
	{MissingID, "A response without an id.", "1.0"},
	{NullID, "A response with the id null although every request was valid.", "1.0"},
	{ResultAndError, "A response with both a result and an error.", "1.0"},
	{NoResult, "A response with neither a result nor an error.", "1.0"},
	{BadError, "An error without an integer code or a string message.", "1.0"},
	{BadResult, "A result that is not an object, lacks a member that the protocol requires, or has one of another type; also in an entry of a list, such as a tool whose inputSchema has no type. Clients reject the result, or the whole list.", "1.0"},
	{ResultType, "A result with a resultType that the protocol does not define.", "1.0"},
	{ProgressToken, "A progress notification whose token belongs to no request.", "1.0"},
	{ContentType, "An HTTP response whose content type does not match its body.", "1.0"},
	{SessionID, "An Mcp-Session-Id with characters other than visible ASCII.", "1.0"},
	{Flood, "Too many violations, or too many concurrent requests from the server, to keep all of them.", "1.0"},
	{ServerCrashed, "The server exited with a signal or a non-zero status while no test was waiting for a response.", "1.0"},
}

// MaxExcerpt limits Violation.Excerpt, in bytes.
const MaxExcerpt = 200

// Excerpt escapes b so that it can be shown on one line, as display.Escape does, and
// doubles each backslash. It returns at most 200 bytes; "…" marks omitted text.
func Excerpt(b []byte) string {
	out, cut := make([]byte, 0, min(len(b), MaxExcerpt)), 0
	var last rune // the previous character, if it is shown
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		var piece []byte
		was := last
		last = r
		switch {
		case r == utf8.RuneError && n == 1:
			piece, n = display.AppendInvalid(nil, string(b[:min(len(b), 3)]))
		case r == '\\':
			piece = []byte(`\\`)
		case display.IsHidden(r) && !display.IsJoiner(was, r, string(b[n:min(len(b), n+utf8.UTFMax)])):
			last = 0
			piece = display.AppendEscape(nil, r)
		default:
			piece = b[:n]
		}
		if len(out)+len(piece) > MaxExcerpt {
			return string(out[:cut]) + "…"
		}
		if out = append(out, piece...); len(out) <= MaxExcerpt-len("…") {
			cut = len(out)
		}
		b = b[n:]
	}
	return string(out)
}
