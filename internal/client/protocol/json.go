package protocol

import (
	"bytes"
	"errors"
	"strconv"

	"mcptest/internal/base/jsonv"
)

// KindOf returns the JSON type of valid JSON text.
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

// TextOf returns the content of a JSON string, or "" for another value.
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

// IsInteger reports whether a JSON value is a number without a fraction.
func IsInteger(raw []byte) bool {
	if KindOf(raw) != jsonv.KindNumber {
		return false
	}
	if _, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
		return true
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	return err == nil && f == float64(int64(f))
}

// MemberOf returns the last member key of an object, or nil.
func MemberOf(raw []byte, key string) []byte {
	var out []byte
	if err := jsonv.VisitMembers(raw, func(k string, val []byte) error {
		if k == key {
			out = val
		}
		return nil
	}); err != nil {
		return nil
	}
	return out
}

// TrimSpace removes the white space of JSON; bytes.TrimSpace removes more.
func TrimSpace(b []byte) []byte { return bytes.Trim(b, " \t\r\n") }

// SyntaxText returns the message of a jsonv error with its position in the line.
func SyntaxText(err error) string {
	if s, ok := errors.AsType[*jsonv.SyntaxError](err); ok {
		return s.Msg + " at byte " + strconv.Itoa(s.Offset) + " of the line"
	}
	return err.Error()
}
