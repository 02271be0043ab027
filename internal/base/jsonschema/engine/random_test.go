package engine_test

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"mcptest/internal/base/jsonschema/engine"
	"mcptest/internal/base/jsonv"
)

// generator makes schemas and values that often meet: few names, few values, every
// keyword.
type generator struct {
	*rand.Rand
	draft engine.Draft
	wrong bool // some values of keywords are not valid
}

func pick[T any](g generator, from ...T) T { return from[g.IntN(len(from))] }

func (g generator) name() string { return pick(g, "a", "b", "c", "x-1", "", "é") }

func (g generator) text() string {
	return pick(g, "", "a", "ab", "abc", "é", "10", "2026-01-02", "a@b.c", "http://a/b", "1.2.3", "P1D", "(")
}

func (g generator) number() jsonv.Value {
	v, err := jsonv.Number(pick(g, "0", "1", "2", "3", "-1", "1.0", "1.5", "0.1", "0.3", "1e2", "100", "9007199254740993", "-0", "2.50", "1e-7", "123456789012345678901"))
	if err != nil {
		panic(err)
	}
	return v
}

// value returns a value of any kind.
func (g generator) value(depth int) jsonv.Value {
	kinds := 7
	if depth <= 0 {
		kinds = 5
	}
	switch g.IntN(kinds) {
	case 0:
		return jsonv.Null()
	case 1:
		return jsonv.Bool(g.IntN(2) == 0)
	case 2, 3:
		return g.number()
	case 4:
		return jsonv.String(g.text())
	case 5:
		var list []jsonv.Value
		for range g.IntN(4) {
			list = append(list, g.value(depth-1))
		}
		return jsonv.Array(list...)
	}
	var members []jsonv.Member
	for range g.IntN(4) {
		members = append(members, jsonv.Member{Key: g.name(), Value: g.value(depth - 1)})
	}
	return jsonv.Object(members...)
}

// schema returns a schema with some keywords of the draft.
func (g generator) schema(depth int) jsonv.Value {
	if g.draft > engine.Draft4 && g.IntN(8) == 0 {
		return jsonv.Bool(g.IntN(3) > 0)
	}
	out := jsonv.Object()
	for range 1 + g.IntN(3) {
		keyword := g.keyword()
		v := g.argument(keyword, depth)
		if g.wrong && g.IntN(40) == 0 {
			v = g.value(1)
		}
		if keyword == "$ref" && g.draft < engine.Draft2019 {
			return jsonv.ObjectOf("$ref", v) // other keywords would be ignored
		}
		out = out.With(keyword, v)
	}
	return out
}

// document returns a schema with definitions that its references lead to.
func (g generator) document() jsonv.Value {
	s := g.schema(3)
	if s.Kind() != jsonv.KindObject {
		return s
	}
	definitions := jsonv.Object()
	for i := range 3 {
		d := g.schema(2)
		if d.Kind() == jsonv.KindObject {
			d = g.named(d, i)
		}
		definitions = definitions.With(fmt.Sprintf("d%d", i), d)
	}
	if g.draft >= engine.Draft2019 {
		if g.IntN(3) == 0 {
			s = s.With("$recursiveAnchor", jsonv.Bool(true))
		}
		return s.With("$defs", definitions)
	}
	return s.With("definitions", definitions)
}

// named gives a definition an anchor or a URI.
func (g generator) named(d jsonv.Value, i int) jsonv.Value {
	id := "$id"
	switch {
	case g.draft == engine.Draft4:
		id = "id"
		fallthrough
	case g.draft < engine.Draft2019:
		return d.With(id, jsonv.String(pick(g, fmt.Sprintf("#n%d", i), fmt.Sprintf("http://x.example/%d", i))))
	case g.draft == engine.Draft2020 && g.IntN(2) == 0:
		return d.With("$dynamicAnchor", jsonv.String(fmt.Sprintf("n%d", i)))
	case g.IntN(2) == 0:
		return d.With("$id", jsonv.String(fmt.Sprintf("http://x.example/%d", i)))
	}
	return d.With("$anchor", jsonv.String(fmt.Sprintf("n%d", i)))
}

func (g generator) keyword() string {
	names := "type enum multipleOf minimum maximum exclusiveMinimum exclusiveMaximum minLength maxLength pattern items additionalItems " +
		"minItems maxItems uniqueItems properties patternProperties additionalProperties required minProperties maxProperties " +
		"dependencies allOf anyOf oneOf not $ref format properties properties required anyOf oneOf allOf type items title"
	if g.draft >= engine.Draft6 {
		names += " const contains propertyNames"
	}
	if g.draft >= engine.Draft7 {
		names += " if then else"
	}
	if g.draft >= engine.Draft2019 {
		names += " dependentRequired dependentSchemas unevaluatedItems unevaluatedProperties minContains maxContains unevaluatedProperties"
	}
	if g.draft == engine.Draft2019 {
		names += " $recursiveRef"
	}
	if g.draft == engine.Draft2020 {
		names += " prefixItems $dynamicRef"
	}
	return pick(g, strings.Fields(names)...)
}

