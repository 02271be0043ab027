package expect_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"mcptest/internal/assert/expect"
	"mcptest/internal/assert/match"
	"mcptest/internal/assert/schemas"
	"mcptest/internal/assert/textdiff"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
)

// TestMatchers: + passes; - fails, and its negation passes; ? has the wrong type, so both
// fail.
func TestMatchers(t *testing.T) {
	for _, c := range []struct{ matcher, value, want string }{
		{"exact: 1", `1.0`, "+"},
		{"exact: 1", `1e0`, "+"},
		{"exact: 1", `"1"`, "-"},
		{"exact: 9007199254740993", `9007199254740992`, "-"},
		{"exact: null", `null`, "+"},
		{"exact: null", `0`, "-"},
		{"exact: {a: 1, b: [x]}", `{"b":["x"],"a":1}`, "+"},
		{`exact: ""`, `""`, "+"},
		{"contains: 42", `"the answer is 42"`, "+"},
		{"contains: 42", `[41, 42.0]`, "+"},
		{"contains: 42", `42`, "?"},
		{"contains: {id: 2}", `[{"id":1},{"id":2,"x":3}]`, "+"},
		{"contains: {id: 3}", `[{"id":1}]`, "-"},
		{"contains: {id: 1}", `"id"`, "?"},
		{"contains: a", `{"a": 1}`, "?"},
		{"contains: {a: 1}", `{"a":1,"b":2}`, "+"},
		{"contains: {a: 2}", `{"a":1,"b":2}`, "-"},
		{"contains: [1]", `[[1],[2]]`, "+"},
		{"contains: [1]", `[1]`, "-"},
		{"contains: null", `[null]`, "+"},
		{"contains: null", `"null"`, "?"},
		{`contains: ""`, `"x"`, "+"},
		{"contains: x", `null`, "?"},
		{"contains: true", `"it is true"`, "+"},
		{"icontains: STRASSE", `"hauptstrasse"`, "+"},
		{"icontains: ÉTÉ", `"l'été"`, "+"},
		{"icontains: kelvin", `"\u212Aelvin"`, "+"},
		{"icontains: x", `["X"]`, "+"},
		{"icontains: x", `["XY"]`, "-"},
		{"contains-all: [a, b]", `"ab"`, "+"},
		{"contains-all: [a, b]", `["b","a"]`, "+"},
		{"contains-all: [a, b]", `"a"`, "-"},
		{"contains-all: [a, b]", `7`, "?"},
		{"contains-any: [a, b]", `"xb"`, "+"},
		{"contains-any: [a, b]", `"x"`, "-"},
		{"icontains-all: [A, b]", `"aB"`, "+"},
		{"icontains-any: [A, b]", `"xa"`, "+"},
		{"icontains-any: [A, b]", `"x"`, "-"},
		{"keys: [a, b]", `{"b":1,"a":null}`, "+"},
		{"keys: [a, b]", `{"a":1}`, "-"},
		{"keys: [a]", `{"a":1,"b":2}`, "-"},
		{"keys: []", `{}`, "+"},
		{"keys: []", `{"a":1}`, "-"},
		{"keys: [a]", `["a"]`, "?"},
		{"keys: []", `null`, "?"},
		{"starts-with: ab", `"abc"`, "+"},
		{"starts-with: ab", `"xab"`, "-"},
		{"starts-with: ab", `["ab"]`, "?"},
		{"ends-with: bc", `"abc"`, "+"},
		{"ends-with: bc", `"abcd"`, "-"},
		{`regex: "^a.c$"`, `"abc"`, "+"},
		{`regex: "^a.c$"`, `"xabc"`, "-"},
		{`regex: "(?i)ABC"`, `"xabc"`, "+"},
		{"regex: '4'", `42`, "?"},
		{"regex: '(?s)a.b'", `"a\nb"`, "+"},
		{"schema: {type: string, format: email}", `"no"`, "-"},
		{"schema: true", `1`, "+"},
		{"schema: false", `1`, "-"},
		{"schema: {minimum: 3}", `"text"`, "+"},
		{"type: integer", `3.0`, "+"},
		{"type: integer", `1e400`, "+"},
		{"type: integer", `1e-1`, "-"},
		{"type: integer", `100e-2`, "+"},
		{"type: integer", `1.5e1`, "+"},
		{"type: integer", `1.25e1`, "-"},
		{"type: integer", `0.0e-5`, "+"},
		{"type: integer", `1e-99999999999`, "-"},
		{"type: integer", `12345678901234567890123`, "+"},
		{"type: number", `3`, "+"},
		{"type: null", `null`, "+"},
		{"type: [string, 'null']", `null`, "+"},
		{"type: array", `{}`, "-"},
		{"length: 3", `"äöü"`, "+"},
		{"length: 1", `"😀"`, "+"},
		{"length: 2", `[1,2]`, "+"},
		{"length: 0", `{}`, "+"},
		{"length: {min: 1}", `""`, "-"},
		{"length: {max: 1}", `[1]`, "+"},
		{"length: 1", `1`, "?"},
		{"length: 0", `null`, "?"},
		{"gt: 3", `3.0000000000000000000001`, "+"},
		{"gt: 3", `3`, "-"},
		{"gte: 3", `3`, "+"},
		{"lt: 3", `"2"`, "?"},
		{"lte: -1", `-1`, "+"},
		{"gt: 9007199254740992", `9007199254740993`, "+"},
		{"lt: 1e400", `1e399`, "+"},
		{"between: [1, 5]", `1`, "+"},
		{"between: {min: 1, max: 5}", `5`, "+"},
		{"between: [1, 5]", `0.999`, "-"},
		{"between: [1, 5]", `null`, "?"},
		{"between: [2, 2]", `2`, "+"},
		{"approx: {value: 0.3, tolerance: 0.1}", `0.4`, "+"},
		{"approx: {value: 0.3, tolerance: 0.1}", `0.2`, "+"},
		{"approx: {value: 0.3, tolerance: 0.1}", `0.400001`, "-"},
		{"approx: {value: 5, tolerance: 0}", `5`, "+"},
		{"approx: {value: 1, tolerance: 1}", `1e999`, "-"},
		{"approx: {value: 9007199254740993, tolerance: 0}", `9007199254740992`, "-"},
		{"approx: {value: 9007199254740993, tolerance: 0}", `9007199254740993.0`, "+"},
		{"approx: {value: 9007199254740993, tolerance: 1}", `9007199254740994`, "+"},
		{"approx: {value: 9007199254740993, tolerance: 1}", `9007199254740995`, "-"},
		{"approx: {value: 123456789012345678901, tolerance: 0.5}", `123456789012345678901.5`, "+"},
		{"approx: {value: 123456789012345678901, tolerance: 0.5}", `123456789012345678901.51`, "-"},
		{"approx: {value: 0, tolerance: 1e-400}", `1e-401`, "+"},
		{"approx: {value: 0, tolerance: 1e-400}", `-2e-400`, "-"},
		{"approx: {value: 1, tolerance: 1}", `"1"`, "?"},
		{"one-of: [1, null, a]", `1.0`, "+"},
		{"one-of: [1, null, a]", `null`, "+"},
		{"one-of: [1]", `"1"`, "-"},
		{"exists: true", `null`, "+"},
		{"exists: false", `null`, "-"},
		{"exists: false", ``, "+"},
		{"absent: true", ``, "+"},
		{"absent: true", `1`, "-"},
		{"absent: false", `1`, "+"},
		{"empty: true", `""`, "+"},
		{"empty: true", `{}`, "+"},
		{"empty: true", `null`, "+"},
		{"empty: true", `[0]`, "-"},
		{"empty: false", `[0]`, "+"},
		{"empty: false", `[]`, "-"},
		{"empty: true", `0`, "?"},
		{"empty: true", `false`, "?"},
		{"subset: {a: {b: 1}}", `{"a":{"b":1.0,"c":2},"d":3}`, "+"},
		{"subset: [1]", `[1,2]`, "+"},
		{"subset: [2]", `[1,2]`, "-"},
		{"subset: [1,2,3]", `[1,2]`, "-"},
		{"subset: {a: null}", `{}`, "-"},
		{"subset: {a: null}", `{"a":null}`, "+"},
		{"subset: 1", `1`, "+"},
		{"subset: {}", `[]`, "-"},
		{"unordered: [1, 1, 2]", `[2, 1.0, 1]`, "+"},
		{"unordered: [1, 1, 2]", `[1, 2, 2]`, "-"},
		{"unordered: []", `[]`, "+"},
		{"unordered: [{a: 1, b: 2}]", `[{"b":2,"a":1e0}]`, "+"},
		{"unordered: [1]", `{}`, "?"},
		{"unordered: [0]", `[-0.0]`, "+"},
		{"each: {gt: 0}", `[1,2]`, "+"},
		{"each: {gt: 0}", `[1,0]`, "-"},
		{"each: {gt: 0}", `{"a":1}`, "+"},
		{"each: {gt: 0}", `[]`, "+"},
		{"each: {gt: 0}", `["a"]`, "?"},
		{"each: {gt: 0}", `[0,"a"]`, "-"},
		{"each: {gt: 0}", `"a"`, "?"},
		{"any: {gt: 0}", `["a", 1]`, "+"},
		{"any: {gt: 0}", `[0]`, "-"},
		{"any: {gt: 0}", `["a"]`, "?"},
		{"any: {gt: 0}", `[]`, "-"},
		{"any: {exists: true}", `[1]`, "+"},
		{"is-json: true", `"[1]"`, "+"},
		{"is-json: true", `"[1"`, "-"},
		{"is-json: false", `"[1"`, "+"},
		{"is-json: true", `[1]`, "?"},
		{"is-json: {type: object}", `"{}"`, "+"},
		{"is-json: {schema: {type: object}}", `"[]"`, "-"},
		{"is-json: {type: object}", `"x"`, "-"},
		{"format: uuid", `"123e4567-e89b-12d3-a456-426614174000"`, "+"},
		{"format: uuid", `7`, "?"},
		{"levenshtein: {value: abc, max: 0}", `"abc"`, "+"},
		{"levenshtein: {value: abc, max: 1}", `"abd"`, "+"},
		{"levenshtein: {value: abc, max: 1}", `"cba"`, "-"},
		{"levenshtein: {value: '', max: 2}", `"äö"`, "+"},
		{"levenshtein: {value: '', max: 2}", `1`, "?"},
		{"not: {not: {exact: 1}}", `1`, "+"},
		{"not: {exact: 1}", `2`, "+"},
		{"all-of: [{gt: 1}, {lt: 3}]", `2`, "+"},
		{"all-of: [{gt: 1}, {lt: 3}]", `3`, "-"},
		{"all-of: [{gt: 1}, {contains: x}]", `0`, "-"},
		{"all-of: [{gt: 1}, {contains: x}]", `2`, "?"},
		{"any-of: [{gt: 1}, {contains: x}]", `2`, "+"},
		{"any-of: [{gt: 1}, {contains: x}]", `"x"`, "+"},
		{"any-of: [{gt: 1}, {contains: x}]", `0`, "?"},
		{"any-of: [{gt: 1}, {lt: 0}]", `1`, "-"},
		{"none-of: [{gt: 1}, {lt: 0}]", `1`, "+"},
		{"none-of: [{gt: 1}, {lt: 0}]", `2`, "-"},
		{"none-of: [{gt: 1}, {contains: x}]", `0`, "?"},
	} {
		for _, negated := range []bool{false, true} {
			matcher, pass := c.matcher, c.want == "+"
			if negated {
				matcher, pass = "not: {"+c.matcher+"}", c.want == "-"
			}
			got := judge(t, matcher, c.value)
			if got.Pass != pass {
				t.Errorf("%s of %s: pass %v: %s", matcher, c.value, got.Pass, got.Message)
			}
			if pass == (got.Message != "") || got.Score != map[bool]float64{true: 1}[pass] {
				t.Errorf("%s of %s: score %v, %q", matcher, c.value, got.Score, got.Message)
			}
		}
	}
}

