package jsonschema

import (
	"iter"
	"strings"
	"sync"

	"mcptest/internal/base/jsonschema/engine"
	"mcptest/internal/base/jsonv"
)

// Holds tells in which forms the value of a keyword contains schemas.
type Holds uint8

// The forms, which can be combined: items is one schema or a list of them.
const (
	HoldsOne   Holds = 1 << iota // a schema
	HoldsList                    // a list of schemas
	HoldsNamed                   // schemas by names that the author chose
)

// keyword describes a keyword of JSON Schema: the form of its value and the drafts that
// define it.
type keyword struct {
	holds        Holds
	since, until engine.Draft // 0: all drafts
}

// keywords are the keywords of 2020-12 and the earlier drafts.
var keywords = sync.OnceValue(func() map[string]keyword {
	table := map[string]keyword{}
	add := func(names string, k keyword) {
		for _, name := range strings.Fields(names) {
			table[name] = k
		}
	}
	add(`$comment $id $recursiveAnchor $ref $schema $vocabulary contentEncoding contentMediaType default deprecated
		description enum examples exclusiveMaximum exclusiveMinimum format id maxItems maxLength maxProperties maximum
		minItems minLength minProperties minimum multipleOf pattern readOnly required title type uniqueItems writeOnly`,
		keyword{})
	add(`const`, keyword{since: 6})
	add(`$anchor $recursiveRef dependentRequired maxContains minContains`, keyword{since: 2019})
	add(`$dynamicAnchor $dynamicRef`, keyword{since: 2020})
	add(`additionalProperties contentSchema not`, keyword{holds: HoldsOne})
	add(`allOf anyOf oneOf`, keyword{holds: HoldsList})
	add(`items`, keyword{holds: HoldsOne | HoldsList})
	add(`additionalItems`, keyword{holds: HoldsOne, until: 2019})
	add(`contains propertyNames`, keyword{holds: HoldsOne, since: 6})
	add(`else if then`, keyword{holds: HoldsOne, since: 7})
	add(`unevaluatedItems unevaluatedProperties`, keyword{holds: HoldsOne, since: 2019})
	add(`prefixItems`, keyword{holds: HoldsList, since: 2020})
	add(`$defs definitions dependencies patternProperties properties`, keyword{holds: HoldsNamed})
	add(`dependentSchemas`, keyword{holds: HoldsNamed, since: 2019})
	return table
})

// HoldsOf returns the forms in which a keyword contains schemas, 0 for one that
// contains none.
func HoldsOf(keyword string) Holds { return keywords()[keyword].holds }

// Within yields the schemas in the value of a keyword with the rest of their pointers,
// "" for the value itself. They need not be valid.
func Within(keyword string, v jsonv.Value) iter.Seq2[string, jsonv.Value] {
	return func(yield func(string, jsonv.Value) bool) {
		holds, kind := HoldsOf(keyword), v.Kind()
		switch {
		case holds&HoldsList != 0 && kind == jsonv.KindArray, holds&HoldsNamed != 0 && kind == jsonv.KindObject:
			for token, e := range v.Children() {
				if !yield(jsonv.AppendPointer("", token), e) {
					return
				}
			}
		case holds&HoldsOne != 0 && (kind == jsonv.KindObject || kind == jsonv.KindBool):
			yield("", v)
		}
	}
}

// Walk visits a schema, which need not be valid, and those in it. at is the pointer to
// the first, and keyword the one that contains a schema, "" for the first. A visit
// returns whether to go on inside.
func Walk(schema jsonv.Value, at string, visit func(at, keyword string, sub jsonv.Value) bool) {
	walk(schema, at, "", 0, visit)
}

func walk(schema jsonv.Value, at, keyword string, depth int, visit func(at, keyword string, sub jsonv.Value) bool) {
	if !visit(at, keyword, schema) || depth > MaxDepth {
		return
	}
	for key, v := range schema.Members() {
		for rest, sub := range Within(key, v) {
			walk(sub, jsonv.AppendPointer(at, key)+rest, key, depth+1, visit)
		}
	}
}
