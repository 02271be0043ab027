package reference

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"mcptest/internal/jsonv"
)

// The prototype runner is a JavaScript program, and some of its verdicts depend on
// how JavaScript compares, prints and walks values (ECMA-262). The functions here
// implement only those rules.

// Number returns a JSON number as JavaScript holds it: a float64, infinite if the
// literal is too large.
func Number(v jsonv.Value) float64 {
	f, _ := strconv.ParseFloat(v.Literal(), 64)
	return f
}

// Truthy implements JavaScript's ToBoolean.
func Truthy(v jsonv.Value) bool {
	switch v.Kind() {
	case jsonv.KindAbsent, jsonv.KindNull:
		return false
	case jsonv.KindBool:
		return v.Bool()
	case jsonv.KindNumber:
		return Number(v) != 0
	case jsonv.KindString:
		return v.Text() != ""
	}
	return true
}

// Identical implements JavaScript's === for two values from different JSON texts:
// lists and objects are never identical.
func Identical(a, b jsonv.Value) bool {
	switch a.Kind() {
	case jsonv.KindArray, jsonv.KindObject:
		return false
	case jsonv.KindNumber:
		return b.Kind() == jsonv.KindNumber && Number(a) == Number(b)
	}
	return jsonv.Equal(a, b)
}

// FormatNumber prints a number as JavaScript does (ECMA-262 section
// 6.1.6.1.20), which encoding/json does, too.
func FormatNumber(f float64) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	case f == 0:
		return "0" // -0, too
	}
	text, _ := json.Marshal(f)
	return string(text)
}

// Text implements JavaScript's String(value); absent is "undefined".
func Text(v jsonv.Value) string {
	switch v.Kind() {
	case jsonv.KindAbsent:
		return "undefined"
	case jsonv.KindNull:
		return "null"
	case jsonv.KindBool:
		return strconv.FormatBool(v.Bool())
	case jsonv.KindNumber:
		return FormatNumber(Number(v))
	case jsonv.KindString:
		return v.Text()
	case jsonv.KindObject:
		return "[object Object]"
	}
	var b strings.Builder
	for i, e := range v.Elems() {
		if i > 0 {
			b.WriteByte(',')
		}
		if k := e.Kind(); k != jsonv.KindNull && k != jsonv.KindAbsent {
			b.WriteString(Text(e))
		}
	}
	return b.String()
}

// Members returns an object's members as JavaScript sees them after
// JSON.parse: of a key written twice the last value takes the place of
// the first, and keys that are array indices come first, ascending.
func Members(v jsonv.Value) []jsonv.Member {
	out := make([]jsonv.Member, 0, v.Len())
	var seen map[string]int
	indices := 0
	for k, e := range v.Members() {
		i := -1
		if seen == nil && len(out) < 9 {
			i = slices.IndexFunc(out, func(m jsonv.Member) bool { return m.Key == k })
		} else {
			if seen == nil {
				seen = make(map[string]int, v.Len())
				for j, m := range out {
					seen[m.Key] = j
				}
			}
			if j, ok := seen[k]; ok {
				i = j
			}
		}
		if i >= 0 {
			out[i].Value = e
			continue
		}
		if _, ok := arrayIndex(k); ok {
			indices++
		}
		if seen != nil {
			seen[k] = len(out)
		}
		out = append(out, jsonv.Member{Key: k, Value: e})
	}
	if indices > 0 {
		slices.SortStableFunc(out, compareKeys)
	}
	return out
}

func compareKeys(a, b jsonv.Member) int {
	i, aok := arrayIndex(a.Key)
	j, bok := arrayIndex(b.Key)
	switch {
	case aok && bok && i < j, aok && !bok:
		return -1
	case aok && bok && i > j, bok && !aok:
		return 1
	}
	return 0
}

// arrayIndex reads a canonical array index, "0" to "4294967294".
func arrayIndex(s string) (int64, bool) {
	n, err := strconv.ParseUint(s, 10, 32)
	return int64(n), err == nil && (s == "0" || s[0] != '0') && n < math.MaxUint32
}

// Stringify implements JSON.stringify(value) for a value that came from JSON; for
// absent it returns "", which no value has.
func Stringify(v jsonv.Value) string {
	return string(appendStringified(nil, v))
}

func appendStringified(dst []byte, v jsonv.Value) []byte {
	switch v.Kind() {
	case jsonv.KindNull:
		return append(dst, "null"...)
	case jsonv.KindBool:
		return strconv.AppendBool(dst, v.Bool())
	case jsonv.KindNumber:
		f := Number(v)
		if math.IsInf(f, 0) {
			return append(dst, "null"...)
		}
		return append(dst, FormatNumber(f)...)
	case jsonv.KindString:
		return jsonv.AppendString(dst, v.Text())
	case jsonv.KindArray:
		dst = append(dst, '[')
		for i, e := range v.Elems() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendStringified(dst, e)
		}
		return append(dst, ']')
	case jsonv.KindObject:
		dst = append(dst, '{')
		for i, m := range Members(v) {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(jsonv.AppendString(dst, m.Key), ':')
			dst = appendStringified(dst, m.Value)
		}
		return append(dst, '}')
	}
	return dst
}

