package jsonschema_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"mcptest/internal/base/jsonschema"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/testkit"

	"github.com/google/go-cmp/cmp"
)

func mustParse(t testing.TB, text string) jsonv.Value {
	t.Helper()
	v, err := jsonv.Parse([]byte(text))
	if err != nil {
		t.Fatalf("Parse(%s): %v", text, err)
	}
	return v
}

func nested(open, leaf, end string, n int) string {
	return strings.Repeat(open, n) + leaf + strings.Repeat(end, n)
}

func compile(t testing.TB, schema string, o jsonschema.Options) *jsonschema.Schema {
	t.Helper()
	s, err := jsonschema.Compile(mustParse(t, schema), o)
	if err != nil {
		t.Fatalf("Compile(%s): %v", schema, err)
	}
	return s
}

func validate(t testing.TB, s *jsonschema.Schema, instance string) []string {
	t.Helper()
	found, err := s.Validate(context.Background(), mustParse(t, instance))
	if err != nil {
		t.Fatalf("Validate(%s): %v", instance, err)
	}
	var out []string
	for _, v := range found {
		out = append(out, v.InstancePath+": "+v.Msg)
	}
	return out
}

// TestViolations covers every keyword: what fits, and what is said when
// something does not.
func TestViolations(t *testing.T) {
	for _, tt := range []struct {
		schema, instance string
		want             []string
	}{
		{`true`, `1`, nil},
		{`false`, `1`, []string{": no value is allowed here, got number 1"}},
		{`{"type":"string"}`, `3`, []string{": expected type string, got number 3"}},
		{`{"type":["string","null"]}`, `true`, []string{": expected type null or string, got boolean true"}},
		{`{"type":"integer"}`, `1.0`, nil},
		{`{"type":"integer"}`, `1.5`, []string{": expected type integer, got number 1.5"}},
		{`{"type":"integer"}`, `1e400000`, nil},
		{`{"type":"integer"}`, `1e-400000`, []string{": expected type integer, got number 1e-400000"}},
		{`{"type":"integer"}`, `1e99999999999999999999`, nil},
		{`{"maximum":1e300}`, `-1e-99999999999999999999`, nil},
		{`{"const":5}`, `5.0`, nil},
		{`{"const":9007199254740993}`, `9007199254740992`, []string{": expected 9007199254740993, got 9007199254740992"}},
		{`{"const":{"a":1}}`, `{"a":2}`, []string{`: expected {"a":1}, got {"a":2}`}},
		{`{"enum":["a","b",null]}`, `"c"`, []string{`: expected one of "a", "b", null, got "c"`}},
		{`{"minLength":2}`, `"é"`, []string{": expected at least 2 characters, got 1"}},
		{`{"maxLength":1}`, `"\ud800"`, nil},
		{`{"maxLength":1}`, `"ab"`, []string{": expected at most 1 character, got 2"}},
		{`{"maxLength":1e300}`, `"ab"`, nil},
		{`{"pattern":"^a+$"}`, `"b"`, []string{`: expected text that matches ^a+$, got "b"`}},
		{`{"minimum":5}`, `3`, []string{": expected at least 5, got 3"}},
		{`{"maximum":0.10}`, `3`, []string{": expected at most 0.10, got 3"}},
		{`{"exclusiveMinimum":5}`, `5`, []string{": expected more than 5, got 5"}},
		{`{"exclusiveMaximum":5}`, `5`, []string{": expected less than 5, got 5"}},
		{`{"$schema":"http://json-schema.org/draft-04/schema#","minimum":5,"exclusiveMinimum":true}`, `5`, []string{": expected more than 5, got 5"}},
		{`{"multipleOf":0.01}`, `4.35`, nil},
		{`{"multipleOf":2}`, `3`, []string{": expected a multiple of 2, got 3"}},
		{`{"minItems":1}`, `[]`, []string{": expected at least 1 item, got 0"}},
		{`{"maxItems":1}`, `[1,2]`, []string{": expected at most 1 item, got 2"}},
		{`{"uniqueItems":true}`, `[1,2,1.0]`, []string{": items 0 and 2 are equal"}},
		{`{"uniqueItems":true}`, `["\ud800","\ud801"]`, nil},
		{`{"items":{"type":"integer"}}`, `[1,"x",true]`, []string{`[1]: expected type integer, got string "x"`, "[2]: expected type integer, got boolean true"}},
		{`{"prefixItems":[{"type":"null"}],"items":false}`, `[null,2]`, []string{"[1]: unexpected item 2"}},
		{`{"unevaluatedItems":false}`, `[2]`, []string{"[0]: unexpected item 2"}},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","items":[true],"additionalItems":false}`, `[1,2,3]`, []string{": 2 items too many"}},
		{`{"contains":{"type":"null"}}`, `[1]`, []string{`: no item fits the schema under "contains"`}},
		{`{"contains":{"type":"null"},"minContains":2}`, `[null]`, []string{`: expected at least 2 items that fit "contains", got 1`}},
		{`{"contains":{"type":"null"},"maxContains":1}`, `[null,null]`, []string{`: expected at most 1 item that fit "contains", got 2`}},
		{`{"required":["a","b"]}`, `{}`, []string{`: missing property "a"`, `: missing property "b"`}},
		{`{"minProperties":1}`, `{}`, []string{": expected at least 1 property, got 0"}},
		{`{"maxProperties":0}`, `{"a":1}`, []string{": expected at most 0 properties, got 1"}},
		{`{"additionalProperties":false,"properties":{"a":true}}`, `{"a":1,"c":2,"b":3}`, []string{`c: unexpected property "c"`, `b: unexpected property "b"`}},
		{`{"additionalProperties":{"type":"null"}}`, `{"a b":1}`, []string{`["a b"]: expected type null, got number 1`}},
		{`{"unevaluatedProperties":false}`, `{"a":1}`, []string{`a: unexpected property "a"`}},
		{`{"properties":{"0":{"type":"null"}}}`, `{"0":1}`, []string{`["0"]: expected type null, got number 1`}},
		{`{"patternProperties":{"^x-":{"type":"string"}}}`, `{"x-a":1}`, []string{"x-a: expected type string, got number 1"}},
		{`{"propertyNames":{"maxLength":2}}`, `{"abc":1}`, []string{`abc: the name of property "abc" does not fit: expected at most 2 characters, got 3`}},
		{`{"dependentRequired":{"a":["b"]}}`, `{"a":1}`, []string{`: missing property "b", required because "a" is there`}},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","dependencies":{"a":["b"]}}`, `{"a":1}`, []string{`: missing property "b", required because "a" is there`}},
		{`{"dependentSchemas":{"a":{"required":["c"]}}}`, `{"a":1}`, []string{`: missing property "c"`}},
		{`{"not":{"type":"null"}}`, `null`, []string{`: fits the schema under "not", got null`}},
		{`{"allOf":[{"minimum":3},{"multipleOf":2}]}`, `1`, []string{": expected at least 3, got 1", ": expected a multiple of 2, got 1"}},
		{`{"if":{"type":"string"},"then":{"minLength":2},"else":{"minimum":2}}`, `1`, []string{": expected at least 2, got 1"}},
		{`{"oneOf":[{"minimum":1},{"minimum":2}]}`, `3`, []string{": fits alternatives 0 and 1, must fit exactly one"}},
		{
			`{"$ref":"#/$defs/a","$defs":{"a":{"type":"array","items":{"$ref":"#/$defs/b"}},"b":{"required":["id"],"properties":{"id":{"type":"string"}}}}}`,
			`[{"id":3},{}]`,
			[]string{"[0].id: expected type string, got number 3", `[1]: missing property "id"`},
		},
		{`{"format":"date-time"}`, `"x"`, nil}, // an annotation in 2020-12
		{`{"properties":{"a":{"type":"string"}}}`, `{"a":"x","a":1}`, []string{"a: expected type string, got number 1"}},
	} {
		s := compile(t, tt.schema, jsonschema.Options{})
		for range 2 { // compiled once, used often
			if diff := cmp.Diff(tt.want, validate(t, s, tt.instance)); diff != "" {
				t.Errorf("%s on %s (-want +got):\n%s", tt.schema, tt.instance, diff)
			}
		}
	}
}

