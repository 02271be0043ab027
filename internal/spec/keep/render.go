package keep

import (
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
	"mcptest/internal/spec/draft"
)

// rendering is the test in the forms in which it can be written.
type rendering struct {
	entry draft.Entry
	value jsonv.Value
	json  bool // the suite is JSON
}

// piece is an item of a list or map in flow style: on one line, or on several, without the
// indentation of the first.
type piece struct {
	line  string
	lines []string
}

// formatFlow formats a value on one line.
func (r rendering) formatFlow(v jsonv.Value) string {
	if r.json {
		return r.formatSpaced(v)
	}
	return source.Flow(v, source.FlowText)
}

// formatSpaced formats a value as JSON, with a blank after each comma and colon.
func (r rendering) formatSpaced(v jsonv.Value) string {
	switch v.Kind() {
	case jsonv.KindArray:
		var items []string
		for _, e := range v.Elems() {
			items = append(items, r.formatSpaced(e))
		}
		return "[" + strings.Join(items, ", ") + "]"
	case jsonv.KindObject:
		var items []string
		for key, e := range v.Members() {
			items = append(items, r.formatKey(key)+": "+r.formatSpaced(e))
		}
		return "{" + strings.Join(items, ", ") + "}"
	}
	return v.String()
}

func (r rendering) formatKey(name string) string {
	if r.json {
		return jsonv.String(name).String()
	}
	return source.FlowText(name)
}

// renderItem returns the test as an item of a list in flow style.
func (r rendering) renderItem() piece {
	p := piece{line: r.formatFlow(r.value), lines: []string{"{"}}
	members := r.value.Len()
	for key, v := range r.value.Members() {
		members--
		comma := ","
		if members == 0 {
			comma = ""
		}
		p.lines = append(p.lines, "\t"+r.formatKey(key)+": "+r.formatFlow(v)+comma)
	}
	p.lines = append(p.lines, "}")
	return p
}

// renderField returns the list with the test as a member of a map in flow style.
func (r rendering) renderField() piece {
	key := r.formatKey(r.entry.Block) + ": "
	p := piece{line: key + "[" + r.formatFlow(r.value) + "]", lines: []string{key + "["}}
	for _, line := range r.renderItem().lines {
		p.lines = append(p.lines, "\t"+line)
	}
	p.lines = append(p.lines, "]")
	return p
}

// renderBlock returns the lines of the test as an item of a list in block style.
func (r rendering) renderBlock(indent string) []string {
	var lines []string
	lead := "- "
	for key, v := range r.value.Members() {
		if key == "expect" {
			lines = append(lines, indent+"  expect:")
			lines = append(lines, r.renderExpectations(v, indent+"    ")...)
			continue
		}
		lines = append(lines, indent+lead+key+": "+source.Flow(v, source.FlowText))
		lead = "  "
	}
	return lines
}

func (r rendering) renderExpectations(list jsonv.Value, indent string) (lines []string) {
	for i, v := range list.Elems() {
		if note := r.entry.Expect[i].Review(); note != "" {
			lines = append(lines, indent+"# "+display.Truncate(note, maxNote))
		}
		lines = append(lines, indent+"- "+source.Flow(v, source.FlowText))
	}
	return lines
}

// maxNote bounds a comment, in characters.
const maxNote = 160

// Text returns a test as an item of a list in block style.
func Text(e draft.Entry, text func(string) string) string {
	r := rendering{entry: e, value: e.Value(text)}
	return strings.Join(r.renderBlock(""), "\n") + "\n"
}
