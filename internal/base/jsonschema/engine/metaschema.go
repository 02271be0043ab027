package engine

import (
	"strings"
	"sync"

	"mcptest/internal/base/jsonv"
)

// ownMetaschema is the URI of the metaschema of a dialect, which refers to those of its
// vocabularies.
const ownMetaschema = "urn:mcptest:metaschema"

// The metaschemas of the drafts, compiled when the first schema of the draft is.
var (
	metaOf4    = sync.OnceValue(func() *node { return compileMeta(dialect{draft: Draft4}) })
	metaOf6    = sync.OnceValue(func() *node { return compileMeta(dialect{draft: Draft6}) })
	metaOf7    = sync.OnceValue(func() *node { return compileMeta(dialect{draft: Draft7}) })
	metaOf2019 = sync.OnceValue(func() *node { return compileMeta(dialect{draft: Draft2019}) })
	metaOf2020 = sync.OnceValue(func() *node { return compileMeta(dialect{draft: Draft2020}) })
)

// metaOf returns the compiled metaschema of a dialect.
func metaOf(d dialect) *node {
	switch {
	case d.draft >= Draft2019 && d.vocabularies != nil:
		return compileMeta(d)
	case d.draft == Draft4:
		return metaOf4()
	case d.draft == Draft6:
		return metaOf6()
	case d.draft == Draft7:
		return metaOf7()
	case d.draft == Draft2019:
		return metaOf2019()
	}
	return metaOf2020()
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
	root, err := c.compile(uri)
	if err != nil {
		panic("the metaschema of draft " + d.draft.uri() + ": " + err.Error()) // a mistake of this program
	}
	return root
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
