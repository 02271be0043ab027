package jsonv

import (
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"mcptest/internal/base/display"
)

// Kind is the JSON type of a Value.
type Kind uint8

// The kinds, in the order used when values of different kinds are sorted.
const (
	KindAbsent Kind = iota // no value at all; the zero Value
	KindNull
	KindBool
	KindNumber
	KindString
	KindArray
	KindObject
)

var kindNames = [...]string{
	KindAbsent: "absent", KindNull: "null", KindBool: "boolean", KindNumber: "number", KindString: "string", KindArray: "array", KindObject: "object",
}

// String returns the JSON Schema type name ("boolean", "array", …) or "absent".
func (k Kind) String() string { return kindNames[k] }

// WithArticle returns the name of the kind preceded by "a" or "an"; null and absent
// have no article.
func (k Kind) WithArticle() string {
	switch k {
	case KindNull, KindAbsent:
		return k.String()
	}
	return display.Article(k.String())
}

// Value is one immutable JSON value. The zero Value is absent.
type Value struct {
	kind Kind
	b    bool
	off  uint32 // 1 + byte offset in the parsed text; 0 when unknown
	s    string // content of a string, literal of a number
	c    *container
}

// Member is one key and value of an object.
type Member struct {
	Key   string
	Value Value
}

// Null returns the JSON null.
func Null() Value { return Value{kind: KindNull} }

// OrNull returns v, or null if it is absent.
func (v Value) OrNull() Value {
	if v.IsAbsent() {
		return Null()
	}
	return v
}

// Bool returns a JSON boolean.
func Bool(b bool) Value { return Value{kind: KindBool, b: b} }

// String returns a JSON string with the content s. Bytes of s that are not
// UTF-8 are kept, and written as U+FFFD.
func String(s string) Value { return Value{kind: KindString, s: s} }

// Int returns a JSON number.
func Int(i int64) Value { return Value{kind: KindNumber, s: strconv.FormatInt(i, 10)} }

// Float returns the shortest JSON number that parses to f, in the notation of
// ECMAScript (as encoding/json writes it). JSON has no NaN and no infinities; they
// become null, as in JSON.stringify.
func Float(f float64) Value {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return Null()
	}
	format := byte('f')
	if abs := math.Abs(f); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		format = 'e'
	}
	lit := strconv.FormatFloat(f, format, -1, 64)
	if format == 'e' {
		lit = strings.Replace(lit, "e-0", "e-", 1)
	}
	return Value{kind: KindNumber, s: lit}
}

// Array returns an array. Absent elements become null, so that positions are kept.
func Array(elems ...Value) Value {
	if len(elems) == 0 {
		return Value{kind: KindArray}
	}
	vals := make([]Value, len(elems))
	for i, e := range elems {
		if e.kind == KindAbsent {
			e = Null()
		}
		vals[i] = e
	}
	return Value{kind: KindArray, c: &container{vals: vals}}
}

// Object returns an object with the members in the given order, including duplicates.
// Members whose value is absent are omitted.
func Object(members ...Member) Value {
	c := &container{
		keys: make([]string, 0, len(members)),
		vals: make([]Value, 0, len(members)),
	}
	for _, m := range members {
		if m.Value.kind != KindAbsent {
			c.keys = append(c.keys, m.Key)
			c.vals = append(c.vals, m.Value)
		}
	}
	if len(c.keys) == 0 {
		return Value{kind: KindObject}
	}
	var d dupFinder
	c.dup = d.findFirst(c.keys) >= 0
	return Value{kind: KindObject, c: c}
}

// Kind returns the value's kind.
func (v Value) Kind() Kind { return v.kind }

// IsAbsent reports whether there is no value at all (null is a value).
func (v Value) IsAbsent() bool { return v.kind == KindAbsent }

// Bool returns the boolean, false for every other kind.
func (v Value) Bool() bool { return v.kind == KindBool && v.b }

