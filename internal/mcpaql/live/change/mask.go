package change

import (
	"regexp"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/evidence"
)

// VolatileKey matches keys whose values differ from call to call.
var VolatileKey = evidence.Pattern(`(?i)^(_meta|request_?id|(start|end|next)_?cursor|etag|heap_?total|rss|memory_?usage)$|timestamp|duration|elapsed`)

// Mask holds the paths that differ by themselves between answers of an operation:
// whole values, or (false) only the digits of a text.
type Mask map[string]bool

// anyIndex represents every index of a list: what differs in one item may
// differ in the next.
var anyIndex = evidence.Pattern(`\[\d+\]`)

// digitRuns matches numbers and durations: 59s is followed by 1m 0s.
var digitRuns = evidence.Pattern(`(\d+([.,]\d+)*(ms|[dhms])?\b ?)+|\d+`)

// clockText matches a date or a time inside a text, which comparisons ignore.
var clockText = evidence.Pattern(`\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?|\b\d{1,2}:\d\d(:\d\d(\.\d+)?)?( ?[AaPp][Mm]\b)?`)

// Learn records the differences between two answers to the same request.
func (m Mask) Learn(a, b jsonv.Value) {
	for _, ch := range jsonv.Diff(DropVolatile(a), DropVolatile(b)) {
		path := anyIndex().ReplaceAllString(ch.Path, "[]")
		switch {
		case ch.Kind != jsonv.Changed && strings.HasSuffix(path, "[]"):
			m[strings.TrimSuffix(path, "[]")] = true // a list that grows
		case ch.Kind == jsonv.Changed && isSameText(ch, digitRuns):
			if !m[path] {
				m[path] = false // only the digits of the text change
			}
		default:
			m[path] = true
		}
	}
}

// hides reports whether a difference is to be ignored.
func (m Mask) hides(ch jsonv.Change) bool {
	if ch.Kind == jsonv.Changed && isSameText(ch, clockText) {
		return true
	}
	path := anyIndex().ReplaceAllString(ch.Path, "[]")
	if whole, known := m[path]; known && !whole && ch.Kind == jsonv.Changed && isSameText(ch, digitRuns) {
		return true
	}
	for known, whole := range m {
		rest, under := strings.CutPrefix(path, known)
		if whole && under && (rest == "" || rest[0] == '.' || rest[0] == '[') {
			return true
		}
	}
	return false
}

// isSameText reports whether two texts differ only in what a pattern matches.
func isSameText(ch jsonv.Change, but func() *regexp.Regexp) bool {
	if ch.Want.Kind() != jsonv.KindString || ch.Got.Kind() != jsonv.KindString {
		return false
	}
	cover := func(v jsonv.Value) string { return but().ReplaceAllString(v.Text(), "0") }
	return cover(ch.Want) == cover(ch.Got)
}

// IsAlike reports whether two answers are equal, ignoring parts that change by
// themselves.
func (m Mask) IsAlike(a, b jsonv.Value) bool {
	_, differs := m.FindDifference(a, b)
	return !differs
}

// FindDifference returns the first path at which two answers differ, ignoring parts that
// change by themselves.
func (m Mask) FindDifference(a, b jsonv.Value) (path string, differs bool) {
	for _, ch := range jsonv.Diff(DropVolatile(a), DropVolatile(b)) {
		if !m.hides(ch) {
			return ch.Path, true
		}
	}
	return "", false
}

// DropVolatile returns a value without its volatile members.
func DropVolatile(v jsonv.Value) jsonv.Value {
	return v.Map(func(k string, e jsonv.Value) (string, jsonv.Value) {
		if VolatileKey().MatchString(k) {
			return k, jsonv.Value{}
		}
		return k, DropVolatile(e)
	})
}