func TestFormats(t *testing.T) {
	for name, texts := range map[string][2]string{
		"base64":        {"|aGk=|aGkh", "aGk|a===|aG k="},
		"date":          {"2026-11-05|2024-02-29", "2026-02-29|2026-1-5|20261105|"},
		"date-time":     {"2026-11-05T09:30:00Z|2026-11-05t09:30:00.123+02:00|1998-12-31T23:59:60Z|1998-12-31T15:59:60.1-08:00", "2026-11-05|2026-11-05T09:30:00|2026-11-05 09:30:00Z|2026-11-05T24:00:00Z|2026-11-05T09:30:60Z|2026-11-05T09:30:00.Z|2026-11-05T09:30:00+2:00"},
		"time":          {"09:30:00Z|23:59:60Z|09:30:00.5-08:00", "09:30:00|9:30:00Z|09:30Z|09:30:00+25:00"},
		"duration":      {"P1D|PT1M30S|P1Y2M3DT4H5M6S|P2W|PT36H", "P|PT|P1|1D|P1DT|P1S|PT1D|P1W2D|P1H|P1Y3D|PT1H1S|P-1D"},
		"email":         {"a@b.c|first.last+tag@example.com|\"a b\"@example.com|a@[127.0.0.1]", "a|a@|@b|a@b@c|Ada <a@b.c>|a@-b.c|a b@c.d"},
		"hostname":      {"localhost|a.b-c.d|1.example", "|-a|a-|a..b|a_b|.a|exämple.com"},
		"ipv4":          {"127.0.0.1|0.0.0.0", "127.0.0|256.1.1.1|127.00.0.1|::1"},
		"ipv6":          {"::1|2001:db8::8a2e:370:7334|::ffff:1.2.3.4", "127.0.0.1|fe80::1%eth0|:::|12345::"},
		"json-pointer":  {"|/a/0|/a~1b~0", "a|/~2|/~"},
		"regex":         {"a+|", "(|a(?=b)"},
		"semver":        {"1.2.3|1.0.0-rc.1+build.5|0.0.0-0a", "1.2|01.2.3|v1.2.3|1.0.0-01|1.0.0-"},
		"uri":           {"https://example.com/a?b#c|urn:x:y|file:///a", "/a|example.com|http://a b|http://a/%zz|http://[::1|http://ä.de|a#b#c"},
		"uri-reference": {"/a|a/b?c|https://x|#f", "a b|\\|%1"},
		"uuid":          {"123E4567-e89b-12d3-a456-426614174000", "123e4567e89b12d3a456426614174000|123e4567-e89b-12d3-a456-42661417400g|{123e4567-e89b-12d3-a456-426614174000}"},
	} {
		for i, list := range texts {
			for text := range strings.SplitSeq(list, "|") {
				got := judge(t, "format: "+name, jsonv.String(text).String())
				if got.Pass != (i == 0) {
					t.Errorf("format %s of %q: pass %v: %s", name, text, got.Pass, got.Message)
				}
			}
		}
	}
}

