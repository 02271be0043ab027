package result

import "unicode/utf8"

const hexDigits = "0123456789abcdef"

// careful marks the bytes that can't be copied into a JSON string without a
// look at them.
var careful = func() (t [256]bool) {
	for c := range t {
		t[c] = c < 0x20 || c >= 0x7f || c == '"' || c == '\\' || c == '#'
	}
	return t
}()

// appendString appends s as a JSON string. What RFC 8259 allows but a
// terminal or a CI log would act on is written as an escape too: DEL, C1,
// bidirectional controls and other invisible characters, and the second # of
// "##". Bytes that are not UTF-8 become U+FFFD, as in encoding/json; a
// Recorder has made them visible before.
func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if !careful[c] {
			i++
			continue
		}
		if c == '#' && (i == 0 || s[i-1] != '#') {
			i++
			continue
		}
		if c < utf8.RuneSelf {
			dst = append(dst, s[start:i]...)
			dst = appendEscape(dst, c)
			i++
			start = i
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 || unseen(r) {
			dst = append(dst, s[start:i]...)
			if r == utf8.RuneError {
				dst = utf8.AppendRune(dst, r)
			} else {
				dst = appendRune(dst, r)
			}
			start = i + n
		}
		i += n
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}

func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	case '\b':
		return append(dst, '\\', 'b')
	case '\f':
		return append(dst, '\\', 'f')
	}
	return appendRune(dst, rune(c))
}

func appendRune(dst []byte, r rune) []byte {
	if r > 0xffff {
		r -= 0x10000
		dst = appendRune(dst, 0xd800+r>>10)
		r = 0xdc00 + r&0x3ff
	}
	return append(dst, '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
}

// unseen reports whether a character is not shown or changes how others are.
func unseen(r rune) bool {
	switch {
	case r < 0xa0:
		return r >= 0x7f || r < 0x20
	case r == 0xad, r == 0x61c, r == 0xfeff:
		return true
	case r >= 0x200b && r <= 0x200f, r >= 0x2028 && r <= 0x202e, r >= 0x2060 && r <= 0x206f:
		return true
	case r >= 0xfff9 && r <= 0xfffb, r >= 0xe0000 && r <= 0xe0fff:
		return true
	}
	return false
}
