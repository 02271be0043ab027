package engine

import (
	"net/url"
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
)

// dialectOf returns the dialect that a $schema at a place names.
func (c *compiler) dialectOf(p Place, uri string) (dialect, *Error) {
	if draft, ok := DraftOf(uri); ok {
		return dialect{draft: draft}, nil
	}
	meta, _, _ := strings.Cut(uri, "#")
	draft, err := c.draftOfMetaschema(p, meta, uri, nil)
	if err != nil {
		return dialect{}, err
	}
	own := dialect{draft: draft}
	if draft < Draft2019 {
		return own, nil
	}
	vocabularies := c.loaded[meta].Lookup("$vocabulary")
	if vocabularies.Kind() != jsonv.KindObject {
		return own, nil
	}
	own.vocabularies = []string{"core"}
	for name, required := range vocabularies.Effective {
		if !required.Bool() {
			continue
		}
		known, ok := draft.vocabularyName(name)
		if !ok {
			return dialect{}, errorAt(p.with("$schema"), "the metaschema %q needs the unknown vocabulary %q", uri, name)
		}
		if !slices.Contains(own.vocabularies, known) {
			own.vocabularies = append(own.vocabularies, known)
		}
	}
	return own, nil
}

// draftOfMetaschema follows the $schema of metaschemas to that of a draft.
func (c *compiler) draftOfMetaschema(p Place, uri, written string, seen []string) (Draft, *Error) {
	if slices.Contains(seen, uri) || p.Pointer == "" && p.URI == uri {
		return 0, unknownMetaschema(p, written)
	}
	if _, err := url.Parse(uri); err != nil {
		return 0, unknownMetaschema(p, written)
	}
	v, err := c.load(uri)
	if err != nil {
		return 0, unknownMetaschema(p, written)
	}
	schema := v.Lookup("$schema")
	if schema.Kind() != jsonv.KindString {
		return c.options.Draft, nil
	}
	if draft, ok := DraftOf(schema.Text()); ok {
		return draft, nil
	}
	next, _, _ := strings.Cut(schema.Text(), "#")
	return c.draftOfMetaschema(p, next, written, append(seen, uri))
}

// unknownMetaschema returns the error for a $schema.
func unknownMetaschema(p Place, uri string) *Error {
	return errorAt(p.with("$schema"), "unknown metaschema %q", uri)
}
