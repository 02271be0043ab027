package secret

import (
	"html"
	"sort"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// A secret may be written with escapes: "\/" for "/", "\u00fc" for "ü", "%2F",
// "&quot;", and several levels of them for JSON inside JSON. There are too many
// variants to list, so the decoded text is searched too, and a secret in it is masked
// in the source.

// decoding is a text in which escapes of one kind are decoded, and the mapping to its
// source.
type decoding struct {
	text  string
	seams []seam
}

// seam defines where a part of the text comes from in the source: byte for byte, or
// from a single escape.
type seam struct {
	at, from int
	escape   bool
}

// mapBack returns the position of text[start:end] in the source. A position within an
// escape includes the whole escape.
func (v *decoding) mapBack(start, end int) (from, to int) {
	i := v.moveToSeam(start)
	from = v.seams[i].from
	if !v.seams[i].escape {
		from += start - v.seams[i].at
	}
	i = v.moveToSeam(end - 1)
	if v.seams[i].escape {
		return from, v.seams[i+1].from // an escape is always followed by a seam
	}
	return from, v.seams[i].from + end - v.seams[i].at
}

// moveToSeam returns the last seam at or before a position in the text.
func (v *decoding) moveToSeam(at int) int {
	return sort.Search(len(v.seams), func(i int) bool { return v.seams[i].at > at }) - 1
}

// decode decodes the escapes of s, each of which begins with one of marks. escape
// returns the text that the escape at the start of its argument represents, and its
// length, or 0 if it is not an escape. Without escapes, the text is s.
func decode(s, marks string, escape func(s string) (text string, n int)) decoding {
	d := decoding{text: s, seams: []seam{{}}}
	var out []byte
	done := 0 // s[:done] is in out
	for i := 0; ; {
		k := strings.IndexAny(s[i:], marks)
		if k < 0 {
			break
		}
		i += k
		text, n := escape(s[i:])
		if n == 0 {
			i++
			continue
		}
		if out == nil {
			out = make([]byte, 0, len(s))
		}
		out = append(out, s[done:i]...)
		at := len(out)
		out = append(out, text...)
		i += n
		d.seams = append(d.seams, seam{at, i - n, true}, seam{len(out), i, false})
		done = i
	}
	if out != nil {
		d.text = string(append(out, s[done:]...))
	}
	return d
}

// hasEscapes reports whether s has backslash escapes that [listEncodings] and the
// patterns do not cover: others than \"
// \r \t \b \f, or any below the second level of nesting.
func hasEscapes(s string) bool {
	for {
		i := strings.IndexByte(s, '\\')
		if i < 0 {
			return false
		}
		s = s[i:]
		n := 1
		for n < len(s) && s[n] == '\\' {
			n++
		}
		if n > 3 {
			return true
		}
		if n < len(s) {
			isCovered := strings.IndexByte(`"nrtbf`, s[n]) >= 0
			endsNested := n == 2 && s[n] == '"'
			if !isCovered || endsNested {
				return true
			}
		}
		s = s[min(n+1, len(s)):]
	}
}

// decodeEscapes decodes backslash escapes: those of JSON, and of the string literals of
// PHP, Python, Go, JavaScript, C and shells. \xfc is a byte of UTF-8 in some of them
// and a character in others (latin).
func decodeEscapes(s string, latin bool) decoding {
	return decode(s, `\`, func(s string) (string, int) { return unescape(s, latin) })
}

func unescape(s string, latin bool) (string, int) {
	if len(s) < 2 {
		return "", 1 // the text was truncated within an escape
	}
	if s[1] == 'u' || s[1] == 'U' {
		if text, n := decodeUnicodeEscape(s); n > 0 {
			return text, n
		}
	}
	if r, multibyte, rest, err := strconv.UnquoteChar(s[:min(len(s), 4)], 0); err == nil {
		n := min(len(s), 4) - len(rest)
		if multibyte || latin || r < utf8.RuneSelf {
			return string(r), n
		}
		return string([]byte{byte(r)}), n
	}
	switch {
	case s[1] == '\n', s[1] >= utf8.RuneSelf && cut(s, 1):
		return "", 2 - int(s[1]>>7)
	case s[1] == '0':
		return "\x00", 2
	}
	return s[1:2], 2
}

// decodeUnicodeEscape reads \u{…}, \UXXXXXXXX, and \uXXXX alone, as half of a surrogate
// pair or truncated.
func decodeUnicodeEscape(s string) (string, int) {
	if strings.HasPrefix(s, `\u{`) {
		if end := strings.IndexByte(s[:min(len(s), 12)], '}'); end > 3 {
			return decodeRune(s[3:end], end+1)
		}
		return "", 0
	}
	if s[1] == 'U' {
		if len(s) < 10 {
			return "", 0
		}
		return decodeRune(s[2:10], 10)
	}
	if m := scanSpan(s[:min(len(s), 6)], 2, hexDigit); m < 6 {
		if cut(s, m) {
			return "", m
		}
		return "", 0
	}
	if len(s) >= 12 && s[6] == '\\' && s[7] == 'u' {
		high, _ := strconv.ParseUint(s[2:6], 16, 16)
		low, err := strconv.ParseUint(s[8:12], 16, 16)
		r := utf16.DecodeRune(rune(high), rune(low))
		if err == nil && r != utf8.RuneError {
			return string(r), 12
		}
	}
	return decodeRune(s[2:6], 6)
}

// decodeRune returns a character by its hexadecimal number, in an escape of n bytes.
func decodeRune(digits string, n int) (string, int) {
	r, err := strconv.ParseUint(digits, 16, 31)
	if err != nil {
		return "", 0
	}
	return string(rune(r)), n
}

// hasURL reports whether s has percent escapes or entities of HTML.
func hasURL(s string) bool {
	for _, mark := range []string{"%", "&"} {
		for _, rest, ok := strings.Cut(s, mark); ok; _, rest, ok = strings.Cut(rest, mark) {
			if _, n := decodeURLEscape(s[len(s)-len(rest)-1:]); n > 0 {
				return true
			}
		}
	}
	return false
}

// decodeURLEscape reads a percent escape, %uXXXX (escape() of JavaScript) or an entity
// of HTML.
func decodeURLEscape(s string) (string, int) {
	switch {
	case s[0] == '&':
		if end := strings.IndexByte(s[:min(len(s), 12)], ';'); end > 1 {
			if text := html.UnescapeString(s[:end+1]); text != s[:end+1] {
				return text, end + 1
			}
		}
	case len(s) >= 6 && s[1] == 'u':
		return decodeRune(s[2:6], 6)
	case len(s) >= 3 && hexDigit(s[1]) && hexDigit(s[2]):
		n, _ := strconv.ParseUint(s[1:3], 16, 8)
		return string([]byte{byte(n)}), 3
	}
	return "", 0
}
