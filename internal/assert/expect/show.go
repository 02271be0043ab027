package expect

import (
	"fmt"
	"strconv"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
)

// Limits of shown values, in characters. With the limits on lines, they bound a
// verdict's size, regardless of the server.
const (
	shownKey    = 40   // one key, or a short literal
	shownInLine = 120  // a value inside a sentence
	shownSaid   = 400  // the server's description of its failure
	shownAlone  = 2000 // Expected and Actual
	maxLine     = 240  // one line of a diff
	maxMessage  = 1000 // one whole message
	maxLines    = 40   // lines of a diff
)

// show formats a value as JSON in about limit characters, and adds the length of a
// shortened text.
func show(v jsonv.Value, limit int) string {
	out := v.Short(limit)
	if v.Kind() == jsonv.KindString && strings.HasSuffix(out, "…") {
		return out + `" (` + display.Count(v.Len(), "character") + ")"
	}
	return out
}

// got formats a value with its kind: text "abc", number 3, a list of 2 elements
// [1,2].
func got(v jsonv.Value) string {
	switch v.Kind() {
	case jsonv.KindNull:
		return "null"
	case jsonv.KindArray, jsonv.KindObject:
		return shape(v) + " " + show(v, shownInLine)
	}
	return kindWord(v.Kind()) + " " + show(v, shownInLine)
}

// shape describes a value in a few words, without long content: text "abc", a list of
// 2 elements, an object with the keys a, b.
func shape(v jsonv.Value) string {
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
		return "an object with " + haveKeys(v)
	case jsonv.KindNull, jsonv.KindAbsent:
		return kindWord(v.Kind())
	}
	return kindWord(v.Kind()) + " " + show(v, shownKey)
}

// kindWord returns the name of a kind in messages.
func kindWord(k jsonv.Kind) string {
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

// describe describes a node, for load errors: text "heavy", a list.
func describe(n *source.Node) string {
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
		return "text " + quoteKey(n.Text)
	}
	return n.Kind.String() + " " + display.Truncate(n.Text, shownKey)
}

// quote puts text in quotes, like JSON.
func quote(s string) string { return string(jsonv.AppendString(nil, s)) }

// quoteKey is quote for text of any length.
func quoteKey(s string) string { return quote(display.Truncate(s, shownKey)) }

// countOf formats a share of elements: 1 of 3 elements.
func countOf(n, total int) string { return fmt.Sprintf("%d of %s", n, display.Count(total, "element")) }

// bound shortens a list of lines and each of its lines.
func bound(lines []string) []string {
	more := len(lines) - maxLines
	if more > 0 {
		lines = lines[:maxLines]
	}
	for i, line := range lines {
		lines[i] = display.Truncate(strings.TrimRight(line, "\n"), maxLine)
	}
	if more > 0 {
		lines = append(lines, fmt.Sprintf("… and %d more", more))
	}
	return lines
}

// oneLine removes line breaks from text and shortens it, for a sentence.
func oneLine(s string, limit int) string {
	return display.Truncate(display.OneLine(display.Truncate(s, 4*limit)), limit)
}

// fmtPair formats two different numbers with enough decimals to distinguish them.
func fmtPair(a, b float64) (string, string) {
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
