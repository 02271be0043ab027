package target

import (
	"fmt"
	"strconv"
	"strings"

	"mcptest/internal/assert/jsonpath"
	"mcptest/internal/assert/shown"
	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
)

// Miss describes why a target selects nothing.
type Miss struct {
	Target string // as written
	Near   string // suggestion, or ""

	why string // the reason, without the target
	// unknown is set if the parent of the target, such as the result, does not exist,
	// so that it cannot lack the target.
	Unknown bool
	ofAll   int // number of elements of a list that lack it, for targets with [*] or [a:b]
}

// place is another place where a key was searched for.
type place struct {
	name  string
	value jsonv.Value
}

// String returns the whole message: the target, the missing part, what exists
// instead, and a suggestion.
func (m *Miss) String() string { return m.Target + ": " + m.Reason() }

// Reason returns the message without the target.
func (m *Miss) Reason() string {
	out := m.why
	if m.ofAll > 1 {
		out = "in none of " + strconv.Itoa(m.ofAll) + " elements; the first: " + out
	}
	return out + source.Parenthesis(source.Suggest(m.Near))
}

// newMiss describes that the first of steps does not exist in v, whose path is
// prefix.
func newMiss(target, prefix string, v jsonv.Value, steps []jsonpath.Step) *Miss {
	m := &Miss{Target: target}
	s := steps[0]
	switch {
	case s.Kind == jsonpath.Name && v.Kind() == jsonv.KindObject:
		m.why = fmt.Sprintf("no key %s in %s; it has %s", shown.Key(s.Name), prefix, shown.Keys(v))
		m.Near = source.FindNearest(s.Name, shown.SomeKeys(v))
		if prefix == "result" && strings.EqualFold(strings.ReplaceAll(s.Name, "_", ""), KeyIsError) {
			m.Near = "result." + KeyIsError // most results leave it out
		} else if prefix == "result" && s.Name == "task" { // a word of many servers, too
			m.why += "; a key of MCP is not searched for in the text: use is-json"
		}
	case s.Kind == jsonpath.Index && v.Kind() == jsonv.KindArray:
		m.why = fmt.Sprintf("no element %d in %s; it has %s", s.From, prefix, display.Count(v.Len(), "element"))
	default:
		m.why = fmt.Sprintf("%s is %s, %s", prefix, shown.Shape(v), wants(s))
		parts := ""
		switch v.Kind() {
		case jsonv.KindArray:
			parts = "elements"
		case jsonv.KindString:
			parts = "characters"
		}
		m.Near = instead(prefix, v, s)
		if parts != "" && (s.Name == "length" || s.Name == "size" || s.Name == "count") {
			m.why += "; the matcher length counts its " + parts + ": {target: " + prefix + ", matcher: {length: …}}"
		}
	}
	return m
}

// wants describes what a step needs, as the end of a sentence.
func wants(s jsonpath.Step) string {
	switch s.Kind {
	case jsonpath.Name:
		return "so it has no key " + shown.Key(s.Name)
	case jsonpath.Index:
		return "not a list with an element " + strconv.Itoa(s.From)
	}
	return "not a list"
}

// instead guesses the intended path if a step does not apply to the kind of the
// value: an element's key, or the only list in an object.
func instead(prefix string, v jsonv.Value, s jsonpath.Step) string {
	if s.Kind == jsonpath.Name && v.Kind() == jsonv.KindArray {
		if _, ok := v.At(0).Get(s.Name); ok {
			return prefix + "[0]" + s.String()
		}
		return ""
	}
	if s.Kind != jsonpath.Name && v.Kind() == jsonv.KindObject && v.Len() <= shown.MaxKeysSearched {
		found := ""
		for key, member := range v.Members() {
			if member.Kind() == jsonv.KindArray {
				if found != "" {
					return ""
				}
				found = prefix + jsonpath.Key(key) + s.String()
			}
		}
		return display.Truncate(found, shown.InLine)
	}
	return ""
}

// lookElsewhere adds the other places where the key was searched for.
func (m *Miss) lookElsewhere(name string, looked []place) {
	for _, p := range looked {
		if p.value.IsAbsent() {
			continue
		}
		if p.value.Kind() != jsonv.KindObject {
			m.why += fmt.Sprintf("; %s is %s", p.name, shown.Shape(p.value))
			continue
		}
		m.why += fmt.Sprintf("; %s has %s", p.name, shown.Keys(p.value))
		if m.Near == "" {
			m.Near = source.FindNearest(name, shown.SomeKeys(p.value))
		}
	}
}
