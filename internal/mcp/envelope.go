package mcp

import (
	"bytes"
	"errors"
	"strconv"
	"unicode/utf8"

	"mcptest/internal/jsonv"
)

// member is a bit set of the members of a JSON-RPC message.
type member uint8

const (
	hasVersion member = 1 << iota
	hasID
	hasMethod
	hasParams
	hasResult
	hasError
)

// envelope is a JSON-RPC message taken apart: spans of the frame, not copies.
type envelope struct {
	has     member
	twice   member // members that occurred more than once; the last one counts
	version []byte
	id      []byte
	method  []byte
	params  []byte
	result  []byte
	err     []byte
}

func (e *envelope) response() bool { return e.has&(hasResult|hasError) != 0 }

// scanner fills an envelope. It is reused so that a scan allocates nothing
// but what jsonv does for keys.
type scanner struct {
	envelope
	visit func(string, []byte) error
}

func newScanner() *scanner {
	s := &scanner{}
	s.visit = s.member
	return s
}

func (s *scanner) member(key string, val []byte) error {
	var m member
	switch key {
	case "jsonrpc":
		m, s.version = hasVersion, val
	case "id":
		m, s.id = hasID, val
	case "method":
		m, s.method = hasMethod, val
	case "params":
		m, s.params = hasParams, val
	case "result":
		m, s.result = hasResult, val
	case "error":
		m, s.err = hasError, val
	default:
		return nil
	}
	s.twice |= s.has & m
	s.has |= m
	return nil
}

// scan takes raw apart. The error is a *jsonv.SyntaxError.
func (s *scanner) scan(raw []byte) error {
	s.envelope = envelope{}
	return jsonv.EachMember(raw, s.visit)
}

// memberNames lists the names of a set, for messages.
func memberNames(m member) string {
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
		return ownID([]byte(textOf(raw)))
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || f != float64(int64(f)) || f < 1 || f > 1<<53 {
		return 0, false
	}
	return int64(f), true
}

// kindOf names the JSON type of valid JSON text.
func kindOf(raw []byte) jsonv.Kind {
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

// article puts "a" or "an" before the name of a JSON type.
func article(raw []byte) string {
	switch k := kindOf(raw); k {
	case jsonv.KindNull, jsonv.KindAbsent:
		return k.String()
	case jsonv.KindObject, jsonv.KindArray:
		return "an " + k.String()
	default:
		return "a " + k.String()
	}
}

// textOf returns the content of a JSON string, "" for anything else.
func textOf(raw []byte) string {
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
	if kindOf(raw) != jsonv.KindNumber {
		return false
	}
	if _, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
		return true
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	return err == nil && f == float64(int64(f))
}

// parseRPCError reads the error member of an answer as far as it is usable.
func parseRPCError(raw []byte) *RPCError {
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
			e.Message = textOf(val)
		case "data":
			e.Data = bytes.Clone(val)
		}
		return nil
	})
	return e
}

// memberOf returns the last member key of an object, nil when missing.
func memberOf(raw []byte, key string) []byte {
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

// elements cuts a valid JSON array into its elements.
func elements(raw []byte) [][]byte {
	raw = bytes.TrimSpace(raw)
	raw = raw[1 : len(raw)-1]
	var out [][]byte
	depth, start := 0, 0
	for i := 0; i < len(raw); i++ {
		switch raw[i] {
		case '"':
			for i++; raw[i] != '"'; i++ {
				if raw[i] == '\\' {
					i++
				}
			}
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case ',':
			if depth == 0 {
				out = append(out, bytes.TrimSpace(raw[start:i]))
				start = i + 1
			}
		}
	}
	if last := bytes.TrimSpace(raw[start:]); len(last) > 0 {
		out = append(out, last)
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

// syntaxText is the message of a jsonv error with its place in the line.
func syntaxText(err error) string {
	var s *jsonv.SyntaxError
	if errors.As(err, &s) {
		return s.Msg + " at byte " + strconv.Itoa(s.Offset) + " of the line"
	}
	return err.Error()
}
