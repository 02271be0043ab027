package clientconfig

import (
	"bytes"
	"errors"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/protocol"
)

// stripComments replaces comments, trailing commas and a byte order mark by spaces,
// so that every value stays at its offset.
func stripComments(src []byte) ([]byte, error) {
	out := bytes.Clone(src)
	if bytes.HasPrefix(out, protocol.ByteOrderMark) {
		blankOut(out[:len(protocol.ByteOrderMark)])
	}
	comma := -1 // offset of a comma that nothing has followed yet
	for i := 0; i < len(out); i++ {
		c := out[i]
		switch {
		case c == '"':
			for i++; i < len(out) && out[i] != '"'; i++ {
				if out[i] == '\\' {
					i++
				}
			}
			comma = -1
		case bytes.HasPrefix(out[i:], []byte("//")):
			end := bytes.IndexByte(out[i:], '\n')
			if end < 0 {
				end = len(out) - i
			}
			blankOut(out[i : i+end])
			i += end - 1
		case bytes.HasPrefix(out[i:], []byte("/*")):
			end := bytes.Index(out[i+2:], []byte("*/"))
			if end < 0 {
				return nil, errors.New("a comment is not closed")
			}
			blankOut(out[i : i+end+4])
			i += end + 3
		case c == ',':
			comma = i
		case c == '}' || c == ']':
			if comma >= 0 {
				out[comma] = ' '
			}
			comma = -1
		case c != ' ' && c != '\t' && c != '\r' && c != '\n':
			comma = -1
		}
	}
	if err := jsonv.Valid(bytes.TrimSpace(out)); err != nil {
		return nil, err
	}
	return out, nil
}

// blankOut overwrites a piece with spaces and keeps its lines.
func blankOut(b []byte) {
	for i := range b {
		if b[i] != '\n' && b[i] != '\r' {
			b[i] = ' '
		}
	}
}

// span is a piece of a file.
type span struct{ from, to int }

// findMember finds the value of a member of the object at a place.
func findMember(doc []byte, object span, key string) (span, bool) {
	whole := doc[object.from:object.to:object.to]
	part := protocol.MemberOf(whole, key)
	if part == nil {
		return span{}, false
	}
	for from := 0; ; from++ { // the last place at which it can be
		at := bytes.Index(whole[from:], part)
		if at < 0 {
			return span{}, false
		}
		if from += at; &whole[from] == &part[0] {
			return span{object.from + from, object.from + from + len(part)}, true
		}
	}
}
