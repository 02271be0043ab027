package result

import (
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// scanner reads JSON text of a known shape. After the first fault every
// method does nothing and returns zero values, so that callers look at err
// once, at the end. Strings without escapes share memory with the text.
type scanner struct {
	s     string
	i     int
	depth int
	err   *scanError
}

// scanError is a fault at an offset of the text.
type scanError struct {
	offset int
	msg    string
}

// maxDepth bounds the nesting of what is read.
const maxDepth = 200

func (d *scanner) fail(format string, args ...any) {
	if d.err == nil {
		d.err = &scanError{d.i, fmt.Sprintf(format, args...)}
		d.i = len(d.s)
	}
}

// next skips white space and returns the byte that follows, 0 at the end.
func (d *scanner) next() byte {
	for ; d.i < len(d.s); d.i++ {
		switch c := d.s[d.i]; c {
		case ' ', '\t', '\n', '\r':
		default:
			return c
		}
	}
	return 0
}

func (d *scanner) want(c byte) bool {
	if got := d.next(); got != c {
		d.fail("want %q, got %s", c, d.seen())
		return false
	}
	d.i++
	return true
}

// seen names what stands at the current place, for messages.
func (d *scanner) seen() string {
	switch c := d.next(); {
	case d.i >= len(d.s):
		return "the end of the text"
	case c == '"':
		return "a string"
	case c == '{':
		return "an object"
	case c == '[':
		return "a list"
	case c == 't', c == 'f':
		return "true or false"
	case c == 'n':
		return "null"
	case c == '-' || c-'0' < 10:
		return "a number"
	default:
		return strconv.QuoteRune(rune(c))
	}
}

// null consumes a null and reports whether there was one: every member may
// be null, which means that it is absent.
func (d *scanner) null() bool {
	if d.next() == 'n' && len(d.s)-d.i >= 4 && d.s[d.i:d.i+4] == "null" {
		d.i += 4
		return true
	}
	return false
}

// object calls member with each name; member must consume the value.
func (d *scanner) object(member func(name string)) {
	if d.null() || !d.enter('{') {
		return
	}
	for first := true; d.err == nil; first = false {
		if d.next() == '}' {
			d.i++
			break
		}
		if !first && !d.want(',') {
			break
		}
		if d.next() != '"' {
			d.fail("want a member's name in quotes, got %s", d.seen())
			break
		}
		name := d.str()
		if d.want(':') {
			member(name)
		}
	}
	d.depth--
}

// array calls item for each element; item must consume it.
func (d *scanner) array(item func()) {
	if d.null() || !d.enter('[') {
		return
	}
	for first := true; d.err == nil; first = false {
		if d.next() == ']' {
			d.i++
			break
		}
		if !first && !d.want(',') {
			break
		}
		item()
	}
	d.depth--
}

func (d *scanner) enter(c byte) bool {
	if !d.want(c) {
		return false
	}
	if d.depth++; d.depth > maxDepth {
		d.fail("nested more than %d deep", maxDepth)
		return false
	}
	return true
}

func (d *scanner) str() string {
	if d.null() || !d.want('"') {
		return ""
	}
	start := d.i
	for i := start; i < len(d.s); i++ {
		switch c := d.s[i]; {
		case c == '"':
			d.i = i + 1
			return d.s[start:i]
		case c == '\\':
			return d.escaped(start, i)
		case c < 0x20:
			d.i = i
			d.fail("a control character inside a string")
			return ""
		}
	}
	d.i = len(d.s)
	d.fail("the text ends inside a string")
	return ""
}

// escaped reads the rest of a string whose first escape is at i.
func (d *scanner) escaped(start, i int) string {
	buf := append(make([]byte, 0, len(d.s[start:i])+64), d.s[start:i]...)
	for i < len(d.s) {
		c := d.s[i]
		switch {
		case c == '"':
			d.i = i + 1
			return string(buf)
		case c == '\\':
			d.i = i
			var n int
			if buf, n = unescape(buf, d.s[i:]); n == 0 {
				d.fail("a bad escape inside a string")
				return ""
			}
			i += n
		case c < 0x20:
			d.i = i
			d.fail("a control character inside a string")
			return ""
		default:
			buf = append(buf, c)
			i++
		}
	}
	d.i = len(d.s)
	d.fail("the text ends inside a string")
	return ""
}

// unescape appends what the escape sequence at the start of s stands for and
// returns its length, 0 for a bad one. Half of a surrogate pair becomes the
// text of its escape: it has no UTF-8 form.
func unescape(dst []byte, s string) ([]byte, int) {
	if len(s) < 2 {
		return dst, 0
	}
	switch s[1] {
	case '"', '\\', '/':
		return append(dst, s[1]), 2
	case 'b':
		return append(dst, '\b'), 2
	case 'f':
		return append(dst, '\f'), 2
	case 'n':
		return append(dst, '\n'), 2
	case 'r':
		return append(dst, '\r'), 2
	case 't':
		return append(dst, '\t'), 2
	case 'u':
		r, ok := hex4(s)
		if !ok {
			return dst, 0
		}
		if !utf16.IsSurrogate(r) {
			return utf8.AppendRune(dst, r), 6
		}
		if low, ok := hex4(s[6:]); ok {
			if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
				return utf8.AppendRune(dst, pair), 12
			}
		}
		return append(dst, s[:6]...), 6
	}
	return dst, 0
}

