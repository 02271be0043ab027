package secret

import (
	"html"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// A secret may stand in a text with escapes: "\/" for "/", "\u00fc" for "ü",
// "%2F", "&quot;", and all of that again inside of JSON in JSON. Nobody can
// list all ways to write it, so the text is looked at once more with its
// escapes undone, and what is found there is masked where it came from.

// Limits of looking deeper, whatever a text holds.
const (
	maxDepth = 5
	maxViews = 16
)

// view is a text with its escapes of one kind undone, and the way back.
type view struct {
	text  string
	seams []seam
}

// seam says from where in the source the text comes from a place on: byte for
// byte, or all of it from one escape.
type seam struct {
	at, from int
	escape   bool
}

// back returns where text[start:end] stands in the source. An escape of which
// a part is meant is meant as a whole.
func (v *view) back(start, end int) (from, to int) {
	i := v.seam(start)
	from = v.seams[i].from
	if !v.seams[i].escape {
		from += start - v.seams[i].at
	}
	i = v.seam(end - 1)
	if v.seams[i].escape {
		return from, v.seams[i+1].from // an escape is always followed by a seam
	}
	return from, v.seams[i].from + end - v.seams[i].at
}

// seam returns the last seam at or before a place of the text.
func (v *view) seam(at int) int {
	lo, hi := 0, len(v.seams)
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; v.seams[mid].at <= at {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// undo builds the view of s in which every escape is replaced. next returns
// the first place from i on where one may begin, or -1; decode appends what
// the escape at the start of a text stands for and returns its length, 0 when
// it is none.
func undo(s string, next func(i int) int, decode func(out []byte, s string) ([]byte, int)) view {
	v := view{seams: []seam{{}}}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); {
		k := next(i)
		if k < 0 {
			out = append(out, s[i:]...)
			break
		}
		out = append(out, s[i:k]...)
		i = k
		at := len(out)
		var n int
		if out, n = decode(out, s[i:]); n == 0 {
			out = append(out, s[i])
			i++
			continue
		}
		v.seams = append(v.seams, seam{at, i, true}, seam{len(out), i + n, false})
		i += n
	}
	v.text = string(out)
	return v
}

// unusual reports whether s has escapes that the listed forms of a declared
// value and the patterns do not know: others than \" \n \r \t \b \f, or any
// below the second level of nesting.
func unusual(s string) bool {
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
		if n > 3 || n < len(s) && strings.IndexByte(`"nrtbf`, s[n]) < 0 || n == 2 && n < len(s) && s[n] == '"' {
			return true
		}
		s = s[min(n+1, len(s)):]
	}
}

// unescaped undoes backslash escapes: those of JSON, and of the string
// literals of PHP, Python, Go, JavaScript, C and shells. \xfc is a byte of
// UTF-8 in some of them and a character in others; latin takes it for a
// character always, and otherwise only where it can be no UTF-8.
func unescaped(s string, latin bool) view {
	next := func(i int) int {
		if k := strings.IndexByte(s[i:], '\\'); k >= 0 {
			return i + k
		}
		return -1
	}
	return undo(s, next, func(out []byte, s string) ([]byte, int) {
		return backslash(out, s, latin)
	})
}

func backslash(out []byte, s string, latin bool) ([]byte, int) {
	if len(s) < 2 {
		return out, 1 // the text was cut within an escape
	}
	switch c := s[1]; {
	case c == 'u' && len(s) > 2 && s[2] == '{':
		if end := strings.IndexByte(s[:min(len(s), 12)], '}'); end > 3 {
			if r, ok := hexRune(s[3:end]); ok {
				return utf8.AppendRune(out, r), end + 1
			}
		}
	case c == 'u':
		if r, n := unit(s); n > 0 {
			if low, m := unit(s[n:]); m > 0 && utf16.IsSurrogate(r) && utf16.DecodeRune(r, low) != utf8.RuneError {
				r, n = utf16.DecodeRune(r, low), n+m
			}
			return utf8.AppendRune(out, r), n
		}
		if n := span(s, 2, hexDigit); cut(s, n) {
			return out, n
		}
	case c == 'U' && len(s) >= 10:
		if r, ok := hexRune(s[2:10]); ok {
			return utf8.AppendRune(out, r), 10
		}
	case c == 'x' || c-'0' < 8:
		if out, n := byteEscape(out, s, latin); n > 0 {
			return out, n
		}
	case c == '\n':
		return out, 2
	case c >= utf8.RuneSelf:
		if cut(s, 1) {
			return out, 1
		}
	}
	if i := strings.IndexByte("nrtbfav0", s[1]); i >= 0 {
		return append(out, "\n\r\t\b\f\a\v\x00"[i]), 2
	}
	return append(out, s[1]), 2
}

// unit reads \uXXXX.
func unit(s string) (rune, int) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, 0
	}
	if r, ok := hexRune(s[2:6]); ok {
		return r, 6
	}
	return 0, 0
}