func TestAlternatives(t *testing.T) {
	content := `{"anyOf":[
		{"properties":{"type":{"const":"text"},"text":{"type":"string"}},"required":["type","text"]},
		{"properties":{"type":{"const":"image"},"data":{"type":"string"}},"required":["type","data"]}]}`
	for _, tt := range []struct {
		schema, instance string
		want             []string
	}{
		{`{"anyOf":[{"type":"string"},{"type":"null"}]}`, `3`, []string{": expected type string or null, got number 3"}},
		{`{"oneOf":[{"const":"a"},{"const":"b"}]}`, `"c"`, []string{`: expected one of "a", "b", got "c"`}},
		{`{"anyOf":[{"type":"null"},{"type":"object","required":["a","b"]}]}`, `{}`, []string{`: missing property "a"`, `: missing property "b"`}},
		{`{"anyOf":[{"anyOf":[{"type":"string"},{"type":"null"}]},{"type":"array"}]}`, `3`, []string{": expected type string, null or array, got number 3"}},
		{content, `{"type":"text"}`, []string{`: missing property "text"`}},
		{content, `{"type":"image","data":1}`, []string{"data: expected type string, got number 1"}},
		{content, `{"type":"video"}`, []string{`type: expected one of "text", "image", got "video"`}},
		{`{"anyOf":[{"minimum":5},{"properties":{"a":{"minimum":3}},"required":["b"]},{"multipleOf":2}]}`, `3`, nil},
		{`{"anyOf":[{"minimum":5},{"multipleOf":2}]}`, `3`, []string{": fits none of the 2 alternatives: expected at least 5, got 3; or expected a multiple of 2, got 3"}},
		{
			`{"properties":{"p":{"anyOf":[{"required":["x"]},{"properties":{"q":{"minimum":3}}}]}}}`, `{"p":{"q":1}}`,
			[]string{`p: fits none of the 2 alternatives: missing property "x"; or q: expected at least 3, got 1`},
		},
		{
			`{"oneOf":[{"type":"string","minLength":3},{"type":"string","pattern":"^x"},{"type":"null"}]}`, `"a"`,
			[]string{`: fits none of the 3 alternatives: expected at least 3 characters, got 1; or expected text that matches ^x, got "a"`},
		},
	} {
		if diff := cmp.Diff(tt.want, validate(t, compile(t, tt.schema, jsonschema.Options{}), tt.instance)); diff != "" {
			t.Errorf("%s on %s (-want +got):\n%s", tt.schema, tt.instance, diff)
		}
	}
}

