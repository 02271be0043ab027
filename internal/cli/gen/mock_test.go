package gen

import (
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
	"mcptest/internal/server/manifest"
	"mcptest/schemas"
)

// MockSchema returns the JSON Schema (2020-12) of the files of the mock server. Values that
// have a short form are not described further.
func MockSchema() (jsonv.Value, error) {
	g := &generator{comments: map[string]string{}}
	if err := readComments(g.comments, "../../server/manifest"); err != nil {
		g.errs = append(g.errs, err)
	}
	types := manifest.KeyTypes()
	var defs []pair
	for _, name := range slices.Sorted(maps.Keys(types)) {
		if name != "" {
			defs = append(defs, pair{name, g.mockKeys(types, types[name])})
		}
	}
	head := object(
		pair{"$schema", "https://json-schema.org/draft/2020-12/schema"},
		pair{"$id", schemas.MockURL},
		pair{"title", "mcptest mock server"},
		pair{"description", "A file of mcptest mock --tools-from."},
	)
	return merge(merge(head, g.mockKeys(types, types[""])), object(pair{"$defs", object(defs...)})), errors.Join(g.errs...)
}

// mockKeys describes one struct.
func (g *generator) mockKeys(types map[string]reflect.Type, t reflect.Type) jsonv.Value {
	var props []pair
	var required []any
	for _, f := range source.Fields(t) {
		owner, sf := declaring(t, f.GoName)
		doc := g.comments[owner+"."+sf.Name]
		if doc == "" {
			g.errorf("the key %s.%s of manifests has no comment", owner, f.Name)
		}
		v := object(pair{"description", doc})
		if value, ok := sf.Tag.Lookup("default"); ok {
			v = v.With("default", g.yaml(value))
		}
		v = merge(merge(v, g.mockType(types, sf, f)), g.added(sf, fact{}))
		props = append(props, pair{f.Name, v})
		if f.Required {
			required = append(required, f.Name)
		}
	}
	out := object(pair{"type", "object"})
	if required != nil {
		out = out.With("required", jsonv.From(required))
	}
	return out.With("properties", object(props...))
}

// mockType describes the values of a key.
func (g *generator) mockType(types map[string]reflect.Type, sf reflect.StructField, f source.FieldInfo) jsonv.Value {
	below := jsonv.Object()
	if name := sf.Tag.Get("keys"); name != "" {
		if types[name] == nil {
			g.errorf("the key %s names unknown keys %s", f.Name, name)
		}
		below = ref(name)
	}
	list := object(pair{"type", "array"}, pair{"items", below})
	if f.Enum != nil {
		words := make([]any, len(f.Enum))
		for i, word := range f.Enum {
			words[i] = word
		}
		return object(pair{"enum", words})
	}
	t := sf.Type
	for t.Kind() == reflect.Pointer && t != reflect.PointerTo(nodeType) {
		t = t.Elem()
	}
	switch {
	case t == durationType:
		return object(pair{"type", "string"}, pair{"title", "duration"})
	case t == reflect.PointerTo(nodeType) && below.Len() == 0:
		return below
	case t == reflect.PointerTo(nodeType) && sf.Tag.Get("list") != "":
		return object(pair{"anyOf", []any{list, below, jsonv.Object()}})
	case t == reflect.PointerTo(nodeType):
		return object(pair{"anyOf", []any{below, jsonv.Object()}})
	case t.Name() == "Map[string]":
		return g.json(`{"type":"object","additionalProperties":{"type":["string","number","boolean"]}}`)
	case strings.HasPrefix(t.Name(), "Map["):
		return object(pair{"type", "object"}, pair{"additionalProperties", below})
	case t.Kind() == reflect.Map:
		return object(pair{"type", "object"})
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.String:
		return g.json(`{"type":"array","items":{"type":"string"}}`)
	case t.Kind() == reflect.Slice:
		return list
	}
	kinds := map[reflect.Kind]string{reflect.String: "string", reflect.Int: "integer", reflect.Bool: "boolean"}
	if kinds[t.Kind()] == "" {
		g.errorf("the key %s has a type that the schema of manifests knows nothing of: %v", f.Name, t)
	}
	return object(pair{"type", kinds[t.Kind()]})
}
