package engine

import "strings"

// Draft is a version of JSON Schema: 4, 6, 7, 2019 or 2020.
type Draft int

// The drafts.
const (
	Draft4    Draft = 4
	Draft6    Draft = 6
	Draft7    Draft = 7
	Draft2019 Draft = 2019
	Draft2020 Draft = 2020
)

// uri returns the URI of the draft's metaschema without a scheme.
func (d Draft) uri() string {
	switch d {
	case Draft4:
		return "json-schema.org/draft-04/schema"
	case Draft6:
		return "json-schema.org/draft-06/schema"
	case Draft7:
		return "json-schema.org/draft-07/schema"
	case Draft2019:
		return "json-schema.org/draft/2019-09/schema"
	}
	return "json-schema.org/draft/2020-12/schema"
}

// withoutScheme removes http:// or https:// from a URI: metaschemas are known under both.
func withoutScheme(uri string) string {
	if rest, ok := strings.CutPrefix(uri, "http://"); ok {
		return rest
	}
	return strings.TrimPrefix(uri, "https://")
}

// DraftOf returns the draft that a $schema names, false if it names another metaschema.
func DraftOf(schema string) (Draft, bool) {
	name := withoutScheme(strings.TrimSuffix(schema, "#"))
	if name == "json-schema.org/schema" {
		return Draft2020, true
	}
	for _, d := range [...]Draft{Draft2020, Draft7, Draft2019, Draft6, Draft4} {
		if name == d.uri() {
			return d, true
		}
	}
	return 0, false
}

// idKeyword is the keyword with the URI of a schema.
func (d Draft) idKeyword() string {
	if d == Draft4 {
		return "id"
	}
	return "$id"
}

// refStandsAlone reports whether the keywords next to $ref are ignored.
func (d Draft) refStandsAlone() bool { return d < Draft2019 }

// Forms in which the value of a keyword contains schemas.
const (
	holdsOne   = 1 << iota // a schema
	holdsList              // a list of schemas
	holdsNamed             // schemas by name
)

// holds returns the forms in which a keyword contains schemas, 0 if it contains none.
func (d Draft) holds(keyword string) int {
	switch keyword {
	case "not", "additionalProperties", "additionalItems":
		return holdsOne
	case "items":
		return holdsOne | holdsList
	case "allOf", "anyOf", "oneOf":
		return holdsList
	case "properties", "patternProperties", "definitions", "dependencies":
		return holdsNamed
	case "propertyNames", "contains":
		return d.form(Draft6, holdsOne)
	case "if", "then", "else":
		return d.form(Draft7, holdsOne)
	case "unevaluatedProperties", "unevaluatedItems", "contentSchema":
		return d.form(Draft2019, holdsOne)
	case "$defs", "dependentSchemas":
		return d.form(Draft2019, holdsNamed)
	case "prefixItems":
		return d.form(Draft2020, holdsList)
	}
	return 0
}

func (d Draft) form(since Draft, form int) int {
	if d < since {
		return 0
	}
	return form
}
