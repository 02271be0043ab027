package reference

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lazy"
)

// The prototype runner is a JavaScript program, and some of its verdicts depend on
// how JavaScript compares, prints and walks values (ECMA-262). The functions here
// implement only those rules.

// IsTruthy implements JavaScript's ToBoolean.
func IsTruthy(v jsonv.Value) bool {
	switch v.Kind() {
	case jsonv.KindAbsent, jsonv.KindNull:
		return false
	case jsonv.KindBool:
		return v.Bool()
	case jsonv.KindNumber:
		return v.Float64() != 0
	case jsonv.KindString:
		return v.Text() != ""
	}
	return true
}

// IsIdentical implements JavaScript's === for two values from different JSON texts:
// lists and objects are never identical.
func IsIdentical(a, b jsonv.Value) bool {
	switch a.Kind() {
	case jsonv.KindArray, jsonv.KindObject:
		return false
	case jsonv.KindNumber:
		return b.Kind() == jsonv.KindNumber && a.Float64() == b.Float64()
	}
	return jsonv.Equal(a, b)
}

// FormatNumber prints a number as JavaScript does (ECMA-262 section
// 6.1.6.1.20), as [jsonv.Float] does.
func FormatNumber(f float64) string {
	switch {
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	case f == 0:
		return "0" // -0, too
	}
	return jsonv.Float(f).Literal()
}

// FormatText implements JavaScript's String(value); absent is "undefined".
func FormatText(v jsonv.Value) string {
	switch v.Kind() {
	case jsonv.KindAbsent:
		return "undefined"
	case jsonv.KindNull:
		return "null"
	case jsonv.KindBool:
		return strconv.FormatBool(v.Bool())
	case jsonv.KindNumber:
		return FormatNumber(v.Float64())
	case jsonv.KindString:
		return v.Text()
	case jsonv.KindObject:
		return "[object Object]"
	}
	parts := make([]string, v.Len())
	for i, e := range v.Elems() {
		if e.Kind() != jsonv.KindNull {
			parts[i] = FormatText(e)
		}
	}
	return strings.Join(parts, ",")
}

// ListMembers returns an object's members as JavaScript sees them after
// JSON.parse: of a key written twice the last value takes the place of
// the first, and keys that are array indices come first, ascending.
func ListMembers(v jsonv.Value) []jsonv.Member {
	out, seen, indices := make([]jsonv.Member, 0, v.Len()), make(map[string]bool, v.Len()), false
	for k := range v.Members() {
		if seen[k] {
			continue
		}
		seen[k] = true
		e, _ := v.Get(k)
		out = append(out, jsonv.Member{Key: k, Value: e})
		_, index := parseIndex(k)
		indices = indices || index
	}
	if indices {
		slices.SortStableFunc(out, func(a, b jsonv.Member) int {
			i, _ := parseIndex(a.Key)
			j, _ := parseIndex(b.Key)
			return cmp.Compare(i, j)
		})
	}
	return out
}

// parseIndex reads a canonical array index, "0" to "4294967294"; a key that is none is
// greater than each of them.
func parseIndex(s string) (int64, bool) {
	if n, err := strconv.ParseUint(s, 10, 32); err == nil && (s == "0" || s[0] != '0') && n < math.MaxUint32 {
		return int64(n), true
	}
	return math.MaxUint32, false
}

// Stringify implements JSON.stringify(value) for a value that came from JSON; for
// absent it returns "", which no value has.
func Stringify(v jsonv.Value) string {
	if v.IsAbsent() {
		return ""
	}
	return canonicalize(v).String()
}

// canonicalize returns a value with the numbers and the members that JavaScript holds.
func canonicalize(v jsonv.Value) jsonv.Value {
	switch v.Kind() {
	case jsonv.KindNumber:
		return jsonv.Float(v.Float64() + 0) // -0 + 0 is 0
	case jsonv.KindObject:
		v = jsonv.Object(ListMembers(v)...)
	}
	return v.Map(func(k string, e jsonv.Value) (string, jsonv.Value) { return k, canonicalize(e) })
}

// splitUnits returns a text as the UTF-16 code units that JavaScript counts.
func splitUnits(s string) []uint16 {
	out := make([]uint16, 0, len(s))
	for i := 0; i < len(s); {
		if u, ok := jsonv.DecodeSurrogate(s[i:]); ok {
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

// formatUnit returns the text of one UTF-16 code unit.
func formatUnit(u uint16) string {
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
		if i, ok := parseIndex(seg); ok && i < int64(v.Len()) {
			return v.At(int(i))
		}
	case jsonv.KindString:
		u := splitUnits(v.Text())
		if seg == "length" {
			return jsonv.Int(int64(len(u)))
		}
		if i, ok := parseIndex(seg); ok && i < int64(len(u)) {
			return jsonv.String(formatUnit(u[i]))
		}
	}
	return jsonv.Value{}
}

// Normalize returns a text in a comparable form for the semantic rules of the
// reference set: lower case, every run outside [a-z0-9_] one space, trimmed. In
// JavaScript the lower case of U+0130 is i and a combining dot.
func Normalize(s string) string {
	s = strings.ToLower(strings.ReplaceAll(s, "\u0130", "i "))
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool {
		return r != '_' && (r < 'a' || r > 'z') && (r < '0' || r > '9')
	}), " ")
}

// Blank is what a JavaScript regular expression matches with \s, in a class of one of Go.
const Blank = `\t-\r\p{Z}\x{feff}`

// Contains implements message.includes(part): a substring of a text, or an element of
// a list that is exactly that text.
func Contains(message jsonv.Value, part string) bool {
	if message.Kind() == jsonv.KindString {
		return strings.Contains(message.Text(), part)
	}
	return slices.ContainsFunc(message.List(), func(e jsonv.Value) bool {
		return e.Kind() == jsonv.KindString && e.Text() == part
	})
}

// leaks are the eight patterns of the reference implementation.
var leaks = lazy.Regexp(`typeerror|referenceerror|syntaxerror|/src/|/node_modules/|\.[tj]s:[0-9]|at[` + Blank + `]+[^` + Blank + `]`)

// LeaksLikeReference implements the prototype's test of a message. It ignores the case
// of ASCII letters only.
func LeaksLikeReference(s string) bool {
	return leaks().MatchString(strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}, s))
}
