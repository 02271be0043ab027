package diff

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"mcptest/internal/base/jsonschema"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/offer/contain"
)

// edit is one change of a schema that can be made alone.
type edit struct {
	at      string // pointer
	message string
	lost    bool // a property was removed
	allowed bool // a new optional property that accepted any value before
	sets    []set
}

// set sets the value at a pointer, or removes it if v is absent.
type set struct {
	at []string
	to jsonv.Value
}

func (e edit) apply(doc jsonv.Value) jsonv.Value {
	for _, s := range e.sets {
		doc = put(doc, s.at, s.to)
	}
	return doc
}

// isBound reports whether an edit only changes a bound of numbers.
func (e edit) isBound() bool {
	i := strings.LastIndex(e.at, "/")
	above, keyword := e.at[:max(i, 0)], e.at[i+1:]
	return !strings.HasSuffix(above, "/properties") && slices.Contains([]string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}, keyword)
}

// explainIndistinct says why a change of numbers beyond 2^53 is not decided; "" if it has none.
func (e edit) explainIndistinct(old jsonv.Value) string {
	for _, s := range e.sets {
		if isBeyondSafe(s.to) || isBeyondSafe(findValue(old, s.at)) {
			return ": it concerns numbers beyond 2^53, which many JSON readers can't tell apart"
		}
	}
	return ""
}

// findValue returns the value at a path; absent if there is none.
func findValue(doc jsonv.Value, at []string) jsonv.Value {
	for _, key := range at {
		if i, err := strconv.Atoi(key); err == nil && doc.Kind() == jsonv.KindArray {
			doc = doc.At(i)
		} else {
			doc = doc.Lookup(key)
		}
	}
	return doc
}

// isBeyondSafe reports whether a value contains a number of at least 2^53 - 1. Witnesses
// only do if smaller numbers don't show the same.
func isBeyondSafe(v jsonv.Value) bool {
	if v.Kind() == jsonv.KindNumber {
		return math.Abs(v.Float64()) >= contain.MaxExact
	}
	for _, e := range v.Children() {
		if isBeyondSafe(e) {
			return true
		}
	}
	return false
}

func put(doc jsonv.Value, at []string, to jsonv.Value) jsonv.Value {
	if len(at) == 0 {
		return to
	}
	if doc.Kind() == jsonv.KindArray {
		var out []jsonv.Value
		for i, e := range doc.Elems() {
			if fmt.Sprint(i) == at[0] {
				e = put(e, at[1:], to)
			}
			out = append(out, e)
		}
		return jsonv.Array(out...)
	}
	return doc.With(at[0], put(doc.Lookup(at[0]), at[1:], to))
}

// note records a change of a member that constrains nothing.
type note struct{ at, message string }

// walker aligns two versions of a schema.
type walker struct {
	noun, root string
	edits      []edit
	notes      []note
}

// unchecked are the keywords that constrain nothing.
var unchecked = []string{"title", "description", "default", "examples", "example", "$comment", "deprecated", "readOnly", "writeOnly", "format", "contentEncoding", "contentMediaType", "contentSchema"}

func (w *walker) walk(old, new jsonv.Value, at string) {
	if jsonv.Equal(old, new) {
		return
	}
	if old.Kind() != jsonv.KindObject || new.Kind() != jsonv.KindObject {
		w.edit(at, new, "%s %s", w.nameSubject(at), describeChange(old, new))
		return
	}
	for _, k := range listKeys(old, new) {
		a, b := old.Lookup(k), new.Lookup(k)
		if jsonv.Equal(a, b) {
			continue
		}
		before := len(w.edits) + len(w.notes)
		here := jsonv.AppendPointer(at, k)
		holds := jsonschema.HoldsOf(k)
		switch {
		case k == "properties":
			w.walkProperties(old, new, at)
		case k == "required":
			w.compareRequired(old, new, at)
		case slices.Contains(unchecked, k):
			w.notes = append(w.notes, note{here, fmt.Sprintf("%s: %s %s", w.nameSubject(at), k, describeChange(a, b))})
		case holds == jsonschema.HoldsNamed && k != "dependencies":
			for _, name := range listKeys(a, b) {
				w.walk(a.Lookup(name), b.Lookup(name), jsonv.AppendPointer(here, name))
			}
		case holds&jsonschema.HoldsOne != 0 && a.Kind() == jsonv.KindObject && b.Kind() == jsonv.KindObject:
			w.walk(a, b, here)
		case holds == jsonschema.HoldsList && a.Kind() == jsonv.KindArray && a.Len() == b.Len():
			for i := range a.Elems() {
				w.walk(a.At(i), b.At(i), jsonv.AppendPointer(here, fmt.Sprint(i)))
			}
		case k == "enum":
			w.edit(here, b, "%s %s", w.nameSubject(at), describeEnumChange(a, b))
		default:
			w.edit(here, b, "%s: %s %s", w.nameSubject(at), k, describeChange(a, b))
		}
		named := k == "required" && !hasSameNames(a, b) // reported with the properties
		if len(w.edits)+len(w.notes) == before && !named {
			// Nothing within it changed: properties: {} is new.
			w.edit(here, b, "%s: %s %s", w.nameSubject(at), k, describeChange(a, b))
		}
	}
}

func hasSameNames(a, b jsonv.Value) bool {
	return slices.Equal(slices.Sorted(slices.Values(a.Texts())), slices.Sorted(slices.Values(b.Texts())))
}

// plain reports whether a pointer leads to a schema that every value at its place
// must match.
func plain(at string) bool {
	tokens, _ := jsonv.ParsePointer(at)
	for i := 0; i < len(tokens); i++ {
		if tokens[i] == "properties" {
			i++
		} else if tokens[i] != "items" {
			return false
		}
	}
	return true
}