// hex4 reads the \uXXXX at the start of s.
func hex4(s string) (rune, bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(s[2:6], 16, 16)
	return rune(n), err == nil
}

func (d *scanner) float() float64 {
	if d.null() {
		return 0
	}
	lit := d.number()
	f, err := strconv.ParseFloat(lit, 64)
	if err != nil && d.err == nil {
		d.fail("want a number, got %q", lit)
	}
	return f
}

func (d *scanner) optFloat() *float64 {
	if d.null() {
		return nil
	}
	f := d.float()
	return &f
}

func (d *scanner) int() int { return int(d.int64()) }

func (d *scanner) int64() int64 {
	if d.null() {
		return 0
	}
	lit := d.number()
	n, err := strconv.ParseInt(lit, 10, 64)
	if err != nil && d.err == nil {
		d.fail("want a whole number, got %s", lit)
	}
	return n
}

// number returns the literal of the number that follows.
func (d *scanner) number() string {
	if c := d.next(); c != '-' && c-'0' >= 10 {
		d.fail("want a number, got %s", d.seen())
		return ""
	}
	start := d.i
	for d.i < len(d.s) {
		switch c := d.s[d.i]; {
		case c-'0' < 10, c == '-', c == '+', c == '.', c == 'e', c == 'E':
			d.i++
			continue
		}
		break
	}
	return d.s[start:d.i]
}

func (d *scanner) bool() bool {
	d.next()
	rest := d.s[d.i:]
	switch {
	case len(rest) >= 4 && rest[:4] == "true":
		d.i += 4
		return true
	case len(rest) >= 5 && rest[:5] == "false":
		d.i += 5
	case d.null():
	default:
		d.fail("want true or false, got %s", d.seen())
	}
	return false
}

// skip consumes any value.
func (d *scanner) skip() {
	switch c := d.next(); {
	case c == '{':
		d.object(func(string) { d.skip() })
	case c == '[':
		d.array(d.skip)
	case c == '"':
		d.str()
	case c == 't', c == 'f':
		d.bool()
	case c == 'n':
		if !d.null() {
			d.fail("want a value, got %s", d.seen())
		}
	default:
		d.float()
	}
}

// raw consumes any value and returns its text.
func (d *scanner) raw() string {
	d.next()
	start := d.i
	d.skip()
	if d.err != nil {
		return ""
	}
	return d.s[start:d.i]
}

// strs reads a list of strings.
func (d *scanner) strs() (out []string) {
	d.array(func() { out = append(out, d.str()) })
	return out
}

// items reads a list of objects.
func items[T any](d *scanner, one func(*scanner, *T)) (out []T) {
	d.array(func() {
		var v T
		one(d, &v)
		out = append(out, v)
	})
	return out
}
