package mcp

import (
	"fmt"
	"strconv"
	"time"
	"unicode"
	"unicode/utf8"
)

// Violation is one breach of the protocol by the server. It never ends a
// session by itself.
type Violation struct {
	Kind      string // a name of ViolationKinds
	Msg       string // what is wrong, in one sentence
	Excerpt   string // the offending bytes, escaped, at most 200 bytes
	Offset    int64  // byte offset of the offending frame in the server's output
	ID        string // id of the call it belongs to, as JSON text; empty when it belongs to none
	At        time.Time
	Tolerated bool // Options.Tolerate named the kind
}

// String returns e.g. `stray-output at byte 120: a line that is not JSON: "hello"`.
func (v Violation) String() string {
	s := fmt.Sprintf("%s at byte %d: %s", v.Kind, v.Offset, v.Msg)
	if v.Excerpt != "" {
		s += ": " + v.Excerpt
	}
	return s
}

// ViolationKind describes one kind of violation. The table is closed: every
// Violation.Kind is the Name of a row.
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
	EarlyAnswer    = "early-answer"
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
)

// ViolationKinds is the table of all kinds, in the order of the documentation.
// `tolerate:` accepts these names.
var ViolationKinds = []ViolationKind{
	{StrayOutput, "A line on standard output that is no JSON-RPC message: logs belong on standard error.", "1.0"},
	{BadJSON, "A line that starts like a JSON message and is not valid JSON.", "1.0"},
	{PrettyJSON, "A message written over several lines; messages must not contain newlines.", "1.0"},
	{PartialLine, "Output that ended in the middle of a line.", "1.0"},
	{Oversize, "A message over the size limit; it was skipped.", "1.0"},
	{InvalidUTF8, "A message that is not valid UTF-8.", "1.0"},
	{LoneSurrogate, "A string with half of a UTF-16 surrogate pair.", "1.0"},
	{BOM, "A byte order mark before a message.", "1.0"},
	{NULByte, "NUL bytes around a message.", "1.0"},
	{DuplicateKey, "An object with the same key twice; the last one was used.", "1.0"},
	{Batch, "A JSON array of messages; only protocol revision 2025-03-26 has batches.", "1.0"},
	{BadJSONRPC, `A message without "jsonrpc": "2.0".`, "1.0"},
	{BadMessage, "A request or notification of the server with a member of the wrong type.", "1.0"},
	{Echo, "The server sent our own request back.", "1.0"},
	{EarlyAnswer, "An answer before any request was sent.", "1.0"},
	{UnknownID, "An answer to an id that was never sent.", "1.0"},
	{DuplicateID, "A second answer to a request.", "1.0"},
	{IDType, `An answer whose id has another type than the request's, such as "3" for 3.`, "1.0"},
	{MissingID, "An answer without an id.", "1.0"},
	{NullID, "An answer with the id null, though every request sent was a valid one.", "1.0"},
	{ResultAndError, "An answer with both a result and an error.", "1.0"},
	{NoResult, "An answer with neither a result nor an error.", "1.0"},
	{BadError, "An error without an integer code or a string message.", "1.0"},
	{BadResult, "A result that is not an object, or lacks what the protocol requires of it.", "1.0"},
	{ResultType, "A result with a resultType that the protocol does not define.", "1.0"},
	{ProgressToken, "A progress notification with a token of no request.", "1.0"},
	{ContentType, "An HTTP answer whose content type is not that of its body.", "1.0"},
	{SessionID, "An Mcp-Session-Id with characters other than visible ASCII.", "1.0"},
	{Flood, "So many violations, or requests of the server at once, that not all were kept.", "1.0"},
}

// maxExcerpt bounds Violation.Excerpt, in bytes.
const maxExcerpt = 200

// Excerpt escapes b so that it can be shown anywhere on one line: control
// characters, invalid UTF-8, and characters that hide or reorder text appear as
// \n, \x1b, \u202e. At most 200 bytes; a cut is shown as "…".
func Excerpt(b []byte) string {
	out, cut := make([]byte, 0, min(len(b), maxExcerpt)), 0
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		var piece string
		switch {
		case r == utf8.RuneError && n == 1:
			piece = fmt.Sprintf(`\x%02x`, b[0])
		case r == '\\':
			piece = `\\`
		case r < 0x20 || r == 0x7f:
			q := strconv.QuoteRuneToASCII(r)
			piece = q[1 : len(q)-1]
		case r < 0x80:
			piece = string(r)
		case !unicode.IsPrint(r):
			q := strconv.QuoteRuneToASCII(r)
			piece = q[1 : len(q)-1]
		default:
			piece = string(b[:n])
		}
		if len(out)+len(piece) > maxExcerpt {
			return string(out[:cut]) + "…"
		}
		if out = append(out, piece...); len(out) <= maxExcerpt-len("…") {
			cut = len(out)
		}
		b = b[n:]
	}
	return string(out)
}
