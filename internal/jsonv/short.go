package jsonv

import (
	"unicode/utf8"

	"mcptest/internal/display"
)

// Short returns the value for a message: compact JSON of at most limit columns,
// cut with "…" when it is longer; "absent" when there is no value.
// Its cost depends on limit, not on the size of the value.
func (v Value) Short(limit int) string {
	if v.kind == KindAbsent {
		return "absent"
	}
	limit = max(limit, 1)
	return display.Truncate(string(v.appendUpTo(nil, limit*display.MaxBytes)), limit)
}

// appendUpTo is Append that may stop once dst is longer than size bytes.
func (v Value) appendUpTo(dst []byte, size int) []byte {
	switch v.kind {
	case KindNumber:
		return append(dst, v.s[:min(len(v.s), size+1)]...)
	case KindString:
		return appendStringUpTo(dst, v.s, size)
	case KindArray, KindObject:
	default:
		return v.Append(dst)
	}
	open, end := byte('['), byte(']')
	if v.kind == KindObject {
		open, end = '{', '}'
	}
	dst = append(dst, open)
	for i := range v.c.len() {
		if len(dst) > size {
			return dst
		}
		if i > 0 {
			dst = append(dst, ',')
		}
		if v.kind == KindObject {
			dst = append(appendStringUpTo(dst, v.c.keys[i], size), ':')
		}
		dst = v.c.vals[i].appendUpTo(dst, size)
	}
	return append(dst, end)
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
