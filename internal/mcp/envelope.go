package mcp

import (
	"bytes"
	"errors"
	"strconv"
	"unicode/utf8"

	"mcptest/internal/jsonv"
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

// Envelope is a JSON-RPC message taken apart: spans of the frame, not copies.
type Envelope struct {
	Has     Members // which of the members below there are
	twice   Members // members that occurred more than once; the last one counts
	version []byte
	ID      []byte
	Method  []byte
	Params  []byte
	Result  []byte
	Err     []byte
}

// IsResponse reports whether the message is the response to a request.
func (e *Envelope) IsResponse() bool { return e.Has&(HasResult|HasError) != 0 }

// Scanner fills an envelope. It is reused so that a scan allocates nothing
// but what jsonv does for keys.
type Scanner struct {
	Envelope
	visit func(string, []byte) error
}

// NewScanner returns a scanner that has scanned nothing.
func NewScanner() *Scanner {
	s := &Scanner{}
	s.visit = s.member
	return s
}

func (s *Scanner) member(key string, val []byte) error {
	var m Members
	switch key {
	case "jsonrpc":
		m, s.version = HasVersion, val
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
	s.twice |= s.Has & m
	s.Has |= m
	return nil
}

// Scan takes raw apart. The error is a *jsonv.SyntaxError.
func (s *Scanner) Scan(raw []byte) error {
	s.Envelope = Envelope{}
	return jsonv.EachMember(raw, s.visit)
}

// memberNames lists the names of a set, for messages.
func memberNames(m Members) string {
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

// ownID reads an id as we write it: a positive integer without sign, fraction
// or exponent.
func ownID(raw []byte) (int64, bool) {
	if len(raw) == 0 || len(raw) > 18 || raw[0] == '0' {
		return 0, false
	}
	var n int64
	for _, c := range raw {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, true
}

// evidentID guesses which of our ids is meant by one of another form: "3",
// 3.0, 3e0, [3].
func evidentID(raw []byte) (int64, bool) {
	raw = bytes.Trim(raw, "[] ")
	if len(raw) > 1 && raw[0] == '"' {
		return ownID([]byte(TextOf(raw)))
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || f != float64(int64(f)) || f < 1 || f > 1<<53 {
		return 0, false
	}
	return int64(f), true
}

// KindOf names the JSON type of valid JSON text.
func KindOf(raw []byte) jsonv.Kind {
	if len(raw) == 0 {
		return jsonv.KindAbsent
	}
	switch raw[0] {
	case '{':
		return jsonv.KindObject
	case '[':
		return jsonv.KindArray
	case '"':
		return jsonv.KindString
	case 't', 'f':
		return jsonv.KindBool
	case 'n':
		return jsonv.KindNull
	default:
		return jsonv.KindNumber
	}
}

// TextOf returns the content of a JSON string, "" for anything else.
func TextOf(raw []byte) string {
	if len(raw) < 2 || raw[0] != '"' {
		return ""
	}
	if inner := raw[1 : len(raw)-1]; bytes.IndexByte(inner, '\\') < 0 {
		return string(inner)
	}
	v, err := jsonv.Parse(raw)
	if err != nil {
		return ""
	}
	return v.Text()
}

// isInteger reports whether a JSON value is a number without a fraction.
func isInteger(raw []byte) bool {
	if KindOf(raw) != jsonv.KindNumber {
		return false
	}
	if _, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
		return true
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	return err == nil && f == float64(int64(f))
}

// ParseRPCError reads the error member of an answer as far as it is usable.
func ParseRPCError(raw []byte) *RPCError {
	e := &RPCError{}
	_ = jsonv.EachMember(raw, func(k string, val []byte) error {
		switch k {
		case "code":
			if n, err := strconv.ParseInt(string(val), 10, 64); err == nil {
				e.Code = n
			} else if f, err := strconv.ParseFloat(string(val), 64); err == nil {
				e.Code = int64(f)
			}
		case "message":
			e.Message = TextOf(val)
		case "data":
			e.Data = bytes.Clone(val)
		}
		return nil
	})
	return e
}

// MemberOf returns the last member key of an object, nil when missing.
func MemberOf(raw []byte, key string) []byte {
	var out []byte
	if err := jsonv.EachMember(raw, func(k string, val []byte) error {
		if k == key {
			out = val
		}
		return nil
	}); err != nil {
		return nil
	}
	return out
}

var utf8BOM = []byte("\xef\xbb\xbf")

// cleaned is a line without what may stand around a message, and what that was.
type cleaned struct {
	raw      []byte
	bom, nul bool
	utf8     bool
}

// TrimMessage cuts what may surround a message in a line: white space, a byte
// order mark and NUL bytes.
func TrimMessage(line []byte) []byte { return clean(line).raw }

func clean(line []byte) cleaned {
	c := cleaned{raw: line, utf8: true}
	for {
		switch {
		case bytes.HasPrefix(c.raw, utf8BOM):
			c.raw, c.bom = c.raw[len(utf8BOM):], true
			continue
		case len(c.raw) > 0 && c.raw[0] == 0:
			c.raw, c.nul = bytes.TrimLeft(c.raw, "\x00"), true
			continue
		case len(c.raw) > 0 && c.raw[len(c.raw)-1] == 0:
			c.raw, c.nul = bytes.TrimRight(c.raw, "\x00"), true
		}
		break
	}
	c.raw = trimSpace(c.raw)
	c.utf8 = utf8.Valid(c.raw)
	return c
}

// trimSpace cuts the white space JSON knows; bytes.TrimSpace knows more.
func trimSpace(b []byte) []byte {
	for len(b) > 0 && isSpace(b[0]) {
		b = b[1:]
	}
	for len(b) > 0 && isSpace(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	return b
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// SyntaxText is the message of a jsonv error with its place in the line.
func SyntaxText(err error) string {
	var s *jsonv.SyntaxError
	if errors.As(err, &s) {
		return s.Msg + " at byte " + strconv.Itoa(s.Offset) + " of the line"
	}
	return err.Error()
}
