package html

import (
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/report/result"
)

// markedLine is a line of indented JSON: eq, del (only expected) or add (only in
// the response).
type markedLine struct{ Class, Text string }

// markMost limits the values whose differences are marked, and the lines.
const (
	markMost      = 64 << 10
	markLinesMost = 2000
)

// markDifferences compares the expected with the actual JSON of a failed assertion member by
// member. It returns nil if the matcher does not compare structures, or if the record
// only contains a part of a value.
func markDifferences(a *result.Assertion) []markedLine {
	partial := a.Matcher == "subset" // more members are allowed
	if !partial && a.Matcher != "exact" && a.Matcher != "snapshot" || len(a.Expected)+len(a.Actual) > markMost {
		return nil
	}
	want, err := jsonv.Parse([]byte(a.Expected))
	if err != nil || want.Kind() != jsonv.KindObject && want.Kind() != jsonv.KindArray {
		return nil
	}
	got, err := jsonv.Parse([]byte(a.Actual))
	if err != nil || got.Kind() != want.Kind() {
		return nil
	}
	m := marker{partial: partial}
	m.writePair("", "", want, got, "")
	if len(m.lines) > markLinesMost {
		return nil
	}
	return m.lines
}

type marker struct {
	partial bool
	lines   []markedLine
}

// writeWhole writes all lines of one value.
func (m *marker) writeWhole(class, indent, key string, v jsonv.Value, comma string) {
	for line := range strings.SplitSeq(key+string(v.Indent("", "  "))+comma, "\n") {
		m.lines = append(m.lines, markedLine{class, indent + line})
	}
}

// writePair writes two values: once if they are equal, member by member if both are
// containers of the same kind, and one after the other if not.
func (m *marker) writePair(indent, key string, want, got jsonv.Value, comma string) {
	switch {
	case jsonv.Equal(want, got):
		m.writeWhole("eq", indent, key, want, comma)
	case want.Kind() == got.Kind() && isContainer(want) && want.Len() > 0 && got.Len() > 0:
		m.writeContainer(indent, key, want, got, comma)
	default:
		m.writeWhole("del", indent, key, want, comma)
		m.writeWhole("add", indent, key, got, comma)
	}
}

func (m *marker) writeContainer(indent, key string, want, got jsonv.Value, comma string) {
	open, end := "{", "}"
	if want.Kind() == jsonv.KindArray {
		open, end = "[", "]"
	}
	m.lines = append(m.lines, markedLine{"eq", indent + key + open})
	if want.Kind() == jsonv.KindArray {
		m.writeElements(indent+"  ", want, got)
	} else {
		m.writeMembers(indent+"  ", want, got)
	}
	m.lines = append(m.lines, markedLine{"eq", indent + end + comma})
}

func (m *marker) writeElements(indent string, want, got jsonv.Value) {
	n := max(want.Len(), got.Len())
	for i := range n {
		comma := makeComma(i == n-1)
		switch {
		case i >= got.Len():
			m.writeWhole("del", indent, "", want.At(i), comma)
		case i >= want.Len():
			m.writeWhole("add", indent, "", got.At(i), comma)
		default:
			m.writePair(indent, "", want.At(i), got.At(i), comma)
		}
	}
}

func (m *marker) writeMembers(indent string, want, got jsonv.Value) {
	left := want.Len()
	var extra []string
	for key := range got.Members() {
		if _, ok := want.Get(key); !ok {
			extra = append(extra, key)
		}
	}
	for key, w := range want.Members() {
		left--
		name, comma := memberName(key), makeComma(left == 0 && len(extra) == 0)
		if g, ok := got.Get(key); ok {
			m.writePair(indent, name, w, g, comma)
		} else {
			m.writeWhole("del", indent, name, w, comma)
		}
	}
	class := "add"
	if m.partial {
		class = "eq"
	}
	for i, key := range extra {
		m.writeWhole(class, indent, memberName(key), got.Lookup(key), makeComma(i == len(extra)-1))
	}
}

func memberName(key string) string { return string(jsonv.String(key).Append(nil)) + ": " }

func makeComma(last bool) string {
	if last {
		return ""
	}
	return ","
}

func isContainer(v jsonv.Value) bool {
	return v.Kind() == jsonv.KindObject || v.Kind() == jsonv.KindArray
}
