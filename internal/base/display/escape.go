package display

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// IsHidden reports whether r is invisible or changes the display of the surrounding
// text: controls, bidirectional controls, zero-width characters, fillers, line and
// paragraph separators, tags, variation selectors, private use and noncharacters.
// Joiners and the emoji selector U+FE0F count, too; Escape keeps them where they
// belong.
func IsHidden(r rune) bool {
	switch {
	case r < 0xad:
		return r < 0x20 || r >= 0x7f && r < 0xa0
	case r == 0xad, r == 0x34f, r == 0x61c, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5:
		return true
	case r >= 0x180b && r <= 0x180f:
		return true
	case r >= 0x200b && r <= 0x200f, r >= 0x2028 && r <= 0x202e, r >= 0x2060 && r <= 0x206f:
		return true
	case r == 0x2800, r == 0x3164, r == 0xfeff, r == 0xffa0:
		return true
	case r >= 0xfdd0 && r <= 0xfdef, r >= 0xfe00 && r <= 0xfe0f, r >= 0xfff0 && r <= 0xfffb:
		return true
	case r >= 0xe000 && r <= 0xf8ff, r >= 0xe0000, r&0xfffe == 0xfffe:
		return true
	case r >= 0x13430 && r <= 0x1343f, r >= 0x1bca0 && r <= 0x1bca3, r >= 0x1d173 && r <= 0x1d17a:
		return true
	}
	return false
}

// Escape makes s safe to print on one line. Hidden characters and bytes that are not
// UTF-8 are replaced with the escape sequence a programmer would write: line feed
// with
// , escape with \x1b, an invalid byte with \xff, the direction override with \u202e.
// Characters that join an emoji or the letters of some scripts are kept. A backslash
// is not escaped: the result is for reading, not for decoding.
func Escape(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return IsHidden(r) || r == utf8.RuneError }) {
		return s
	}
	out := make([]byte, 0, len(s)+16)
	var last rune // the previous character, if it is shown
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		was := last
		last = r
		switch {
		case r == utf8.RuneError && n == 1:
			last = 0
			out, n = AppendInvalid(out, s[i:])
		case IsHidden(r) && !IsJoiner(was, r, s[i+n:]):
			last = 0
			out = AppendEscape(out, r)
		default:
			out = append(out, s[i:i+n]...)
		}
		i += n
	}
	return string(out)
}

// IsJoiner reports whether r, for which Hidden returns true, is part of its character or
// word, between the character before and the text after it: the selector of a symbol
// (⚠️, ✔︎, 1️⃣), a joiner between two characters of emoji or of a script that has
// joiners. Next to ASCII they only hide text.
func IsJoiner(before, r rune, after string) bool {
	next, _ := utf8.DecodeRuneInString(after)
	switch r {
	case 0xfe0e, 0xfe0f:
		return before > 0xa0 && (unicode.IsSymbol(before) || unicode.IsPunct(before) || before == 'ℹ') || before > 0 && next == 0x20e3
	case 0x200c, 0x200d:
		return before > 0xa0 && next > 0xa0 && next != utf8.RuneError && !IsHidden(next) && before != 0x200c && before != 0x200d
	}
	return false
}

// AppendEscape appends the escape sequence of r.
func AppendEscape(dst []byte, r rune) []byte {
	switch {
	case r == '\n':
		return append(dst, `\n`...)
	case r == '\r':
		return append(dst, `\r`...)
	case r == '\t':
		return append(dst, `\t`...)
	case r < 0xa0:
		return fmt.Appendf(dst, `\x%02x`, r)
	case r > 0xffff:
		return fmt.Appendf(dst, `\U%08x`, r)
	}
	return fmt.Appendf(dst, `\u%04x`, r)
}

// AppendJSONEscape appends a character as the \u escapes of a JSON string.
func AppendJSONEscape(dst []byte, r rune) []byte {
	if r > 0xffff {
		high, low := utf16.EncodeRune(r)
		return fmt.Appendf(dst, `\u%04x\u%04x`, high, low)
	}
	return fmt.Appendf(dst, `\u%04x`, r)
}

// JSON returns a JSON text with its hidden characters as \u escapes. Outside strings,
// JSON contains no hidden characters except line feeds, which are kept.
func JSON(s string) string {
	var b strings.Builder
	for i, r := range s {
		if r != '\n' && IsHidden(r) {
			b.Write(AppendJSONEscape(nil, r))
			continue
		}
		_, n := utf8.DecodeRuneInString(s[i:]) // r does not reveal which byte was invalid
		b.WriteString(s[i : i+n])
	}
	return b.String()
}

// ShowInvalid returns s with the bytes that are not UTF-8 written as \xff, and
// halves of surrogate pairs (which are not UTF-8 either) as \ud800.
func ShowInvalid(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	out := make([]byte, 0, len(s)+16)
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 {
			out, n = AppendInvalid(out, s[i:])
		} else {
			out = append(out, s[i:i+n]...)
		}
		i += n
	}
	return string(out)
}

// AppendInvalid appends the invalid UTF-8 at the start of s, which is not empty: half
// a surrogate pair as \ud800, any other byte as \xff. It returns the number of bytes
// that it has consumed.
func AppendInvalid(dst []byte, s string) ([]byte, int) {
	if len(s) >= 3 && s[0] == 0xed && s[1] >= 0xa0 && s[1] <= 0xbf && s[2]&0xc0 == 0x80 {
		return fmt.Appendf(dst, `\u%04x`, rune(s[0]&0x0f)<<12|rune(s[1]&0x3f)<<6|rune(s[2]&0x3f)), 3
	}
	return fmt.Appendf(dst, `\x%02x`, s[0]), 1
}
