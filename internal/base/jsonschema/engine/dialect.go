package engine

import (
	"net/url"
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
)

// dialect is a draft and, from 2019-09 on, the vocabularies that are in use.
type dialect struct {
	draft        Draft
	vocabularies []string // nil: those that a schema without a metaschema of its own has
}

func (d dialect) equal(o dialect) bool {
	return d.draft == o.draft && slices.Equal(d.names(), o.names())
}

// has reports whether the keywords of a vocabulary are in use.
func (d dialect) has(vocabulary string) bool {
	return d.draft < Draft2019 || vocabulary == "core" || slices.Contains(d.names(), vocabulary)
}

// names returns the vocabularies in use, none before 2019-09.
func (d dialect) names() []string {
	switch {
	case d.draft < Draft2019:
		return nil
	case d.vocabularies != nil:
		return d.vocabularies
	case d.draft == Draft2019:
		return []string{"core", "applicator", "validation"}
	}
	return []string{"core", "applicator", "unevaluated", "validation"}
}

// hasUnevaluated reports whether unevaluatedItems and unevaluatedProperties are in use.
func (d dialect) hasUnevaluated() bool {
	if d.draft == Draft2019 {
		return d.has("applicator")
	}
	return d.draft > Draft2019 && d.has("unevaluated")
}

// assertsFormat reports whether format is an assertion.
func (d dialect) assertsFormat() bool {
	if d.draft == Draft2019 {
		return d.has("format")
	}
	return d.has("format-assertion")
}

// known reports whether a draft defines a vocabulary.
func (d Draft) known(vocabulary string) bool {
	names := "core applicator validation meta-data format content"
	if d == Draft2020 {
		names = "core applicator unevaluated validation meta-data format-annotation format-assertion content"
	}
	return slices.Contains(strings.Fields(names), vocabulary)
}

// vocabularyName returns the name of a vocabulary from its URI.
func (d Draft) vocabularyName(uri string) (string, bool) {
	name, ok := strings.CutPrefix(uri, "https://"+strings.TrimSuffix(d.uri(), "schema")+"vocab/")
	return name, ok && d.known(name)
}

// dialectOf returns the dialect that a $schema at a place names.
func (c *compiler) dialectOf(p Place, uri string) (dialect, *Error) {
	if draft, ok := draftOf(uri); ok {
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
	if draft, ok := draftOf(schema.Text()); ok {
		return draft, nil
	}
	next, _, _ := strings.Cut(schema.Text(), "#")
	return c.draftOfMetaschema(p, next, written, append(seen, uri))
}

// unknownMetaschema returns the error for a $schema.
func unknownMetaschema(p Place, uri string) *Error {
	return errorAt(p.with("$schema"), "unknown metaschema %q", uri)
}