func TestRegexSubjectIsBounded(t *testing.T) {
	const mib = 1 << 20
	for _, c := range []struct {
		text, matcher string
		pass          bool
		message       string
	}{
		{strings.Repeat("a", mib) + "needle", "regex: needle", false, "in the first 1 MiB (the rest is not searched)"},
		{strings.Repeat("a", mib) + "needle", "not: {regex: needle}", false, "in the first 1 MiB"},
		{"needle" + strings.Repeat("a", mib), "regex: needle", true, ""},
		{strings.Repeat("a", mib) + "b", "regex: 'a$'", false, "in the first 1 MiB"},
		{strings.Repeat("a", mib), "regex: 'a$'", true, ""},
		{strings.Repeat("ä", mib), "regex: '^ä'", true, ""},
	} {
		v := evaluate(t, "expect: [{target: text, matcher: {"+c.matcher+"}}]", textResult(c.text))
		wantMatch(t, v, c.pass, c.message)
		if len(v.Message) > 2000 {
			t.Errorf("the message has %d bytes", len(v.Message))
		}
	}
}

func TestSchemaReferences(t *testing.T) {
	file := &source.File{Name: "s.yaml", Path: "/suites/s.yaml", Data: []byte(`[{target: result, matcher: {schema: {$ref: "schemas/user.json#/$defs/user"}}}]`)}
	n, _ := source.Parse(file)
	var asked []string
	c := expect.Compiler{Options: match.Options{LoadSchema: func(from source.Pos, uri string) ([]byte, error) {
		asked = append(asked, from.String()+" "+uri)
		return []byte(`{"$defs": {"user": {"required": ["name"]}}}`), nil
	}}}
	var d source.Decoder
	tr := expect.Merge(expect.Parts{Expect: c.Expect(n, "expect", &d)}, expect.Parts{})
	if ds := d.Diagnostics(); len(ds) > 0 || !slices.Equal(asked, []string{"s.yaml:1:37 file:///suites/schemas/user.json"}) {
		t.Fatalf("%v %q", ds, asked)
	}
	if v := tr.Evaluate(t.Context(), result(t, `{"name": 1}`), nil); !v.Pass {
		t.Error(v.Message)
	}
	if v := tr.Evaluate(t.Context(), result(t, `{"nam": 1}`), nil); v.Pass {
		t.Error("passes")
	}
}