func hexRune(s string) (rune, bool) {
	n, err := strconv.ParseUint(s, 16, 31)
	return rune(n), err == nil
}

// byteEscape reads \xXX or \NNN, and more of them where they are one
// character of UTF-8.
func byteEscape(out []byte, s string, latin bool) ([]byte, int) {
	first, n := oneByte(s)
	if n == 0 || first < utf8.RuneSelf {
		return append(out, first), n
	}
	raw, end := []byte{first}, n
	for !latin && len(raw) < utf8.UTFMax && !utf8.Valid(raw) {
		c, n := oneByte(s[end:])
		if n == 0 {
			break
		}
		raw, end = append(raw, c), end+n
	}
	if !latin && utf8.Valid(raw) {
		return append(out, raw...), end
	}
	return utf8.AppendRune(out, rune(first)), n
}

func oneByte(s string) (byte, int) {
	if len(s) < 4 || s[0] != '\\' {
		return 0, 0
	}
	digits, base := s[1:4], 8
	if s[1] == 'x' {
		digits, base = s[2:4], 16
	}
	n, err := strconv.ParseUint(digits, base, 8)
	if err != nil {
		return 0, 0
	}
	return byte(n), 4
}

// encoded reports whether s has percent escapes or entities of HTML.
func encoded(s string) bool {
	for _, mark := range []byte("%&") {
		for rest := s; ; rest = rest[1:] {
			i := strings.IndexByte(rest, mark)
			if i < 0 {
				break
			}
			rest = rest[i:]
			if _, n := percent(nil, rest); n > 0 {
				return true
			}
		}
	}
	return false
}

// decoded undoes percent escapes and entities of HTML.
func decoded(s string) view {
	// Both marks are looked for once: each is known until it is passed.
	at := [2]int{-1, -1}
	return undo(s, func(i int) int {
		next := -1
		for k, mark := range []byte("%&") {
			if at[k] < i {
				if at[k] = strings.IndexByte(s[i:], mark) + i; at[k] < i {
					at[k] = len(s)
				}
			}
			if at[k] < len(s) && (next < 0 || at[k] < next) {
				next = at[k]
			}
		}
		return next
	}, percent)
}

func percent(out []byte, s string) ([]byte, int) {
	switch {
	case s[0] == '%' && len(s) >= 3 && hexDigit(s[1]) && hexDigit(s[2]):
		n, _ := strconv.ParseUint(s[1:3], 16, 8)
		return append(out, byte(n)), 3
	case s[0] == '%' && len(s) >= 6 && s[1] == 'u': // escape() of JavaScript
		if r, ok := hexRune(s[2:6]); ok {
			return utf8.AppendRune(out, r), 6
		}
	case s[0] == '&':
		if end := strings.IndexByte(s[:min(len(s), 12)], ';'); end > 1 {
			if text := html.UnescapeString(s[:end+1]); text != s[:end+1] {
				return append(out, text...), end + 1
			}
		}
	}
	return out, 0
}

// deeper adds what is found in s with its escapes undone. back leads from s to
// the text that spans are places in, the last view first; left is the number
// of views that may still be made.
func (t *table) deeper(spans []place, s string, back []*view, left *int) []place {
	if len(back) >= maxDepth {
		return spans
	}
	look := func(v view) {
		if v.text == s || *left == 0 {
			return
		}
		*left--
		path := append([]*view{&v}, back...)
		for _, p := range t.scan(nil, v.text) {
			for _, w := range path {
				p.start, p.end = w.back(p.start, p.end)
			}
			spans = append(spans, p)
		}
		spans = t.deeper(spans, v.text, path, left)
	}
	if unusual(s) {
		v := unescaped(s, false)
		if strings.Contains(s, `\x`) {
			if w := unescaped(s, true); w.text != v.text {
				look(w)
			}
		}
		look(v)
	}
	if encoded(s) {
		look(decoded(s))
	}
	return spans
}