func TestViolationPlaces(t *testing.T) {
	s := compile(t, `{"properties":{"items":{"items":{"$ref":"#/$defs/a~1b c"}}},"$defs":{"a/b c":{"required":["n"],"properties":{"id":{"type":"string"}}}}}`, jsonschema.Options{})
	got, err := s.Validate(context.Background(), mustParse(t, `{"items":[{"n":1},{"id":3}]}`))
	want := []jsonschema.Violation{
		{InstancePath: "items[1]", Keyword: "required", SchemaPointer: "/$defs/a~1b c/required", Msg: `missing property "n"`},
		{InstancePath: "items[1].id", Keyword: "type", SchemaPointer: "/$defs/a~1b c/properties/id/type", Msg: "expected type string, got number 3"},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	got, err = compile(t, `{"type":"null"}`, jsonschema.Options{}).Validate(context.Background(), jsonv.Value{})
	if len(got) != 1 || err != nil || got[0].Msg != "there is no value" {
		t.Errorf("absent: %v %v", got, err)
	}
	surrogates := compile(t, `{"additionalProperties":{"type":"null"}}`, jsonschema.Options{})
	if got := validate(t, surrogates, `{"\ud800":1}`); !cmp.Equal(got, []string{`["\ud800"]: expected type null, got number 1`}) {
		t.Errorf("%q", got)
	}
}

func TestFormats(t *testing.T) {
	s := compile(t, `{"format":"date-time"}`, jsonschema.Options{AssertFormat: true})
	if got := validate(t, s, `"2025-06-01"`); !cmp.Equal(got, []string{`: expected format date-time, got "2025-06-01"`}) {
		t.Errorf("%q", got)
	}
	if got := validate(t, s, `"2025-06-01T00:00:00Z"`); got != nil {
		t.Errorf("%q", got)
	}
}

func TestECMAPatterns(t *testing.T) {
	for _, tt := range []struct {
		pattern, in string
		want        bool
	}{
		{`^(?!foo).*$`, `"bar"`, true},
		{`^(?!foo).*$`, `"foobar"`, false},
		{`^(?=.*\\d)(?=.*[a-z]).+$`, `"a1"`, true},
		{`(a)\\1`, `"aa"`, true},
		{`(a)\\1`, `"ab"`, false},
		{`^\\u00e9$`, `"é"`, true},
		{`^[^\\u0000-\\u001f]*$`, `"x"`, true},
		{`^\\p{L}+$`, `"éa"`, true},
		{`^.{1,2000}$`, `"x"`, true},
	} {
		s := compile(t, `{"pattern":"`+tt.pattern+`"}`, jsonschema.Options{})
		if got := validate(t, s, tt.in) == nil; got != tt.want {
			t.Errorf("%s on %s: %v", tt.pattern, tt.in, got)
		}
	}
}

func TestSlowPatternIsAnError(t *testing.T) {
	s := compile(t, `{"items":{"pattern":"^(?=x*)(a+)+$"}}`, jsonschema.Options{})
	start := time.Now()
	slow := slices.Repeat([]jsonv.Value{jsonv.String(strings.Repeat("a", 40) + "!")}, 20) // only the first one is tried
	_, err := s.Validate(context.Background(), jsonv.Array(slow...))
	if err == nil || !strings.Contains(err.Error(), "took longer than 2s") {
		t.Errorf("%v", err)
	}
	if d := time.Since(start); d > 20*time.Second {
		t.Errorf("took %v", d)
	}
	if got := validate(t, s, `["aaa"]`); got != nil {
		t.Errorf("the schema is of no use afterwards: %q", got)
	}
}

func TestNodesRaisesTheLimit(t *testing.T) {
	schema := `{"anyOf":[` + strings.Repeat(`{},`, jsonschema.MaxNodes) + `{}]}`
	compile(t, schema, jsonschema.Options{Nodes: 2 * jsonschema.MaxNodes})
}

func TestBadSchemas(t *testing.T) {
	many := `{"anyOf":[` + strings.Repeat(`{},`, 2000) + `{}]}`
	for _, tt := range []struct{ schema, pointer, msg string }{
		{`3`, "", "a schema is an object or a boolean, got number 3"},
		{`{"properties":{"a":{"type":"strin"}}}`, "/properties/a/type", `expected one of "array", "boolean", "integer", "null", "number", "object", "string", got "strin"`},
		{`{"required":"a"}`, "/required", `expected type array, got string "a"`},
		{`{"properties":{"a":{"minLength":-1}}}`, "/properties/a/minLength", "expected at least 0, got -1"},
		{`{"properties":{"a":{"pattern":"("}}}`, "/properties/a/pattern", `bad regular expression "(": missing closing ) in ` + "`(`"},
		{`{"patternProperties":{"[/":true}}`, "/patternProperties/[~1", `the name of property "[/" does not fit: bad regular expression "[/": unterminated [] set in ` + "`[/`"},
		{`{"properties":{"a":{"$ref":"#/$defs/x"}}}`, "/properties/a/$ref", `"#/$defs/x" points to nothing`},
		{`{"items":{"$ref":"#foo"}}`, "/items/$ref", `"#foo" points to nothing`},
		{`{"items":{"$ref":"https://example.com/x.json"}}`, "/items/$ref", `"https://example.com/x.json" points outside the schema; references to other documents are not followed`},
		{`{"items":{"$ref":"file:///etc/passwd"}}`, "/items/$ref", `"file:///etc/passwd" points outside the schema; references to other documents are not followed`},
		{`{"items":{"$ref":"other.json#/a"}}`, "/items/$ref", `"other.json#/a" points outside the schema; references to other documents are not followed`},
		{`{"$id":"http://example.com/a/","items":{"$ref":"b"}}`, "/items/$ref", `"b" points outside the schema; references to other documents are not followed`},
		{`{"$schema":"https://example.com/meta"}`, "/$schema", `unknown metaschema "https://example.com/meta"`},
		{many, "/anyOf/1998", "the schema has more than 2000 subschemas and lists"},
		{nested(`{"not":`, `{}`, `}`, 101), strings.Repeat("/not", 100), "the schema is nested more than 100 levels deep"},
	} {
		_, err := jsonschema.Compile(mustParse(t, tt.schema), jsonschema.Options{})
		var got *jsonschema.Error
		if !errors.As(err, &got) {
			t.Errorf("%.80s: %v", tt.schema, err)
			continue
		}
		if diff := cmp.Diff([]string{tt.pointer, tt.msg}, []string{got.Pointer, got.Msg}); diff != "" {
			t.Errorf("%.80s (-want +got):\n%s", tt.schema, diff)
		}
	}
	_, err := jsonschema.Compile(mustParse(t, `{}`), jsonschema.Options{DefaultDraft: "3"})
	if err == nil || err.Error() != `bad JSON Schema: unknown draft "3", expected 2020-12, 2019-09, 7, 6 or 4` {
		t.Error(err)
	}
	_, err = jsonschema.Compile(mustParse(t, `{"type":"x","minLength":"y"}`), jsonschema.Options{})
	var both *jsonschema.Error
	if !errors.As(err, &both) || len(both.Rest) != 1 || both.Rest[0].Pointer != "/minLength" {
		t.Errorf("two faults: %#v", err)
	}
}

func TestLoad(t *testing.T) {
	docs := map[string]string{
		"https://example.com/s/item.json": `{"type":"object","properties":{"id":{"minLength":2}},"$defs":{"x":{"const":1}}}`,
		"https://example.com/s/bad.json":  `{"type":`,
	}
	o := jsonschema.Options{BaseURI: "https://example.com/s/main.json", Load: func(uri string) ([]byte, error) {
		if text, ok := docs[uri]; ok {
			return []byte(text), nil
		}
		return nil, fmt.Errorf("no such file")
	}}
	s := compile(t, `{"items":{"$ref":"item.json"},"contains":{"$ref":"item.json#/properties/id"}}`, o)
	got, err := s.Validate(context.Background(), mustParse(t, `[{"id":"x"}]`))
	want := []jsonschema.Violation{{
		InstancePath: "[0].id", Keyword: "minLength",
		SchemaPointer: "https://example.com/s/item.json#/properties/id/minLength", Msg: "expected at least 2 characters, got 1",
	}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	for ref, want := range map[string]string{
		"gone.json": `bad JSON Schema at /$ref: cannot load "gone.json": no such file`,
		"bad.json":  `bad JSON Schema at /$ref: cannot load "bad.json": not JSON: the text ended, expected a value (at byte 8)`,
	} {
		_, err := jsonschema.Compile(mustParse(t, `{"$ref":"`+ref+`"}`), o)
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v", ref, err)
		}
	}
}

// TestNothingIsRead makes sure that a file next to the program is not found by
// a relative reference.
func TestNothingIsRead(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.WriteFile(filepath.Join(dir, "other.json"), []byte(`{"type":"null"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, ref := range []string{"other.json", "file://" + filepath.ToSlash(dir) + "/other.json"} {
		if _, err := jsonschema.Compile(mustParse(t, `{"$ref":"`+ref+`"}`), jsonschema.Options{}); err == nil {
			t.Errorf("%s was read", ref)
		}
	}
}

func TestDrafts(t *testing.T) {
	const schema = `{"definitions":{"n":{"type":"null"}},"items":[{"$ref":"#/definitions/n"}]}`
	for _, draft := range []string{"2019-09", "7", "draft-07", "6", "4"} {
		s := compile(t, schema, jsonschema.Options{DefaultDraft: draft})
		if got := validate(t, s, `[1]`); !cmp.Equal(got, []string{"[0]: expected type null, got number 1"}) {
			t.Errorf("%s: %q", draft, got)
		}
	}
	if _, err := jsonschema.Compile(mustParse(t, schema), jsonschema.Options{DefaultDraft: "2020-12"}); err == nil {
		t.Error("2020-12 accepts a list under items")
	}
}

func TestEndlessReference(t *testing.T) {
	s := compile(t, `{"$ref":"#"}`, jsonschema.Options{})
	_, err := s.Validate(context.Background(), jsonv.Int(1))
	var schema *jsonschema.Error
	if !errors.As(err, &schema) || schema.Msg != "the schema refers to itself without end" {
		t.Errorf("%v", err)
	}
}

// explosive evaluates 2^depth subschemas.
func explosive(depth int) string {
	var b strings.Builder
	b.WriteString(`{"if":{"type":"string"},"then":{"$ref":"#/$defs/d0"},"$defs":{`)
	for i := range depth {
		fmt.Fprintf(&b, `"d%d":{"allOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]},`, i, i+1, i+1)
	}
	fmt.Fprintf(&b, `"d%d":{"type":"string"}}}`, depth)
	return b.String()
}

func TestTimeLimit(t *testing.T) {
	s := compile(t, explosive(60), jsonschema.Options{})
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err := s.Validate(ctx, jsonv.String("x"))
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	if d := time.Since(start); d > 20*time.Second {
		t.Errorf("took %v", d)
	}
	// The runaway validation has ended itself, so the schema can be used again.
	ctx, cancel = context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if found, err := s.Validate(ctx, jsonv.Int(1)); err != nil || found != nil {
		t.Errorf("afterwards: %v %v", found, err)
	}
}

func TestDeepInstances(t *testing.T) {
	tree := compile(t, `{"items":{"$ref":"#"}}`, jsonschema.Options{})
	if got := validate(t, tree, nested("[", "1", "]", 1000)); got != nil {
		t.Errorf("%q", got)
	}
	var wide strings.Builder
	for i := range 900 {
		fmt.Fprintf(&wide, `,"p%d":{"minimum":1}`, i)
	}
	s := compile(t, `{"items":{"$ref":"#"},"properties":{`+wide.String()[1:]+`}}`, jsonschema.Options{})
	if _, err := s.Validate(context.Background(), mustParse(t, nested("[", "1", "]", 1000))); err == nil {
		t.Error("no limit on depth times subschemas")
	}
}

func TestManyViolations(t *testing.T) {
	s := compile(t, `{"items":{"type":"null"}}`, jsonschema.Options{})
	if got := validate(t, s, "["+strings.Repeat("1,", 5000)+"1]"); len(got) != 1000 {
		t.Errorf("%d violations", len(got))
	}
}

func TestSchemaFromManyGoroutines(t *testing.T) {
	s := compile(t, `{"properties":{"a":{"pattern":"^(?!x)"}}}`, jsonschema.Options{})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				if got := validate(t, s, `{"a":"xy"}`); len(got) != 1 {
					t.Errorf("%q", got)
				}
			}
		})
	}
	wg.Wait()
}

const toolSchema = `{"type":"object","properties":{"owner":{"type":"string","description":"Owner of the repository"},
	"repo":{"type":"string","description":"Name of the repository"},"limit":{"type":"integer","minimum":1,"maximum":100,"default":30},
	"labels":{"type":"array","items":{"type":"string"}}},"required":["owner","repo"],"additionalProperties":false}`

func BenchmarkCompile(b *testing.B) {
	doc := mustParse(b, toolSchema)
	for b.Loop() {
		if _, err := jsonschema.Compile(doc, jsonschema.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkValidate(b *testing.B) {
	doc := mustParse(b, toolSchema)
	s, err := jsonschema.Compile(doc, jsonschema.Options{})
	if err != nil {
		b.Fatal(err)
	}
	v := mustParse(b, `{"owner":"a","repo":"b","limit":20,"labels":["x","y"]}`)
	for b.Loop() {
		if found, err := s.Validate(b.Context(), v); err != nil || found != nil {
			b.Fatal(found, err)
		}
	}
}

// TestSchemaFormats: each format that suites may name refuses some text.
func TestSchemaFormats(t *testing.T) {
	for _, name := range jsonschema.Formats {
		s := compile(t, `{"format":"`+name+`"}`, jsonschema.Options{AssertFormat: true, Strict: true})
		if got := validate(t, s, `"{[%"`); len(got) == 0 {
			t.Errorf("%s accepts anything", name)
		}
	}
}

// TestStrictSchemas: only our own authors are held to known keywords.
func TestStrictSchemas(t *testing.T) {
	for _, schema := range []string{`{"min":5}`, `{"format":"emial"}`, `{"$schema":"http://json-schema.org/draft-07/schema#","prefixItems":[true]}`} {
		compile(t, schema, jsonschema.Options{AssertFormat: true})
		if _, err := jsonschema.Compile(mustParse(t, schema), jsonschema.Options{Strict: true}); err == nil {
			t.Errorf("%s: no error", schema)
		}
	}
	compile(t, `{"x-note":1,"$ref":"#/x-defs/a","x-defs":{"a":{"type":"object"}}}`, jsonschema.Options{Strict: true})
}

// The library overwrites the location of a name that does not fit while it visits other
// values, in the random order of its maps.
func TestPlacesOfNames(t *testing.T) {
	s := compile(t, `{"additionalProperties":{"items":{"propertyNames":{"maxLength":2},"additionalProperties":{"properties":{"deep":{"type":"object"}}}}}}`, jsonschema.Options{})
	want := []string{
		`one[0].long: the name of property "long" does not fit: expected at most 2 characters, got 4`,
		`one[2].long: the name of property "long" does not fit: expected at most 2 characters, got 4`,
		`two[0].long: the name of property "long" does not fit: expected at most 2 characters, got 4`,
		`two[0].other: the name of property "other" does not fit: expected at most 2 characters, got 5`,
	}
	for range 50 {
		got := validate(t, s, `{"one":[{"a":{"deep":{}},"long":1},{"b":{"deep":{}}},{"long":{"deep":{}},"c":2}],"two":[{"long":1,"other":{"deep":{}}}]}`)
		testkit.Equal(t, "violations", got, want)
		if t.Failed() {
			return
		}
	}
	s = compile(t, `{"items":{"anyOf":[{"type":"null"},{"propertyNames":{"maxLength":2},"additionalProperties":{"properties":{"deep":{}}}}]}}`, jsonschema.Options{})
	for range 50 {
		got := validate(t, s, `[{"a":{"deep":{}}},{"b":{"deep":{}},"long":{"deep":{}}},{"long":2},null]`)
		testkit.Equal(t, "violations of alternatives", got, []string{
			`[1].long: the name of property "long" does not fit: expected at most 2 characters, got 4`,
			`[2].long: the name of property "long" does not fit: expected at most 2 characters, got 4`,
		})
	}
	for range 50 {
		_, err := jsonschema.Compile(mustParse(t, `{"properties":{"a":{"type":5}},"minProperties":1,"dependentRequired":{"a":["b"]},"patternProperties":{"[":{}}}`), jsonschema.Options{})
		var bad *jsonschema.Error
		if !errors.As(err, &bad) || bad.Pointer != "/properties/a/type" || len(bad.Rest) != 1 || bad.Rest[0].Pointer != "/patternProperties/[" {
			t.Fatalf("%v, then %v", err, bad.Rest)
		}
	}
}

// TestManyNames: the places of names are found in time that grows with their number, not
// with its square.
func TestManyNames(t *testing.T) {
	members := make([]jsonv.Member, 100_000)
	for i := range members {
		members[i] = jsonv.Member{Key: fmt.Sprintf("name %d", i), Value: jsonv.Int(1)}
	}
	s, start := compile(t, `{"propertyNames":{"maxLength":2}}`, jsonschema.Options{}), testkit.ReadCPUTime()
	found, err := s.Validate(context.Background(), jsonv.Object(members...))
	if took := testkit.ReadCPUTime() - start; err != nil || len(found) != 1000 || took > time.Minute {
		t.Errorf("%d violations in %v, %v", len(found), took, err)
	}
}
