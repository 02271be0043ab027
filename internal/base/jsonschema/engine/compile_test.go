package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"mcptest/internal/base/jsonschema/engine"
	"mcptest/internal/base/jsonv"
)

func parse(t *testing.T, text string) jsonv.Value {
	t.Helper()
	v, err := jsonv.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// loader returns a Load for some documents.
func loader(t *testing.T, documents map[string]string) func(uri string) (jsonv.Value, error) {
	return func(uri string) (jsonv.Value, error) {
		text, ok := documents[uri]
		if !ok {
			return jsonv.Value{}, errors.New("there is no such document")
		}
		return parse(t, text), nil
	}
}

// TestErrors: what cannot be compiled is refused with its place.
func TestErrors(t *testing.T) {
	t.Parallel()
	documents := map[string]string{
		"http://x.example/vocabulary": `{"$schema":"https://json-schema.org/draft/2020-12/schema","$vocabulary":{"http://x.example/own":true}}`,
		"http://x.example/circle":     `{"$schema":"http://x.example/circle"}`,
		"http://x.example/bad":        `{"properties":{"a":{"$ref":"#/nowhere"}}}`,
		"http://x.example/invalid":    `{"items":{"type":"x"}}`,
	}
	for _, tt := range []struct{ schema, at, message string }{
		{`{"$schema":"http://x.example/vocabulary"}`, "#/$schema", `the metaschema "http://x.example/vocabulary" needs the unknown vocabulary "http://x.example/own"`},
		{`{"$schema":"http://x.example/circle"}`, "#/$schema", `unknown metaschema "http://x.example/circle"`},
		{`{"items":{"$ref":"http://x.example/bad"}}`, "http://x.example/bad#/properties/a/$ref", `"#/nowhere" points to nothing`},
		{`{"items":{"$ref":"http://x.example/invalid"}}`, "http://x.example/invalid#", ""},
		{`{"items":{"$ref":"http://x.example/gone"}}`, "#/items/$ref", `cannot load "http://x.example/gone": there is no such document`},
		{`{"$defs":{"a":{"$id":"b"},"c":{"$id":"b"}}}`, "#/$defs/c/$id", `the schema at "/$defs/a" has the same URI "http://example.com/b"`},
		{`{"$defs":{"a":{"$anchor":"b"},"c":{"$anchor":"b"}}}`, "#/$defs/c/$anchor", `the schema at "/$defs/a" has the same anchor "b"`},
		{`{"$ref":"#/x/a","x":{"a":{"type":"y"}}}`, "#/x/a", ""},
		{`{"$ref":"http://[x"}`, "#", ""},
		{`{"$ref":"#%zz"}`, "#", ""},
		{`{"patternProperties":{"a":{"patternProperties":{"(":true}}}}`, "#", ""},
		{`{"$schema":"http://json-schema.org/draft-04/schema#","patternProperties":{"(":{}}}`, "#/patternProperties/(", "bad regular expression \"(\": missing closing ) in `(`"},
	} {
		_, err := engine.Compile(parse(t, tt.schema), engine.Options{BaseURI: "http://example.com/a", Load: loader(t, documents)})
		var bad *engine.Error
		if !errors.As(err, &bad) {
			t.Errorf("%s: %v", tt.schema, err)
			continue
		}
		at := strings.TrimPrefix(bad.Place.URI, "http://example.com/a") + "#" + bad.Place.Pointer
		if at != tt.at || bad.Msg != tt.message || (tt.message == "") != (len(bad.Failures) > 0) {
			t.Errorf("%s: %s: %q, %d failures; want %s: %q", tt.schema, at, bad.Msg, len(bad.Failures), tt.at, tt.message)
		}
	}
}

// TestVocabularies: a metaschema chooses the keywords that mean something.
func TestVocabularies(t *testing.T) {
	t.Parallel()
	o := engine.Options{BaseURI: "http://example.com/a", Load: loader(t, map[string]string{
		"http://x.example/meta": `{"$schema":"https://json-schema.org/draft/2020-12/schema","$vocabulary":{
			"https://json-schema.org/draft/2020-12/vocab/core":true,"https://json-schema.org/draft/2020-12/vocab/applicator":true,
			"https://json-schema.org/draft/2020-12/vocab/format-assertion":true,"http://x.example/optional":false}}`,
	})}
	for text, want := range map[string]bool{
		`{"properties":{"a":false}}`:                false,
		`{"properties":{"a":{"format":"ipv4"}}}`:    false,
		`{"properties":{"a":{"type":"null"}}}`:      true, // validation is not in use
		`{"properties":{"a":{"minLength":"long"}}}`: true,
		`{"unevaluatedProperties":false}`:           true,
	} {
		doc := parse(t, text).With("$schema", jsonv.String("http://x.example/meta"))
		schema, err := engine.Compile(doc, o)
		if err != nil {
			t.Errorf("%s: %v", doc, err)
			continue
		}
		failures, err := schema.Check(context.Background(), parse(t, `{"a":"x"}`))
		if (len(failures) == 0) != want || err != nil {
			t.Errorf("%s: %v %v", doc, failures, err)
		}
	}
}

// TestDialects: a schema in a schema may be of another draft, and is checked against the
// metaschema of that.
func TestDialects(t *testing.T) {
	t.Parallel()
	const inner = `"$id":"http://x.example/old","$schema":"http://json-schema.org/draft-07/schema#"`
	for text, want := range map[string]string{
		`{"$defs":{"a":{` + inner + `,"items":[true]}}}`:                                           "",
		`{"$defs":{"a":{` + inner + `,"title":1}}}`:                                                "/$defs/a",
		`{"$defs":{"a":{` + inner + `,"properties":{"b":{"required":1}}}}}`:                        "/$defs/a",
		`{"$defs":{"a":{` + inner + `}},"items":[true]}`:                                           "root",
		`{"$schema":"https://json-schema.org/draft/2019-09/schema","properties":{"a":{"type":1}}}`: "root",
	} {
		_, err := engine.Compile(parse(t, text), engine.Options{BaseURI: "http://example.com/a"})
		var bad *engine.Error
		switch {
		case err == nil && want == "":
		case !errors.As(err, &bad) || len(bad.Failures) == 0 || bad.Place.Pointer != strings.TrimPrefix(want, "root"):
			t.Errorf("%s: %+v", text, err)
		}
	}
}

// TestSlowPatternsAreLeft: the end of the context ends a check although a match goes on.
func TestSlowPatternsAreLeft(t *testing.T) {
	t.Parallel()
	schema, err := engine.Compile(parse(t, `{"pattern":"^(?=x*)(a+)+$"}`), engine.Options{BaseURI: "http://example.com/a"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	slow := jsonv.String(strings.Repeat("a", 40) + "!")
	if _, err := schema.Check(ctx, slow); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

// doubling returns a schema that fails a value in 2^n ways, under a keyword that combines
// schemas.
func doubling(keyword string, n int) jsonv.Value {
	definitions := jsonv.ObjectOf("d0", jsonv.ObjectOf("maximum", 1))
	for i := range n {
		to := jsonv.ObjectOf("$ref", fmt.Sprintf("#/$defs/d%d", i))
		definitions = definitions.With(fmt.Sprintf("d%d", i+1), jsonv.ObjectOf(keyword, jsonv.Array(to, to)))
	}
	return jsonv.ObjectOf("$ref", fmt.Sprintf("#/$defs/d%d", n), "$defs", definitions)
}

// TestManyFailures: not all failures are listed, but never none.
func TestManyFailures(t *testing.T) {
	t.Parallel()
	for _, keyword := range []string{"allOf", "anyOf", "oneOf"} {
		schema, err := engine.Compile(doubling(keyword, 16), engine.Options{BaseURI: "http://example.com/a"})
		if err != nil {
			t.Fatal(err)
		}
		failures, err := schema.Check(context.Background(), jsonv.Int(2))
		if n := size(failures); err != nil || n == 0 || n > 1000 {
			t.Errorf("%s: %d failures, %v", keyword, n, err)
		}
	}
}

func size(failures []engine.Failure) int {
	n := len(failures)
	for _, f := range failures {
		for _, alternative := range f.Alternatives {
			n += size(alternative)
		}
	}
	return n
}