// Text returns a string's content, "" for every other kind.
func (v Value) Text() string {
	if v.kind != KindString {
		return ""
	}
	return v.s
}

// Literal returns a number as it was written, "" for every other kind.
func (v Value) Literal() string {
	if v.kind != KindNumber {
		return ""
	}
	return v.s
}

// Len returns the number of elements of an array, of members of an object
// (duplicates included) and of characters (Unicode code points, a lone
// surrogate counting as one) of a string; 0 for every other kind.
func (v Value) Len() int {
	switch v.kind {
	case KindString:
		return countRunes(v.s)
	case KindArray, KindObject:
		return v.c.len()
	}
	return 0
}

// countRunes counts code points. It counts a WTF-8 surrogate (three bytes that Go
// counts as three invalid ones) as one.
func countRunes(s string) int {
	n := utf8.RuneCountInString(s)
	for {
		i := strings.IndexByte(s, 0xED)
		if i < 0 {
			return n
		}
		s = s[i:]
		if _, ok := DecodeSurrogate(s); ok {
			n -= 2
			s = s[3:]
		} else {
			s = s[1:]
		}
	}
}

// DecodeSurrogate returns the surrogate code point whose generalized UTF-8 form s
// begins with.
func DecodeSurrogate(s string) (rune, bool) {
	if len(s) < 3 || s[0] != 0xED {
		return 0, false
	}
	isSurrogate := 0xA0 <= s[1] && s[1] <= 0xBF
	isContinued := 0x80 <= s[2] && s[2] <= 0xBF
	if !isSurrogate || !isContinued {
		return 0, false
	}
	return 0xD000 | rune(s[1]&0x3F)<<6 | rune(s[2]&0x3F), true
}

// At returns the element i of an array, counted from the end when i is negative, or
// an absent value when i is out of range or the value is not an array.
func (v Value) At(i int) Value {
	if v.kind != KindArray {
		return Value{}
	}
	n := v.c.len()
	if i < 0 {
		i += n
	}
	if i < 0 || i >= n {
		return Value{}
	}
	return v.c.vals[i]
}

// Children yields the elements of an array or the members of an object, duplicates
// included, each with its token in a JSON Pointer.
func (v Value) Children() iter.Seq2[string, Value] {
	if v.kind == KindObject {
		return v.Members()
	}
	return func(yield func(string, Value) bool) {
		for i, e := range v.Elems() {
			if !yield(strconv.Itoa(i), e) {
				return
			}
		}
	}
}

// Elems yields the elements of an array with their indexes; nothing for every
// other kind.
func (v Value) Elems() iter.Seq2[int, Value] {
	return func(yield func(int, Value) bool) {
		if v.kind != KindArray || v.c == nil {
			return
		}
		for i, e := range v.c.vals {
			if !yield(i, e) {
				return
			}
		}
	}
}

// List returns the elements of an array; nil for every other kind.
func (v Value) List() []Value {
	if v.kind != KindArray || v.c == nil {
		return nil
	}
	return slices.Clone(v.c.vals)
}

// Texts returns the texts of the elements of an array, "" for an element of
// another kind.
func (v Value) Texts() []string {
	var out []string
	for _, e := range v.Elems() {
		out = append(out, e.Text())
	}
	return out
}

// Members yields the members of an object in order, duplicates included;
// nothing for every other kind.
func (v Value) Members() iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		if v.kind != KindObject || v.c == nil {
			return
		}
		for i, k := range v.c.keys {
			if !yield(k, v.c.vals[i]) {
				return
			}
		}
	}
}

// Offset returns the byte offset of the value in the text it was parsed from,
// -1 when it was made in Go (or lies beyond 4 GiB).
func (v Value) Offset() int { return int(v.off) - 1 }

// String returns the value as compact JSON; an absent value is "null".
func (v Value) String() string { return string(v.Append(nil)) }