// closing reports whether a keyword can forbid undeclared properties.
func closing(keyword string) bool {
	return keyword == "additionalProperties" || keyword == "unevaluatedProperties"
}

func (w *walker) edit(at string, to jsonv.Value, format string, args ...any) *edit {
	tokens, _ := jsonv.ParsePointer(at)
	w.edits = append(w.edits, edit{
		at:      at,
		message: fmt.Sprintf(format, args...),
		sets:    []set{{tokens, to}},
	})
	return &w.edits[len(w.edits)-1]
}

func (w *walker) walkProperties(old, new jsonv.Value, at string) {
	a, b := old.Lookup("properties"), new.Lookup("properties")
	for _, name := range listKeys(a, b) {
		was, is := a.Lookup(name), b.Lookup(name)
		here := jsonv.AppendPointer(at+"/properties", name)
		needed := func(v jsonv.Value) bool { return slices.Contains(v.Lookup("required").Texts(), name) }
		switch {
		case was.IsAbsent() && needed(new) && !needed(old):
			extra := ""
			if !is.Lookup("default").IsAbsent() && w.noun == "argument" {
				extra = " (its default does not help clients that follow the schema)"
			}
			e := w.edit(here, is, "new required %s%s", w.nameSubject(here), extra)
			e.sets = append(e.sets, w.requires(old, at, name, true))
		case was.IsAbsent():
			e := w.edit(here, is, "new optional %s", w.nameSubject(here))
			rest := old.Lookup("additionalProperties")
			e.allowed = plain(at) && (rest.Bool() || rest.Kind() == jsonv.KindObject && rest.Len() == 0)
		case is.IsAbsent():
			e := w.edit(here, is, "%s was removed", w.nameSubject(here))
			e.lost = true
			if needed(old) && !needed(new) {
				e.sets = append(e.sets, w.requires(old, at, name, false))
			}
		default:
			w.walk(was, is, here)
		}
	}
}

// requires returns the list of required properties with or without one of them.
func (w *walker) requires(old jsonv.Value, at, name string, with bool) set {
	list := slices.DeleteFunc(old.Lookup("required").List(), func(e jsonv.Value) bool { return e.Text() == name })
	if with {
		list = append(list, jsonv.String(name))
	}
	tokens, _ := jsonv.ParsePointer(at + "/required")
	return set{tokens, jsonv.Array(list...)}
}

func (w *walker) compareRequired(old, new jsonv.Value, at string) {
	was, is := old.Lookup("required").Texts(), new.Lookup("required").Texts()
	a, b := old.Lookup("properties"), new.Lookup("properties")
	for _, name := range is {
		if !slices.Contains(was, name) && (!a.Lookup(name).IsAbsent() || b.Lookup(name).IsAbsent()) {
			e := w.edit(at+"/required", jsonv.Null(), "%s is now required", w.nameSubject(jsonv.AppendPointer(at+"/properties", name)))
			e.sets = []set{w.requires(old, at, name, true)}
		}
	}
	for _, name := range was {
		if !slices.Contains(is, name) && (!b.Lookup(name).IsAbsent() || a.Lookup(name).IsAbsent()) {
			e := w.edit(at+"/required", jsonv.Null(), "%s is no longer required", w.nameSubject(jsonv.AppendPointer(at+"/properties", name)))
			e.sets = []set{w.requires(old, at, name, false)}
		}
	}
}

// nameSubject names the place that a pointer leads to: argument filter.labels[].
func (w *walker) nameSubject(at string) string {
	tokens, _ := jsonv.ParsePointer(at)
	path, noun := "", w.noun+" "
	for i := 0; i < len(tokens); i++ {
		t := tokens[i]
		switch {
		case t == "properties" && i+1 < len(tokens):
			i++
			path = jsonv.JoinKey(path, tokens[i])
		case t == "items" || t == "prefixItems":
			path += "[]"
		case t == "additionalProperties":
			path += ".*"
		case t == "patternProperties" && i+1 < len(tokens):
			i++
			path = strings.TrimPrefix(path+"./"+tokens[i]+"/", ".")
		case jsonschema.HoldsOf(t) == jsonschema.HoldsNamed && i+1 < len(tokens):
			i++
			path, noun = t+"/"+tokens[i], ""
		}
	}
	if path == "" {
		return strings.TrimPrefix(w.root, "/")
	}
	return noun + path
}

func describeEnumChange(a, b jsonv.Value) string {
	var parts []string
	hash := jsonv.NewHasher()
	missing := func(from, in jsonv.Value) string {
		var out []string
		known := map[uint64]bool{}
		for _, e := range in.Elems() {
			known[hash.Hash(e)] = true
		}
		for _, e := range from.Elems() {
			if !known[hash.Hash(e)] {
				out = append(out, e.Short(40))
			}
		}
		if len(out) > 8 {
			out = append(out[:8], fmt.Sprintf("and %d more", len(out)-8))
		}
		return strings.Join(out, ", ")
	}
	switch {
	case a.IsAbsent():
		return "now only allows " + b.Short(80)
	case b.IsAbsent():
		return "now allows more than " + a.Short(80)
	}
	if gone := missing(a, b); gone != "" {
		parts = append(parts, "no longer allows "+gone)
	}
	if fresh := missing(b, a); fresh != "" {
		parts = append(parts, "now also allows "+fresh)
	}
	if len(parts) == 0 {
		return "lists its values in another order"
	}
	return strings.Join(parts, ", and ")
}
