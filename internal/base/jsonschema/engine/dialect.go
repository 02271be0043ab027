package engine

import (
	"slices"
	"strings"
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
