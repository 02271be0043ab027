package jsonv

import (
	"math"
	"unicode/utf8"

	"mcptest/internal/base/display"
)

// Append appends the value as compact JSON, with members and number literals as they
// were written. An absent value is written as null. The text is always valid UTF-8: a
// lone surrogate is written as its \udXXX escape, a byte that is not UTF-8 as \ufffd.
func (v Value) Append(dst []byte) []byte {
	switch v.kind {
	case KindBool:
		if v.b {
			return append(dst, "true"...)
		}
		return append(dst, "false"...)
	case KindNumber:
		return append(dst, v.s...)
	case KindString:
		return AppendString(dst, v.s)
	case KindArray:
		dst = append(dst, '[')
		for i, e := range v.Elems() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = e.Append(dst)
		}
		return append(dst, ']')
	case KindObject:
		dst = append(dst, '{')
		for i := range v.c.len() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(AppendString(dst, v.c.keys[i]), ':')
			dst = v.c.vals[i].Append(dst)
		}
		return append(dst, '}')
	}
	return append(dst, "null"...)
}

// Indent returns the value as indented JSON. Each line except the first begins with
// prefix and one indent for each level, as in json.Indent.
func (v Value) Indent(prefix, indent string) []byte {
	return v.write(nil, "\n"+prefix, indent, math.MaxInt-utf8.UTFMax)
}

// write appends the value. line is the line break with the indentation of this level,
// "" for compact JSON. It may stop once dst is longer than size bytes.
func (v Value) write(dst []byte, line, indent string, size int) []byte {
	open, end := byte('['), byte(']')
	switch v.kind {
	case KindNumber:
		return append(dst, v.s[:min(len(v.s), size+1)]...)
	case KindString:
		return appendStringUpTo(dst, v.s, size)
	case KindArray:
	case KindObject:
		open, end = '{', '}'
	default:
		return v.Append(dst)
	}
	inner, colon := line, ":"
	if line != "" {
		inner, colon = line+indent, ": "
	}
	dst = append(dst, open)
	for i := range v.c.len() {
		if len(dst) > size {
			return dst
		}
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, inner...)
		if v.kind == KindObject {
			dst = append(appendStringUpTo(dst, v.c.keys[i], size), colon...)
		}
		dst = v.c.vals[i].write(dst, inner, indent, size)
	}
	if v.c.len() > 0 {
		dst = append(dst, line...)
	}
	return append(dst, end)
}

const hexDigits = "0123456789abcdef"

// plainByte reports whether c is written as itself in a JSON string.
func plainByte(c byte) bool { return c >= 0x20 && c != '"' && c != '\\' && c < utf8.RuneSelf }

// AppendString appends s as a JSON string in quotes. It escapes only the characters
// that RFC 8259 section 7 requires to be escaped.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if plainByte(c) {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			if r != utf8.RuneError || size > 1 {
				i += size
				continue
			}
			dst = append(dst, s[start:i]...)
			if r, ok := DecodeSurrogate(s[i:]); ok {
				dst = appendEscape(dst, r)
				i += 3
			} else {
				dst = append(dst, `\ufffd`...)
				i++
			}
			start = i
			continue
		}
		dst = append(dst, s[start:i]...)
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\b':
			dst = append(dst, '\\', 'b')
		case '\f':
			dst = append(dst, '\\', 'f')
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = appendEscape(dst, rune(c))
		}
		i++
		start = i
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}

func appendEscape(dst []byte, r rune) []byte {
	return append(dst, '\\', 'u', hexDigits[r>>12&0xF], hexDigits[r>>8&0xF], hexDigits[r>>4&0xF], hexDigits[r&0xF])
}

// Short returns the value for use in a message: compact JSON of at most limit
// columns, cut with "…" when it is longer, or "absent" when there is no value. Its
// cost depends on limit, not on the size of the value.
func (v Value) Short(limit int) string {
	if v.kind == KindAbsent {
		return "absent"
	}
	limit = max(limit, 1)
	return display.Truncate(string(v.write(nil, "", "", limit*display.MaxBytes)), limit)
}

func appendStringUpTo(dst []byte, s string, size int) []byte {
	if len(s) > size {
		cut := size
		for cut < len(s) && cut < size+3 && !utf8.RuneStart(s[cut]) {
			cut++
		}
		s = s[:cut]
	}
	return AppendString(dst, s)
}
