package protocol

import (
	"bytes"
	"unicode/utf8"

	"mcptest/internal/base/jsonv"
)

// Members is a bit set of the members of a JSON-RPC message.
type Members uint8

// Members of a message.
const (
	HasVersion Members = 1 << iota
	HasID
	HasMethod
	HasParams
	HasResult
	HasError
)

// Envelope holds the members of a JSON-RPC message: sub-slices of the frame, not
// copies.
type Envelope struct {
	Has       Members // the members that are present
	Duplicate Members // members that occur more than once; the last one counts
	Version   []byte
	ID        []byte
	Method    []byte
	Params    []byte
	Result    []byte
	Err       []byte
}

// IsResponse reports whether the message is the response to a request.
func (e *Envelope) IsResponse() bool { return e.Has&(HasResult|HasError) != 0 }

// Scanner fills an envelope. It is reusable; a scan only allocates what jsonv needs
// for keys.
type Scanner struct {
	Envelope
	visit func(string, []byte) error
}

// NewScanner returns a new scanner.
func NewScanner() *Scanner {
	s := &Scanner{}
	s.visit = s.member
	return s
}

func (s *Scanner) member(key string, val []byte) error {
	var m Members
	switch key {
	case "jsonrpc":
		m, s.Version = HasVersion, val
	case "id":
		m, s.ID = HasID, val
	case "method":
		m, s.Method = HasMethod, val
	case "params":
		m, s.Params = HasParams, val
	case "result":
		m, s.Result = HasResult, val
	case "error":
		m, s.Err = HasError, val
	default:
		return nil
	}
	s.Duplicate |= s.Has & m
	s.Has |= m
	return nil
}

// Scan parses the members of raw. The error is a *jsonv.SyntaxError.
func (s *Scanner) Scan(raw []byte) error {
	s.Envelope = Envelope{}
	return jsonv.VisitMembers(raw, s.visit)
}

// String lists the names of a set, for messages.
func (m Members) String() string {
	var out string
	for i, n := range [...]string{"jsonrpc", "id", "method", "params", "result", "error"} {
		if m&(1<<i) != 0 {
			if out != "" {
				out += ", "
			}
			out += `"` + n + `"`
		}
	}
	return out
}

// ByteOrderMark is the byte order mark of UTF-8.
var ByteOrderMark = []byte("\xef\xbb\xbf")

// Cleaned is a line without the bytes around the message.
type Cleaned struct {
	Raw  []byte
	BOM  bool // a byte order mark was removed
	NUL  bool // NUL bytes were removed
	UTF8 bool // Raw is valid UTF-8
}

// Clean removes what may surround a message in a line: white space, a byte order mark
// and NUL bytes.
func Clean(line []byte) Cleaned {
	c := Cleaned{Raw: line, UTF8: true}
	for {
		switch {
		case bytes.HasPrefix(c.Raw, ByteOrderMark):
			c.Raw, c.BOM = c.Raw[len(ByteOrderMark):], true
			continue
		case len(c.Raw) > 0 && c.Raw[0] == 0:
			c.Raw, c.NUL = bytes.TrimLeft(c.Raw, "\x00"), true
			continue
		case len(c.Raw) > 0 && c.Raw[len(c.Raw)-1] == 0:
			c.Raw, c.NUL = bytes.TrimRight(c.Raw, "\x00"), true
		}
		break
	}
	c.Raw = TrimSpace(c.Raw)
	c.UTF8 = utf8.Valid(c.Raw)
	return c
}
