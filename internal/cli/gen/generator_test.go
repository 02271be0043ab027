package gen

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"mcptest/internal/assert/expect"
	"mcptest/internal/assert/target"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
	"mcptest/internal/spec/suite"
	"mcptest/schemas"
)

// durationPattern is what source.ParseDuration reads.
const durationPattern = `^\s*\+?(0|([0-9. ]+(ns|us|µs|μs|ms|s|m|h) *)+)\s*$`

// generator builds the definitions of one schema.
type generator struct {
	comments map[string]string
	types    map[string]reflect.Type
	names    map[reflect.Type]string // of definitions
	defs     map[string]jsonv.Value
	expanded map[string]bool        // how each definition of a struct was made
	rules    map[string]jsonv.Value // of tests without a call, by definition
	errs     []error
}

// languageDirs are the folders of the sources with the language's structs, whose
// comments become descriptions.
var languageDirs = []string{"../../offer/compat", "../../offer/ruleset", "../../spec/suite", "../../spec/repeat", "../../spec/agent", "../../server/upstream"}

func newGenerator() *generator {
	g := &generator{
		comments: map[string]string{}, types: suite.SchemaTypes(), names: map[reflect.Type]string{},
		defs: map[string]jsonv.Value{}, expanded: map[string]bool{}, rules: map[string]jsonv.Value{},
	}
	for _, dir := range languageDirs {
		if err := readComments(g.comments, dir); err != nil {
			g.errs = append(g.errs, err)
		}
	}
	for name, t := range g.types {
		g.names[t] = name
	}
	return g
}

// Schema returns the JSON Schema (2020-12) of suite files. An error means that the
// language has a key or a type that this package has no description of.
func Schema() (jsonv.Value, error) {
	g := newGenerator()
	for name, v := range expect.SchemaDefs().Members() {
		g.defs[name] = g.expectDef(name, v)
	}
	var kinds []any
	for _, k := range Violations() {
		kinds = append(kinds, k.Name)
	}
	g.defs["violation"] = orText(object(pair{"enum", kinds}))
	for name, text := range fixedDefs {
		g.defs[name] = g.json(text)
	}
	for _, t := range g.titledTypes() {
		g.rules[t.def] = g.yaml("{" + t.rules + "}")
	}
	root := g.structure("suite", g.types["suite"], true)
	for _, name := range slices.Sorted(maps.Keys(g.types)) {
		if !inlined[name] && name != "suite" {
			g.define(name, g.types[name], true)
		}
	}
	g.defs["teardown-step"] = g.teardownStep()
	names := slices.Sorted(maps.Keys(g.defs))
	defs := make([]pair, len(names))
	for i, name := range names {
		defs[i] = pair{name, g.defs[name]}
	}
	head := object(
		pair{"$schema", "https://json-schema.org/draft/2020-12/schema"},
		pair{"$id", schemas.URL},
		pair{"title", "mcptest suite"},
		pair{"description", "A suite of tests for MCP servers."},
	)
	return merge(merge(head, root), object(pair{"$defs", object(defs...)})), errors.Join(g.errs...)
}

func (g *generator) errorf(format string, args ...any) {
	g.errs = append(g.errs, fmt.Errorf(format, args...))
}

// json parses a fragment that is written in this package.
func (g *generator) json(text string) jsonv.Value {
	v, err := jsonv.Parse([]byte(text))
	if err != nil {
		g.errorf("the fragment %s: %v", text, err)
	}
	return v
}

// define makes the definition of a struct and returns a reference to it.
func (g *generator) define(name string, t reflect.Type, expanded bool) jsonv.Value {
	if _, ok := g.defs[name]; ok && g.expanded[name] != expanded {
		g.errorf("%s is used both where placeholders are expanded and where they are not", name)
	} else if !ok {
		g.defs[name], g.expanded[name] = jsonv.Object(), expanded // for structs that lead to themselves
		v := g.structure(name, t, expanded)
		if expanded && !written[name] && !isTest(name) {
			v = orWhole(v)
		}
		g.defs[name] = v
	}
	return ref(name)
}

func ref(name string) jsonv.Value { return object(pair{"$ref", "#/$defs/" + name}) }

