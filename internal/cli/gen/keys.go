package gen

import (
	"fmt"
	"slices"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
)

// Patterns of what a placeholder looks like.
const (
	// whole is a text that is nothing but one placeholder: it takes the type of
	// the variable, so it may stand for a number or a list.
	whole = `^\$\{[A-Za-z_].*\}$`
	// holds is a text with a placeholder somewhere in it.
	holds = `\$\{[A-Za-z_]`
)

// Key is one key of the suite language, as the schema has it.
type Key struct {
	Name     string
	Section  string // the definition it belongs to: server, tools-test; "suite" at the top
	Where    string // servers.<name>.timeout, tools[].expect[].weight
	Type     string // for people: duration, list of text
	Default  string // as YAML; "" when leaving the key out has no value
	Doc      string
	Required bool
	Example  jsonv.Value
	Pointer  string // to its schema, RFC 6901
}

// Keys reads the keys out of a schema made by [Schema]: the schema is the one
// table of keys, so pages and explain say what editors show. Each definition
// is listed once, at the first place that leads to it.
func Keys(schema jsonv.Value) []Key {
	w := keyWalk{schema: schema, done: map[string]bool{"matcher": true}}
	w.add(keyMap{section: "suite", schema: schema})
	for len(w.queue) > 0 {
		next := w.queue[0]
		w.queue = w.queue[1:]
		w.addKeys(next)
	}
	return w.keys
}

// keyMap is one map of the language whose keys are to be listed.
type keyMap struct {
	section, path, pointer string
	schema                 jsonv.Value
}

type keyWalk struct {
	schema jsonv.Value
	queue  []keyMap
	done   map[string]bool
	keys   []Key
}

func (w *keyWalk) add(m keyMap) {
	if !w.done[m.section] {
		w.done[m.section] = true
		w.queue = append(w.queue, m)
	}
}

func (w *keyWalk) addKeys(m keyMap) {
	required := m.schema.Lookup("required").Texts()
	later := []keyMap{}
	properties := m.schema.Lookup("properties")
	for name, v := range properties.Members() {
		if isForbidden(v) || v.Lookup("doNotSuggest").Bool() {
			continue // refused
		}
		if strings.Contains(name, "_") && !properties.Lookup(strings.ReplaceAll(name, "_", "-")).IsAbsent() {
			continue // another spelling
		}
		path := name
		if m.path != "" {
			path = m.path + "." + name
		}
		k := Key{
			Name: name, Section: m.section, Where: path, Type: w.label(v), Doc: display.Sentence(w.findDoc(v)),
			Required: slices.Contains(required, name), Example: v.Lookup("examples").At(0), Pointer: m.pointer + "/properties/" + name,
		}
		if def, ok := w.resolveRef(v).Get("default"); ok {
			k.Default = flow(def)
		}
		w.keys = append(w.keys, k)
		below := w.listBelow(keyMap{m.section + " " + name, path, k.Pointer, v}, nil)
		if name == "defaultTest" { // what it shares with tests is shown at the tests
			later = append(later, below...)
			continue
		}
		for _, b := range below {
			w.add(b)
		}
	}
	for _, b := range later {
		w.add(b)
	}
}

// isForbidden reports a key that exists in order to be refused.
func isForbidden(v jsonv.Value) bool {
	not, ok := v.Get("not")
	return ok && not.Len() == 0
}

// listBelow finds the maps with keys of their own that a value may hold. The
// section of one that is no definition is named after its place.
func (w *keyWalk) listBelow(m keyMap, found []keyMap) []keyMap {
	if name, ok := cutDefName(m.schema); ok {
		m.section, m.pointer, m.schema = name, "/$defs/"+name, w.schema.Lookup("$defs", name)
	}
	if m.schema.Lookup("properties").Len() > 0 && m.section != "matcher" {
		found = append(found, m)
	}
	if items, ok := m.schema.Get("items"); ok {
		found = w.listBelow(keyMap{m.section + " entry", m.path + "[]", m.pointer + "/items", items}, found)
	}
	if more, ok := m.schema.Get("additionalProperties"); ok && more.Kind() == jsonv.KindObject {
		found = w.listBelow(keyMap{m.section + " entry", m.path + ".<name>", m.pointer + "/additionalProperties", more}, found)
	}
	for i, alt := range m.schema.Lookup("anyOf").Elems() {
		found = w.listBelow(keyMap{m.section, m.path, fmt.Sprintf("%s/anyOf/%d", m.pointer, i), alt}, found)
	}
	return found
}

// resolveRef is a schema with the members of the definition it refers to.
func (w *keyWalk) resolveRef(v jsonv.Value) jsonv.Value {
	if name, ok := cutDefName(v); ok {
		return merge(w.schema.Lookup("$defs", name), v)
	}
	return v
}

// cutDefName returns the definition that a schema refers to.
func cutDefName(v jsonv.Value) (string, bool) {
	name, ok := strings.CutPrefix(v.Lookup("$ref").Text(), "#/$defs/")
	return name, ok && !strings.Contains(name, "/")
}

// findDoc is a key's description, its own or that of what it refers to.
func (w *keyWalk) findDoc(v jsonv.Value) string {
	if d := v.Lookup("description").Text(); d != "" {
		return d
	}
	if name, ok := cutDefName(v); ok {
		if d := w.schema.Lookup("$defs", name, "description").Text(); d != "" {
			return d
		}
		return defDocs[name]
	}
	return ""
}

