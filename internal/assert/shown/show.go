package shown

import (
	"fmt"
	"strconv"
	"strings"

	"mcptest/internal/assert/jsonpath"
	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
)

// Limits of shown values, in characters. With the limits on lines, they bound a
// verdict's size, regardless of the server.
const (
	ShortKey   = 40   // one key, or a short literal
	InLine     = 120  // a value inside a sentence
	Said       = 400  // the server's description of its failure
	Alone      = 2000 // Expected and Actual
	MaxLine    = 240  // one line of a diff
	MaxMessage = 1000 // one whole message
	MaxLines   = 40   // lines of a diff
)

// Value formats a value as JSON in about limit characters, and adds the length of a
// shortened text.
func Value(v jsonv.Value, limit int) string {
	out := v.Short(limit)
	if v.Kind() == jsonv.KindString && strings.HasSuffix(out, "…") {
		return out + `" (` + display.Count(v.Len(), "character") + ")"
	}
	return out
}

// Got formats a value with its kind: text "abc", number 3, a list of 2 elements
// [1,2].
func Got(v jsonv.Value) string {
	switch v.Kind() {
	case jsonv.KindNull:
		return "null"
	case jsonv.KindArray, jsonv.KindObject:
		return Shape(v) + " " + Value(v, InLine)
	}
	return Kind(v.Kind()) + " " + Value(v, InLine)
}

// Shape describes a value in a few words, without long content: text "abc", a list of
// 2 elements, an object with the keys a, b.
func Shape(v jsonv.Value) string {
	switch v.Kind() {
	case jsonv.KindArray:
		if v.Len() == 0 {
			return "an empty list"
		}
		return "a list of " + display.Count(v.Len(), "element")
	case jsonv.KindObject:
		if v.Len() == 0 {
			return "an empty object"
		}
		return "an object with " + Keys(v)
	case jsonv.KindNull, jsonv.KindAbsent:
		return Kind(v.Kind())
	}
	return Kind(v.Kind()) + " " + Value(v, ShortKey)
}

// Kind returns the name of a kind in messages.
func Kind(k jsonv.Kind) string {
	switch k {
	case jsonv.KindString:
		return "text"
	case jsonv.KindArray:
		return "a list"
	case jsonv.KindObject:
		return "an object"
	}
	return k.String()
}

// Node describes a node, for load errors: text "heavy", a list.
func Node(n *source.Node) string {
	switch n.Kind {
	case source.KindNull:
		if n.Text == "" {
			return "nothing"
		}
		return "null"
	case source.KindList:
		return "a list"
	case source.KindMap:
		return "a map"
	case source.KindString:
		return "text " + Key(n.Text)
	}
	return n.Kind.String() + " " + display.Truncate(n.Text, ShortKey)
}

// Quote puts text in quotes, like JSON.
func Quote(s string) string { return string(jsonv.AppendString(nil, s)) }

// Key is Quote for text of any length.
func Key(s string) string { return Quote(display.Truncate(s, ShortKey)) }

// CountOf formats a share of elements: 1 of 3 elements.
func CountOf(n, total int) string { return fmt.Sprintf("%d of %s", n, display.Count(total, "element")) }

// Lines shortens a list of lines and each of its lines.
func Lines(lines []string) []string {
	more := len(lines) - MaxLines
	if more > 0 {
		lines = lines[:MaxLines]
	}
	for i, line := range lines {
		lines[i] = display.Truncate(strings.TrimRight(line, "\n"), MaxLine)
	}
	if more > 0 {
		lines = append(lines, fmt.Sprintf("… and %d more", more))
	}
	return lines
}

// Line removes line breaks from text and shortens it, for a sentence.
func Line(s string, limit int) string {
	return display.Truncate(display.OneLine(display.Truncate(s, 4*limit)), limit)
}

// Pair formats two different numbers with enough decimals to distinguish them.
func Pair(a, b float64) (string, string) {
	for digits := 3; digits <= 12; digits++ {
		x := strconv.FormatFloat(roundTo(a, digits), 'f', -1, 64)
		if y := strconv.FormatFloat(roundTo(b, digits), 'f', -1, 64); x != y {
			return x, y
		}
	}
	return strconv.FormatFloat(a, 'g', -1, 64), strconv.FormatFloat(b, 'g', -1, 64)
}

func roundTo(f float64, digits int) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(f, 'f', digits, 64), 64)
	if err != nil {
		return f
	}
	return r
}

// Limits of the list of a server's keys.
const (
	MaxKeys         = 12
	MaxKeysSearched = 500
)

// SomeKeys returns the first keys of an object.
func SomeKeys(v jsonv.Value) []string {
	var keys []string
	for key := range v.Members() {
		if len(keys) == MaxKeysSearched {
			break
		}
		keys = append(keys, key)
	}
	return keys
}

// Keys formats an object's keys, shortened: type, text and 3 more.
func Keys(v jsonv.Value) string {
	if v.Kind() != jsonv.KindObject {
		return "no keys: it is " + Shape(v)
	}
	n := v.Len()
	if n == 0 {
		return "no keys"
	}
	var b strings.Builder
	i := 0
	for key := range v.Members() {
		if i == MaxKeys {
			fmt.Fprintf(&b, " and %d more", n-i)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(PlainKey(key))
		i++
	}
	return b.String()
}

// PlainKey formats a key, without quotes if it is readable without them.
func PlainKey(key string) string {
	if p := jsonpath.Key(key); p[0] == '.' && len(key) <= ShortKey {
		return key
	}
	return Key(key)
}