// structure describes a struct: a closed map of its keys. expanded says whether
// placeholders are expanded below it.
func (g *generator) structure(name string, t reflect.Type, expanded bool) jsonv.Value {
	var props, required []pair
	for _, f := range source.Fields(t) {
		v := g.field(t, f, expanded)
		props = append(props, pair{f.Name, v})
		if strings.ToLower(f.Name) != f.Name { // accepted too, but not documented
			snake := strings.ToLower(wordStart.ReplaceAllString(f.Name, "${1}_$2"))
			props = append(props, pair{snake, v.With("doNotSuggest", jsonv.Bool(true))})
		}
		if f.Required {
			required = append(required, pair{f.Name, nil})
		}
	}
	out := object(pair{"type", "object"})
	if required != nil {
		keys := make([]any, len(required))
		for i, p := range required {
			keys[i] = p.key
		}
		out = out.With("required", jsonv.From(keys))
	}
	out = merge(out, object(pair{"properties", object(props...)}, pair{"additionalProperties", false}))
	if text, ok := structRules[name]; ok {
		out = merge(out, g.json(text))
	}
	return merge(out, g.rules[name])
}

// field describes one key: what its type says, what its tags and the table of facts add,
// and the comment of its field.
func (g *generator) field(t reflect.Type, f source.FieldInfo, expanded bool) jsonv.Value {
	owner, sf := declaring(t, f.GoName)
	id := owner + "." + f.Name
	fact := facts[id]
	var v jsonv.Value
	switch {
	case fact.schema != "":
		v = g.json(fact.schema)
	case f.Enum != nil && sf.Type.Kind() == reflect.Slice:
		v = object(pair{"type", "array"}, pair{"items", g.enum(f, expanded)})
	case f.Enum != nil:
		v = g.enum(f, expanded)
	default:
		typ := sf.Type
		if fact.given {
			typ = typ.Elem()
		}
		v = g.typ(typ, expanded && !fact.fixed, id)
	}
	v = merge(v, g.added(sf, fact))
	doc := g.comments[owner+"."+sf.Name]
	if doc == "" {
		doc = g.comments[aliasOf[owner]+"."+sf.Name]
	}
	if doc == "" {
		g.errorf("the key %s has no comment", id)
	}
	head := object(pair{"description", doc})
	if value, ok := sf.Tag.Lookup("default"); ok {
		head = head.With("default", g.yaml(value))
	}
	if fact.example != "" {
		head = head.With("examples", jsonv.Array(g.json(fact.example)))
	} else if value, ok := sf.Tag.Lookup("example"); ok {
		head = head.With("examples", jsonv.Array(g.yaml(value)))
	}
	return merge(head, v)
}

// added returns the members for a key's schema that its type does not say.
func (g *generator) added(sf reflect.StructField, fact fact) jsonv.Value {
	if fact.add != "" {
		return g.json(fact.add)
	}
	if low, high, ok := strings.Cut(sf.Tag.Get("range"), "-"); ok {
		return g.json(`{"minimum":` + low + `,"maximum":` + high + `}`)
	}
	return g.yaml("{" + sf.Tag.Get("schema") + "}")
}

// yaml parses the value of a tag.
func (g *generator) yaml(text string) jsonv.Value {
	n, ds := source.Parse(&source.File{Name: text, Data: []byte(text)})
	if ds.HasErrors() {
		g.errorf("the tag %s: %v", text, ds)
	}
	return n.JSON()
}

// declaring returns the name of the struct that declares a field, which may be
// one that is inlined, and the field.
func declaring(t reflect.Type, goName string) (string, reflect.StructField) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	sf, _ := t.FieldByName(goName)
	for _, i := range sf.Index[:max(0, len(sf.Index)-1)] {
		t = t.Field(i).Type
	}
	return t.Name(), sf
}

func (g *generator) enum(f source.FieldInfo, expanded bool) jsonv.Value {
	if !expanded {
		return object(pair{"enum", f.Enum})
	}
	return orText(object(pair{"enum", f.Enum}))
}

// orText adds the alternative of a text with a placeholder in it.
func orText(v jsonv.Value) jsonv.Value {
	text := object(pair{"type", "string"}, pair{"pattern", holds})
	return object(pair{"anyOf", jsonv.Array(v, text)})
}