// units returns a text as the UTF-16 code units that JavaScript counts.
func units(s string) []uint16 {
	out := make([]uint16, 0, len(s))
	for i := 0; i < len(s); {
		if u, ok := jsonv.SurrogateAt(s[i:]); ok {
			out = append(out, uint16(u))
			i += 3
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		out = utf16.AppendRune(out, r)
		i += n
	}
	return out
}

// unitText returns the text of one UTF-16 code unit.
func unitText(u uint16) string {
	if u < 0xd800 || u > 0xdfff {
		return string(rune(u))
	}
	return string([]byte{0xed, 0x80 | byte(u>>6)&0x3f, 0x80 | byte(u)&0x3f})
}

// Walk follows a dot path as the prototype does: segments are member names,
// canonical list indices, or "length"; texts are indexed by UTF-16 unit.
// Names that JavaScript objects inherit are not members.
func Walk(v jsonv.Value, path string) jsonv.Value {
	for seg := range strings.SplitSeq(path, ".") {
		v = step(v, seg)
		if v.IsAbsent() {
			break
		}
	}
	return v
}

func step(v jsonv.Value, seg string) jsonv.Value {
	switch v.Kind() {
	case jsonv.KindObject:
		e, _ := v.Get(seg)
		return e
	case jsonv.KindArray:
		if seg == "length" {
			return jsonv.Int(int64(v.Len()))
		}
		if i, ok := arrayIndex(seg); ok && i < int64(v.Len()) {
			return v.At(int(i))
		}
	case jsonv.KindString:
		u := units(v.Text())
		if seg == "length" {
			return jsonv.Int(int64(len(u)))
		}
		if i, ok := arrayIndex(seg); ok && i < int64(len(u)) {
			return jsonv.String(unitText(u[i]))
		}
	}
	return jsonv.Value{}
}

// Normalize returns a text in a comparable form for the semantic rules of the
// reference set: lower case, every run outside [a-z0-9_] one space, trimmed.
func Normalize(s string) string {
	b := make([]byte, 0, len(s))
	gap := false
	put := func(c byte) {
		if gap && len(b) > 0 {
			b = append(b, ' ')
		}
		gap = false
		b = append(b, c)
	}
	for _, r := range s {
		switch {
		case 'A' <= r && r <= 'Z':
			put(byte(r) + 'a' - 'A')
		case 'a' <= r && r <= 'z', '0' <= r && r <= '9', r == '_':
			put(byte(r))
		case r == '\u0130': // lower case is i and a combining dot
			put('i')
			gap = true
		case r == '\u212a': // the Kelvin sign's lower case is k
			put('k')
		default:
			gap = true
		}
	}
	return string(b)
}

// Blank reports whether a JavaScript regular expression matches r with \s.
func Blank(r rune) bool {
	switch {
	case '\t' <= r && r <= '\r', r == ' ', r == 0xa0, r == 0x1680, 0x2000 <= r && r <= 0x200a:
		return true
	case r == 0x2028, r == 0x2029, r == 0x202f, r == 0x205f, r == 0x3000, r == 0xfeff:
		return true
	}
	return false
}

// Contains implements message.includes(part): a substring of a text, or an element of
// a list that is exactly that text.
func Contains(message jsonv.Value, part string) bool {
	if message.Kind() == jsonv.KindString {
		return strings.Contains(message.Text(), part)
	}
	return slices.ContainsFunc(message.List(), func(e jsonv.Value) bool { return e.Kind() == jsonv.KindString && e.Text() == part })
}

// LeaksLikeReference implements the prototype's test of a message: eight patterns,
// ASCII case ignored, white space as in JavaScript.
func LeaksLikeReference(s string) bool {
	low := lowerASCII(s)
	for _, part := range []string{"typeerror", "referenceerror", "syntaxerror", "/src/", "/node_modules/"} {
		if strings.Contains(low, part) {
			return true
		}
	}
	for _, ext := range []string{".ts:", ".js:"} {
		for rest := low; ; {
			i := strings.Index(rest, ext)
			if i < 0 {
				break
			}
			rest = rest[i+len(ext):]
			if rest != "" && '0' <= rest[0] && rest[0] <= '9' {
				return true
			}
		}
	}
	return wordAfterAt(low)
}

// wordAfterAt finds "at", white space, and then something else.
func wordAfterAt(s string) bool {
	for {
		i := strings.Index(s, "at")
		if i < 0 {
			return false
		}
		s = s[i+2:]
		rest := s
		for rest != "" {
			r, n := utf8.DecodeRuneInString(rest)
			if !Blank(r) {
				break
			}
			rest = rest[n:]
		}
		if rest != "" && len(rest) < len(s) {
			return true
		}
	}
}

func lowerASCII(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}