func TestFoldCase(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		a, b := rapid.StringN(0, 3, -1).Draw(rt, "a"), rapid.StringN(0, 3, -1).Draw(rt, "b")
		if (textdiff.FoldCase(a) == textdiff.FoldCase(b)) != strings.EqualFold(a, b) {
			rt.Fatalf("%q %q", a, b)
		}
	})
	for _, pair := range [][2]string{{"ſ", "S"}, {"\u212A", "k"}, {"Σ", "ς"}, {"É", "é"}} {
		if textdiff.FoldCase(pair[0]) != textdiff.FoldCase(pair[1]) {
			t.Errorf("%q", pair)
		}
	}
}

func TestSchemaCache(t *testing.T) {
	n := node(t, `
- {target: result, matcher: {schema: {required: [a]}}}
- {target: result, matcher: {schema: {required: [a]}}}
- {target: result, matcher: {schema: {required: [b]}}}
`)
	loads := 0
	c := expect.Compiler{Options: match.Options{Schemas: schemas.New(), LoadSchema: func(source.Pos, string) ([]byte, error) { loads++; return []byte("true"), nil }}}
	var d source.Decoder
	for range 2 {
		tr := expect.Merge(expect.Parts{Expect: c.Expect(n, "expect", &d)}, expect.Parts{})
		v := tr.Evaluate(t.Context(), result(t, `{"b": 1}`), nil)
		for i, want := range []string{"(schema line 2)", "(schema line 3)", ""} {
			if v.Items[i].Pass != (want == "") || !strings.Contains(v.Items[i].Message, want) {
				t.Errorf("item %d: %s", i, v.Items[i].Message)
			}
		}
	}
	ref := node(t, "- {target: result, matcher: {schema: {$ref: other.json}}}")
	for range 3 {
		c.Expect(ref, "expect", &d)
	}
	if loads != 1 || len(d.Diagnostics()) > 0 {
		t.Errorf("%d loads, %v", loads, d.Diagnostics())
	}
}