// orWhole adds a placeholder to the types that a schema allows: it is a text,
// so the other keywords do not see it.
func orWhole(v jsonv.Value) jsonv.Value {
	types := listTypes(v)
	if types == nil || slices.Contains(types, "string") {
		return v
	}
	v = v.With("type", jsonv.From(append(types, "string")))
	return merge(v, object(
		pair{"pattern", whole},
		pair{"patternErrorMessage", "text is not allowed here, except a placeholder such as ${name}"},
	))
}

// orNull adds null, which counts as a key left out.
func orNull(v jsonv.Value) jsonv.Value {
	types := listTypes(v)
	switch {
	case types == nil:
		return object(pair{"anyOf", jsonv.Array(v, object(pair{"type", "null"}))})
	case slices.Contains(types, "null"):
		return v
	}
	return v.With("type", jsonv.From(append(types, "null")))
}

// expectDef adapts a definition of package expect: placeholders may stand for
// every value in it.
func (g *generator) expectDef(name string, v jsonv.Value) jsonv.Value {
	v = g.withExamples(name, loosen(v))
	if name == "assertion" {
		props := v.Lookup("properties")
		old := props.Lookup("target")
		g.defs["target"] = object(
			pair{"type", "string"}, pair{"pattern", targetPattern()},
			pair{"patternErrorMessage", "a target starts with one of " + strings.Join(rootNames(), ", ")},
		)
		v = v.With("properties", props.With("target", merge(ref("target"), old.Without("type"))))
	}
	return v
}

// withExamples adds the examples of the keys at and below a definition.
func (g *generator) withExamples(name string, v jsonv.Value) jsonv.Value {
	if props, ok := v.Get("properties"); ok {
		for key, p := range props.Members() {
			if text, ok := expectExamples[name+"."+key]; ok {
				p = p.With("examples", jsonv.Array(g.json(text)))
			}
			props = props.With(key, g.withExamples(name, p))
		}
		v = v.With("properties", props)
	}
	if items, ok := v.Get("items"); ok {
		v = v.With("items", g.withExamples(name, items))
	}
	if alts, ok := v.Get("anyOf"); ok {
		var out []jsonv.Value
		for _, alt := range alts.Elems() {
			out = append(out, g.withExamples(name, alt))
		}
		v = v.With("anyOf", jsonv.Array(out...))
	}
	return v
}

// loosen allows a placeholder at every place of a schema.
func loosen(v jsonv.Value) jsonv.Value {
	if v.Kind() != jsonv.KindObject {
		return v
	}
	for _, key := range []string{"properties", "$defs"} {
		if props, ok := v.Get(key); ok {
			for name, p := range props.Members() {
				props = props.With(name, loosen(p))
			}
			v = v.With(key, props)
		}
	}
	for _, key := range []string{"items", "additionalProperties"} {
		if sub, ok := v.Get(key); ok {
			v = v.With(key, loosen(sub))
		}
	}
	if list, ok := v.Get("anyOf"); ok {
		var subs []jsonv.Value
		for _, sub := range list.Elems() {
			subs = append(subs, loosen(sub))
		}
		v = v.With("anyOf", jsonv.Array(subs...))
	}
	// The one schema of an allOf says as much without it.
	if list := v.Lookup("allOf"); list.Len() == 1 {
		v = merge(v.Without("allOf"), loosen(list.At(0)))
	}
	if words, ok := v.Get("enum"); ok {
		return merge(v.Without("enum"), orText(object(pair{"enum", words})))
	}
	return orWhole(v)
}

// targetPattern is what a target may start with.
func targetPattern() string {
	var open, leaf []string
	for _, r := range target.Roots() {
		name := strings.ReplaceAll(r.Name, ".", `\.`)
		switch {
		case strings.HasPrefix(r.Name, "http."):
		case r.Leaf != "":
			leaf = append(leaf, name)
		default:
			open = append(open, name)
		}
	}
	return `^(` + strings.Join(open, "|") + `)([.\[]|$)|^(` + strings.Join(leaf, "|") + `)$|^http[.\[]|^[$\[]|` + holds
}

func rootNames() []string {
	var names []string
	for _, r := range target.Roots() {
		names = append(names, r.Name)
	}
	return names
}
