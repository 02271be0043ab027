package jsonschema_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"mcptest/internal/base/jsonschema"
	"mcptest/internal/base/jsonv"
)

// FuzzSchema feeds any schema any value: no panic, no hang, no fault of the
// library that comes through, pointers that lead somewhere.
func FuzzSchema(f *testing.F) {
	for _, s := range []string{
		`{"type":["string","null"],"minLength":2,"pattern":"^(?!x)"}`, `{"$ref":"#"}`, explosive(20),
		`{"$defs":{"a":{"$anchor":"x","type":"null"}},"items":{"$ref":"#x"},"uniqueItems":true,"contains":true}`,
		`{"$id":"http://a/b","$ref":"c"}`, `{"oneOf":[{"const":1},{"enum":[1e400000]}],"multipleOf":1e-9}`,
		`{"$schema":"http://json-schema.org/draft-07/schema#","dependencies":{"a":["b"]},"definitions":{"":{"$ref":"#/definitions/"}}}`,
		`{"propertyNames":{"format":"regex"},"unevaluatedProperties":false,"$dynamicRef":"#m","$dynamicAnchor":"m"}`,
	} {
		for _, v := range []string{`1`, `"x"`, `[1,1.0,{"a":[]}]`, `{"a":null,"b":{}}`, `1e2000000`} {
			f.Add([]byte(s), []byte(v))
		}
	}
	// Each reaches code that no other seed does.
	f.Add([]byte("{\"\":[\"\",\"\"],\"mi^Length\":2,\"pattern\":\"nt\x86ii?!x)\"}"), []byte("\"\xaa\""))
	f.Add([]byte("{\"$schema\":\"httpb-schema5555555afh ma#\",\"dependenc\x83\x83\x83\":{\"a\":[\"b\"]},\"definitions\":{\"\":{\"$ref\":\"#/definitions/\"}}}"), []byte("\"x\""))
	f.Add([]byte("{\"$schema\":\"http://json-schema.org/draft-07/scp#a\xb4\xabק\xa7\xa7\xa7\xa7\xa7\xa7endenche\x81a#\",\"dependencies\":{\"a\":[\"A\"]},\"definitions\":{\"\":{\"$ref\":\"#/definitions/\"}}}"), []byte("\"x\""))
	f.Add([]byte("{\"$schema\":\"http$//js`on-.;rg/draft-07/\x7f\x7f\x7f\x7f\x7f\x7f\x7fsche\xd6a#\",\"de\xfespendencies\":{\"a\":[\"b\"]},\"definitions\":{\"\":{\"$ref\":\"#/dencifinit]ons/\"}}}"), []byte("\"x\""))
	f.Fuzz(func(t *testing.T, schema, instance []byte) {
		doc, err := jsonv.Parse(schema)
		if err != nil {
			return
		}
		v, err := jsonv.Parse(instance)
		if err != nil {
			return
		}
		s, err := jsonschema.Compile(doc, jsonschema.Options{AssertFormat: true})
		if err != nil {
			checkSchemaError(t, doc, err)
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), 500*time.Millisecond)
		defer cancel()
		found, err := s.Validate(ctx, v)
		if err != nil && strings.Contains(err.Error(), "validator failed") {
			t.Fatalf("%s on %s: %v", doc, v, err)
		}
		for _, x := range found {
			if x.Msg == "" {
				t.Fatalf("%s on %s: %+v", doc, v, x)
			}
		}
	})
}

func checkSchemaError(t *testing.T, doc jsonv.Value, err error) {
	var bad *jsonschema.Error
	if !errors.As(err, &bad) || bad.Msg == "" || strings.Contains(bad.Msg, "cannot be compiled") {
		t.Fatalf("%s: %v", doc, err)
	}
	if _, ok := doc.Pointer(bad.Pointer); !ok {
		t.Fatalf("%s: %v points to nothing", doc, err)
	}
}
