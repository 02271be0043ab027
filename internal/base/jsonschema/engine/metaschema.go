package engine

import (
	"embed"
	"strings"
	"sync"

	"mcptest/internal/base/jsonv"
)

// The metaschemas as published at json-schema.org, without their texts for people.
//
//go:embed metaschemas
var metaschemas embed.FS

// metaschemaText returns the metaschema at a URI, "" if there is none.
func metaschemaText(uri string) string {
	name, ok := strings.CutPrefix(withoutScheme(uri), "json-schema.org/")
	if !ok {
		return ""
	}
	if name == "schema" {
		name = "draft/2020-12/schema"
	}
	text, err := metaschemas.ReadFile("metaschemas/" + name + ".json")
	if err != nil {
		return ""
	}
	return string(text)
}

// ownMetaschema is the URI of the metaschema of a dialect, which refers to those of its
// vocabularies.
const ownMetaschema = "urn:mcptest:metaschema"

// isMetaschema reports whether a document is known to be valid.
func isMetaschema(uri string) bool { return uri == ownMetaschema || metaschemaText(uri) != "" }

// compiledMeta has the metaschema, a *node, of each draft of which a schema was compiled.
var compiledMeta sync.Map

// metaOf returns the compiled metaschema of a dialect.
func metaOf(d dialect) *node {
	if d.draft >= Draft2019 && d.vocabularies != nil {
		return compileMeta(d)
	}
	if known, ok := compiledMeta.Load(d.draft); ok {
		return known.(*node)
	}
	root := compileMeta(d) // two goroutines may both do this, with equal results
	compiledMeta.Store(d.draft, root)
	return root
}

// compileMeta compiles the metaschema of a dialect. Before 2019-09 it is that of the
// draft, and after that those of the vocabularies in use.
func compileMeta(d dialect) *node {
	uri := "http://" + d.draft.uri()
	c := newCompiler(Options{Draft: d.draft, AssertFormat: true})
	if d.draft >= Draft2019 {
		uri = ownMetaschema
		c.loaded[uri] = vocabulariesOf(d)
	}
	s, err := c.compile(uri)
	if err != nil {
		panic("the metaschema of draft " + d.draft.uri() + ": " + err.Error()) // a mistake of this program
	}
	return s.root
}

// vocabulariesOf returns a metaschema that refers to those of the vocabularies.
func vocabulariesOf(d dialect) jsonv.Value {
	folder := "https://" + strings.TrimSuffix(d.draft.uri(), "schema") + "meta/"
	all := jsonv.List(d.names(), func(name string) jsonv.Value { return jsonv.ObjectOf("$ref", folder+name) })
	if d.draft == Draft2019 {
		return jsonv.ObjectOf("$recursiveAnchor", true, "allOf", all)
	}
	return jsonv.ObjectOf("$dynamicAnchor", "meta", "allOf", all)
}