// argument returns a value for a keyword.
func (g generator) argument(keyword string, depth int) jsonv.Value {
	sub := func() jsonv.Value {
		if depth <= 0 {
			return jsonv.ObjectOf("type", g.typeName())
		}
		return g.schema(depth - 1)
	}
	switch keyword {
	case "type":
		if g.IntN(3) == 0 {
			return jsonv.Array(jsonv.String("null"), jsonv.String(pick(g, "string", "object", "array")))
		}
		return jsonv.String(g.typeName())
	case "enum":
		return jsonv.Array(jsonv.Int(1), jsonv.String("a"), g.value(1).OrNull()).Map(distinct())
	case "const":
		return g.value(1)
	case "minimum", "maximum":
		return g.number()
	case "exclusiveMinimum", "exclusiveMaximum":
		if g.draft == engine.Draft4 {
			return jsonv.Bool(g.IntN(2) == 0)
		}
		return g.number()
	case "multipleOf":
		v, _ := jsonv.Number(pick(g, "1", "2", "0.1", "0.01", "1.5", "1e-7", "3"))
		return v
	case "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains", "maxContains":
		return jsonv.Int(int64(g.IntN(4)))
	case "pattern":
		return jsonv.String(g.pattern())
	case "format":
		return jsonv.String(pick(g, "date", "email", "uri", "ipv4", "semver", "duration", "regex", "nothing"))
	case "uniqueItems":
		return jsonv.Bool(g.IntN(4) > 0)
	case "required":
		return jsonv.Array(jsonv.String("a"), jsonv.String(pick(g, "b", "é")))
	case "title":
		return jsonv.String("t")
	case "propertyNames":
		return pick(g, jsonv.ObjectOf("pattern", g.pattern()), jsonv.ObjectOf("maxLength", 1), jsonv.Bool(g.IntN(4) > 0), jsonv.ObjectOf("type", "string"))
	case "$ref", "$recursiveRef", "$dynamicRef":
		return jsonv.String(g.reference(keyword))
	case "items":
		if g.draft < engine.Draft2020 && g.IntN(2) == 0 {
			return jsonv.Array(sub(), sub())
		}
		return sub()
	case "allOf", "anyOf", "oneOf", "prefixItems":
		return jsonv.Array(sub(), sub())
	case "properties", "dependentSchemas":
		return jsonv.Object(jsonv.Member{Key: "a", Value: sub()}, jsonv.Member{Key: pick(g, "b", "é", "x-1"), Value: sub()})
	case "patternProperties":
		return jsonv.Object(jsonv.Member{Key: g.pattern(), Value: sub()})
	case "dependencies":
		return jsonv.Object(jsonv.Member{Key: "a", Value: jsonv.Array(jsonv.String("b"))}, jsonv.Member{Key: "b", Value: sub()})
	case "dependentRequired":
		return jsonv.ObjectOf("a", []string{"b", "c"})
	}
	return sub()
}

func (g generator) typeName() string {
	return pick(g, "null", "boolean", "number", "integer", "string", "array", "object")
}

func (g generator) pattern() string { return pick(g, "^a", "b$", "^(?!a)", "é", ".", "^.$", `\d`) }

func (g generator) reference(keyword string) string {
	if keyword == "$recursiveRef" {
		return "#"
	}
	definitions := "definitions"
	if g.draft >= engine.Draft2019 {
		definitions = "$defs"
	}
	return pick(g, "#", fmt.Sprintf("#/%s/d%d", definitions, g.IntN(3)), fmt.Sprintf("#n%d", g.IntN(3)), fmt.Sprintf("http://x.example/%d", g.IntN(3)),
		fmt.Sprintf("#/%s/d%d", definitions, g.IntN(3)))
}

// distinct returns a function that turns values that occurred before into other ones.
func distinct() func(string, jsonv.Value) (string, jsonv.Value) {
	var seen []jsonv.Value
	return func(key string, v jsonv.Value) (string, jsonv.Value) {
		for _, s := range seen {
			if jsonv.Equal(s, v) {
				return key, jsonv.String(fmt.Sprintf("distinct %d", len(seen)))
			}
		}
		seen = append(seen, v)
		return key, v
	}
}
