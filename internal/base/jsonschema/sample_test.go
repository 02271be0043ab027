package jsonschema_test

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"mcptest/internal/base/jsonschema"
	"mcptest/internal/base/jsonv"
)

// Arguments fit the schema they were made from.
func TestArguments(t *testing.T) {
	for schema, want := range map[string]string{
		`{}`:                `{}`,
		`{"properties": 5}`: `{}`,
		`true`:              `{}`,
		`{"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}, "required": ["b"]}`: `{"b":"text"}`,
		`{"required": ["a"]}`: `{"a":"text"}`,
		`{"properties": {"p": {"type": "string"}, "path": {"type": "string"}}, "required": ["path", "p"]}`:                                                               `{"p":"text","path":"."}`,
		`{"properties": {"n": {"type": "integer", "minimum": 5}}, "required": ["n"]}`:                                                                                    `{"n":5}`,
		`{"properties": {"n": {"type": "integer", "maximum": -3}}, "required": ["n"]}`:                                                                                   `{"n":-3}`,
		`{"properties": {"n": {"type": "number", "exclusiveMinimum": 1, "exclusiveMaximum": 3}}, "required": ["n"]}`:                                                     `{"n":2}`,
		`{"properties": {"n": {"type": "integer", "multipleOf": 4, "minimum": 9}}, "required": ["n"]}`:                                                                   `{"n":12}`,
		`{"properties": {"n": {"type": "number", "maximum": 0.5}}, "required": ["n"]}`:                                                                                   `{"n":0.5}`,
		`{"properties": {"e": {"enum": ["x", "y"]}, "c": {"const": 3}, "d": {"type": "string", "default": "q"}}, "required": ["e", "c", "d"]}`:                           `{"e":"x","c":3,"d":"q"}`,
		`{"properties": {"l": {"type": "array", "minItems": 2, "items": {"type": "boolean"}}}, "required": ["l"]}`:                                                       `{"l":[false,false]}`,
		`{"properties": {"l": {"type": "array"}}, "required": ["l"]}`:                                                                                                    `{"l":[]}`,
		`{"properties": {"o": {"$ref": "#/$defs/o"}}, "required": ["o"], "$defs": {"o": {"properties": {"u": {"type": "string", "format": "uri"}}, "required": ["u"]}}}`: `{"o":{"u":"https://example.com/"}}`,
		`{"properties": {"o": {"anyOf": [{"type": "null"}, {"type": "integer"}]}}, "required": ["o"]}`:                                                                   `{"o":1}`,
		`{"properties": {"s": {"type": ["null", "string"], "minLength": 6, "maxLength": 6}}, "required": ["s"]}`:                                                         `{"s":"textxx"}`,
		`{"properties": {"s": {"type": "string", "maxLength": 2}}, "required": ["s"]}`:                                                                                   `{"s":"te"}`,
	} {
		doc := mustParse(t, schema)
		got := jsonschema.Arguments(doc)
		if got.String() != want {
			t.Errorf("%s: %s, want %s", schema, got, want)
		}
		s, err := jsonschema.Compile(doc, jsonschema.Options{})
		if err != nil {
			continue
		}
		if bad, err := s.Validate(context.Background(), got); err != nil || len(bad) > 0 {
			t.Errorf("%s: %s does not fit: %v %v", schema, got, bad, err)
		}
	}
}

// A schema that refers to itself has an end, also for random values, which depend on
// nothing but the schema and the source.
func TestValuesOfARecursiveSchema(t *testing.T) {
	schema := mustParse(t, `{"type": "object", "properties": {"next": {"$ref": "#"}, "all": {"type": "array", "items": {"$ref": "#"}}}, "required": ["next"]}`)
	if got := jsonschema.Arguments(schema); got.Kind() != jsonv.KindObject {
		t.Errorf("%s", got)
	}
	for seed := range uint64(50) {
		made := func() string { return jsonschema.Random(schema, rand.New(rand.NewPCG(seed, 1))).String() }
		if once, again := made(), made(); once != again || !strings.Contains(once, `"next"`) {
			t.Fatalf("seed %d: %s, then %s", seed, once, again)
		}
	}
}