// defDocs describe definitions for keys that have nothing more to say.
var defDocs = map[string]string{
	"matcher":         "what is expected: a map with exactly one matcher",
	"assert-set-body": "a group of assertions with its own threshold; it counts as one item",
}

// typeNames are what definitions are called where they are the type of a key.
var typeNames = map[string]string{
	"duration": "duration", "plain-duration": "duration", "assertion": "assertion", "assert-set": "assert-set",
	"assert-set-body": "map", "expect": "list of assertions and assert-sets, or a map", "items": "list of assertions and assert-sets",
	"metric-terms": "list of references", "derived-metrics": "list of metrics", "matcher": "matcher", "weight": "number, at least 0",
	"threshold": "number, 0 to 1", "hook": "hook", "hooks": "map", "server": "server", "step": "step", "teardown-step": "step",
	"flow-step": "step",
	"violation": "kind of violation", "target": "target", "sampling-answer": "answer", "elicitation-answer": "answer", "root": "root",
}

// isTest reports whether a definition is that of a test.
func isTest(name string) bool { return strings.HasSuffix(name, "-test") && name != "default-test" }

// label says in words what a schema accepts. null and placeholders are left
// out: the page says once that they are accepted.
func (w *keyWalk) label(v jsonv.Value) string {
	if title := v.Lookup("title").Text(); title != "" {
		return title
	}
	if name, ok := cutDefName(v); ok {
		if label, ok := typeNames[name]; ok {
			return label
		}
		if isTest(name) {
			return "test"
		}
		return "map"
	}
	if target, ok := strings.CutPrefix(v.Lookup("$ref").Text(), "#/"); ok {
		return w.label(w.schema.Lookup(strings.Split(target, "/")...))
	}
	if c, ok := v.Get("const"); ok {
		return "the word " + code(flow(c))
	}
	if words := v.Lookup("enum"); words.Len() > 0 {
		return joinWords(words)
	}
	if alts := v.Lookup("anyOf"); alts.Len() > 0 {
		var labels []string
		for _, alt := range alts.Elems() {
			if l := w.label(alt); l != "" && !slices.Contains(labels, l) {
				labels = append(labels, l)
			}
		}
		return strings.Join(labels, ", or ")
	}
	return w.labelType(v)
}

func joinWords(words jsonv.Value) string {
	const enough = 10
	var out []string
	for _, word := range words.Elems() {
		if word.Kind() == jsonv.KindNull {
			continue
		}
		if out = append(out, code(flow(word))); len(out) == enough {
			out = append(out, "…")
			break
		}
	}
	return strings.Join(out, ", ")
}

func (w *keyWalk) labelType(v jsonv.Value) string {
	types := listTypes(v)
	if types == nil {
		return "any value"
	}
	pattern := v.Lookup("pattern").Text()
	if slices.Equal(types[:min(3, len(types))], []string{"string", "number", "boolean"}) {
		types = append([]string{"scalar"}, types[3:]...)
	}
	onlyPlaceholder := pattern == whole || pattern == holds
	var labels []string
	for _, t := range types {
		switch t {
		case "scalar":
			labels = append(labels, "scalar")
		case "string":
			if !onlyPlaceholder {
				labels = append(labels, "text")
			}
		case "number", "integer":
			word := "number"
			if t == "integer" {
				word = "whole number"
			}
			labels = append(labels, word+formatBounds(v))
		case "boolean":
			labels = append(labels, "`true` or `false`")
		case "array":
			labels = append(labels, w.listLabel(v.Lookup("items")))
		case "object":
			labels = append(labels, w.mapLabel(v))
		}
	}
	return strings.Join(labels, ", or ")
}

func (w *keyWalk) listLabel(items jsonv.Value) string {
	if items.IsAbsent() {
		return "list"
	}
	label := w.label(items)
	switch {
	case strings.HasPrefix(label, "`"):
		return "list of: " + label
	case strings.HasPrefix(label, "kind "):
		return "list of kinds " + strings.TrimPrefix(label, "kind ")
	case strings.Contains(label, ",") || label == "text":
		return "list of " + label
	}
	return "list of " + label + "s"
}

func (w *keyWalk) mapLabel(v jsonv.Value) string {
	more := v.Lookup("additionalProperties")
	if more.Kind() != jsonv.KindObject || more.Len() == 0 {
		return "map"
	}
	return "map: name to " + w.label(more)
}

func formatBounds(v jsonv.Value) string {
	lo, hasLo := v.Get("minimum")
	hi, hasHi := v.Get("maximum")
	above, hasAbove := v.Get("exclusiveMinimum")
	switch {
	case hasLo && hasHi:
		return fmt.Sprintf(", %s to %s", lo.Literal(), hi.Literal())
	case hasLo:
		return ", at least " + lo.Literal()
	case hasHi:
		return ", at most " + hi.Literal()
	case hasAbove:
		return ", more than " + above.Literal()
	}
	return ""
}

func code(s string) string { return "`" + s + "`" }

// merge returns a with the members of b added or replaced.
func merge(a, b jsonv.Value) jsonv.Value {
	for key, v := range b.Members() {
		a = a.With(key, v)
	}
	return a
}

// listTypes lists what the type keyword of a schema allows, nil without one.
func listTypes(v jsonv.Value) []string {
	switch t := v.Lookup("type"); t.Kind() {
	case jsonv.KindString:
		return []string{t.Text()}
	case jsonv.KindArray:
		return t.Texts()
	}
	return nil
}
