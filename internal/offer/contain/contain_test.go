package contain_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/testkit"
	"mcptest/internal/offer/contain"
)

func parse(t testing.TB, text string) jsonv.Value {
	t.Helper()
	v, err := jsonv.Parse([]byte(text))
	if err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return v
}

func compile(t testing.TB, text string) *contain.Schema {
	t.Helper()
	s, err := contain.Compile(parse(t, text))
	if err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return s
}

var verdicts = map[contain.Verdict]string{contain.Undecided: "undecided", contain.Contained: "contained", contain.Escapes: "escapes"}

// TestCheck: the verdict for pairs that changes of real schemas produce.
func TestCheck(t *testing.T) {
	t.Parallel()
	const tree = `{"$ref":"#/$defs/t","$defs":{"t":{"type":"object","properties":{"v":{"type":"%s"},"kids":{"type":"array","items":{"$ref":"#/$defs/t"}}},"required":["v"],"additionalProperties":false}}}`
	for _, test := range []struct{ a, b, want, witness string }{
		{`{"type":"string"}`, `{"type":["string","null"]}`, "contained", ""},
		{`{"type":["string","null"]}`, `{"type":"string"}`, "escapes", "null"},
		{`{"type":"integer"}`, `{"type":"number"}`, "contained", ""},
		{`{"type":"number"}`, `{"type":"integer"}`, "escapes", ""},
		{`{"type":"integer","minimum":1}`, `{"type":"integer","exclusiveMinimum":0}`, "contained", ""},
		{`{"type":"number","minimum":1}`, `{"type":"number","exclusiveMinimum":0}`, "contained", ""},
		{`{"type":"number","exclusiveMinimum":0}`, `{"type":"number","minimum":1}`, "escapes", ""},
		{`{"type":"integer","multipleOf":6}`, `{"type":"integer","multipleOf":4}`, "escapes", ""},
		{`{"multipleOf":6}`, `{"multipleOf":0.5}`, "contained", ""},
		{`{"enum":["a","b"]}`, `{"enum":["b","a","c"]}`, "contained", ""},
		{`{"enum":["a","b"]}`, `{"enum":["b","c"]}`, "escapes", `"a"`},
		{`{"enum":[1,2]}`, `{"type":"integer","maximum":2.0}`, "contained", ""},
		{`{"type":"boolean"}`, `{"enum":[true,false]}`, "contained", ""},
		{`{"type":"string"}`, `{"type":"string","minLength":1}`, "escapes", `""`},
		{`{"type":"string","minLength":3}`, `{"type":"string","minLength":1}`, "contained", ""},
		{`{"type":"string"}`, `{"type":"string","maxLength":100}`, "escapes", ""},
		{`{"type":"string"}`, `{"type":"string","pattern":"^[a-z]+$"}`, "escapes", ""},
		{`{"type":"string","pattern":"^(up|down)$"}`, `{"enum":["up","down","left"]}`, "contained", ""},
		{`{"type":"string","pattern":"^[a-z]+$"}`, `{"type":"string","pattern":"^[a-z]+$","minLength":1}`, "undecided", ""},
		{`{"type":"string","pattern":"^[a-z]{2,8}$"}`, `{"type":"string","pattern":"^[a-z]{2,4}$"}`, "escapes", ""},
		{`{"type":"object","properties":{"a":{"type":"string"}}}`, `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`, "escapes", `{}`},
		{`{"type":"object","required":["a"]}`, `{"type":"object","required":["a","b"]}`, "escapes", ""},
		{`{"type":"object","required":["a"]}`, `{"type":"object"}`, "contained", ""},
		{`{"type":"object","properties":{"a":{}}}`, `{"type":"object","properties":{"a":{}},"additionalProperties":false}`, "escapes", ""},
		{`{"type":"object","properties":{"a":{}},"additionalProperties":false}`, `{"type":"object","properties":{"a":{},"b":{}},"additionalProperties":false}`, "contained", ""},
		{`{"type":"object","additionalProperties":{"type":"integer"}}`, `{"type":"object","additionalProperties":{"type":"number"}}`, "contained", ""},
		{`{"type":"object","additionalProperties":{"type":"number"}}`, `{"type":"object","additionalProperties":{"type":"integer"}}`, "escapes", ""},
		{`{"type":"array","items":{"enum":["a"]}}`, `{"type":"array","items":{"enum":["a","b"]}}`, "contained", ""},
		{`{"type":"array","items":{"type":"string"}}`, `{"type":"array","items":{"type":"string"},"minItems":1}`, "escapes", "[]"},
		{`{"type":"array"}`, `{"type":"array","uniqueItems":true}`, "escapes", ""},
		{`{"type":"array","maxItems":1}`, `{"type":"array","uniqueItems":true}`, "contained", ""},
		{`{"type":"array","items":{"enum":[1,2]},"minItems":3}`, `{"type":"array","uniqueItems":true}`, "escapes", "[1,1,1]"},
		{`{"type":"array","items":{"enum":[1,2]},"uniqueItems":true}`, `{"type":"array","maxItems":2}`, "contained", ""},
		{`{"type":"array","prefixItems":[{"type":"string"}],"minItems":1}`, `{"type":"array","contains":{"type":"string"}}`, "contained", ""},
		{`{"anyOf":[{"type":"string"},{"type":"null"}]}`, `{"type":["null","string"]}`, "contained", ""},
		{`{"oneOf":[{"type":"string"},{"type":"null"}]}`, `{"anyOf":[{"type":"string"},{"type":"null"},{"type":"integer"}]}`, "contained", ""},
		{`{"type":"object","properties":{"k":{"const":"a"}},"required":["k"]}`, `{"type":"object","oneOf":[{"properties":{"k":{"const":"a"}}},{"properties":{"k":{"const":"b"}}}]}`, "contained", ""},
		{`{"if":{"type":"string"},"then":{"minLength":2}}`, `{"if":{"type":"string"},"then":{"minLength":1}}`, "contained", ""},
		{`{"if":{"type":"string"},"then":{"minLength":1}}`, `{"if":{"type":"string"},"then":{"minLength":2}}`, "escapes", ""},
		{`{"$ref":"#/$defs/a","$defs":{"a":{"type":"string"}}}`, `{"type":"string"}`, "contained", ""},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","$ref":"#/definitions/a","type":"integer","definitions":{"a":{"type":"string"}}}`, `{"type":"string"}`, "contained", ""},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","type":"array","items":[{"type":"string"}],"additionalItems":false}`, `{"type":"array","prefixItems":[{"type":"string"}],"items":false}`, "contained", ""},
		{`{"type":"object","dependentRequired":{"a":["b"]}}`, `{"type":"object","dependentRequired":{"a":["b","c"]}}`, "escapes", ""},
		{`{"type":"object","dependentRequired":{"a":["b","c"]}}`, `{"type":"object","dependentRequired":{"a":["b"]}}`, "contained", ""},
		{`{"type":"object","minProperties":2}`, `{"type":"object","minProperties":1}`, "contained", ""},
		{`{"type":"object"}`, `{"type":"object","maxProperties":3}`, "escapes", ""},
		{`{"type":"object","propertyNames":{"maxLength":3}}`, `{"type":"object","propertyNames":{"maxLength":5}}`, "undecided", ""},
		{`{"type":"object","patternProperties":{"^x-":{"type":"string"}}}`, `{"type":"object","patternProperties":{"^x-":{"type":"integer"}}}`, "escapes", ""},
		{`false`, `{"type":"string"}`, "contained", ""},
		{`{"not":{}}`, `{"type":"string"}`, "contained", ""},
		{`{}`, `true`, "contained", ""},
		{`{"type":"string","format":"email"}`, `{"type":"string"}`, "contained", ""},
		{`{"type":"object","unevaluatedProperties":false,"allOf":[{"properties":{"a":{}}}]}`, `{"type":"object","unevaluatedProperties":false}`, "escapes", ""},
		{`{"type":"integer","minimum":1e400}`, `{"type":"integer","minimum":1}`, "undecided", ""},
		// Recursive schemas: equal, wider, narrower.
		{fmt.Sprintf(tree, "string"), fmt.Sprintf(tree, "string"), "contained", ""},
		{fmt.Sprintf(tree, "integer"), fmt.Sprintf(tree, "number"), "contained", ""},
		{fmt.Sprintf(tree, "number"), fmt.Sprintf(tree, "integer"), "escapes", ""},
		{`{"$ref":"#"}`, `{"type":"string"}`, "undecided", ""},
	} {
		t.Run(test.a+" "+test.b, func(t *testing.T) {
			t.Parallel()
			got, witness := contain.Check(t.Context(), compile(t, test.a), compile(t, test.b), contain.Options{})
			if verdicts[got] != test.want || test.witness != "" && witness.String() != test.witness {
				t.Errorf("%s ⊆ %s: %s with %s, want %s %s", test.a, test.b, verdicts[got], witness, test.want, test.witness)
			}
		})
	}
}

// TestDeclared: arguments that a tool does not declare do not count, unless it
// allows them by a keyword.
func TestDeclared(t *testing.T) {
	t.Parallel()
	const b = `{"type":"object","properties":{"a":{"type":"string"},"n":{"type":"integer"}}}`
	for a, want := range map[string]string{
		`{"type":"object","properties":{"a":{"type":"string"}}}`:                           "contained",
		`{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":{}}`: "escapes",
		`{"type":"object"}`:                       "contained",
		`{"type":"object","properties":{"n":{}}}`: "escapes",
		`{"type":"object","anyOf":[{"properties":{"a":{"type":"string"}}},{"properties":{"n":{}}}]}`: "escapes",
	} {
		if got, _ := contain.Check(t.Context(), compile(t, a), compile(t, b), contain.Options{Declared: true}); verdicts[got] != want {
			t.Errorf("%s: %s, want %s", a, verdicts[got], want)
		}
	}
}

// TestDeclaredElsewhere: required arguments count even if the tool does not describe
// them, and all arguments count if the declarations can't be read.
func TestDeclaredElsewhere(t *testing.T) {
	t.Parallel()
	const closed = `{"type":"object","properties":{"a":{}},"additionalProperties":false}`
	const draft7, draft4 = `"$schema":"http://json-schema.org/draft-07/schema#"`, `"$schema":"http://json-schema.org/draft-04/schema#"`
	for _, test := range []struct{ a, b, want string }{
		{`{"type":"object","properties":{"a":{}},"required":["a","b"]}`, closed, "escapes"},
		{`{"type":"object","required":["b"]}`, closed, "escapes"},
		{`{"type":"object","properties":{"a":{}},"allOf":[{"required":["b"]}]}`, closed, "escapes"},
		{`{"type":"object","properties":{"a":{}},"minProperties":2}`, closed, "escapes"},
		{`{"type":"object","properties":{"a":{}},"minProperties":1}`, closed, "contained"},
		{`{"type":"object","properties":{"a":{}},"dependentRequired":{"a":["b"]}}`, closed, "escapes"},
		{`{"type":"object","properties":{"a":{}},"dependentRequired":{"b":["a"]}}`, closed, "escapes"},
		{`{` + draft7 + `,"type":"object","properties":{"a":{}},"dependencies":{"a":["b"]}}`, closed, "escapes"},
		{`{` + draft7 + `,"$ref":"#/definitions/x","definitions":{"x":{"type":"object","properties":{"a":{},"b":{}}}}}`, closed, "escapes"},
		{`{` + draft7 + `,"$ref":"#/definitions/x","definitions":{"x":{"type":"object","properties":{"a":{}}}}}`, closed, "contained"},
		{`{` + draft4 + `,"type":"object","properties":{"a":{},"b":{}}}`, closed, "undecided or escapes"},
		{`{"type":"object","$dynamicRef":"#x","$defs":{"x":{"$dynamicAnchor":"x","required":["b"]}}}`, closed, "undecided or escapes"},
		// Keywords that a dialect does not have constrain nothing in it.
		{`{` + draft7 + `,"type":"object","properties":{"a":{},"b":{}},"dependentRequired":{"a":["b"]}}`, `{"type":"object","dependentRequired":{"a":["b"]}}`, "escapes"},
		{`{` + draft7 + `,"type":"object","properties":{"a":{},"b":{}},"patternProperties":{"c":{}},"unevaluatedProperties":false}`, `{"type":"object","properties":{"a":{},"b":{}},"maxProperties":2}`, "escapes"},
	} {
		if got, v := contain.Check(t.Context(), compile(t, test.a), compile(t, test.b), contain.Options{Declared: true}); !strings.Contains(test.want, verdicts[got]) {
			t.Errorf("%s ⊆ %s: %s with %s, want %s", test.a, test.b, verdicts[got], v, test.want)
		}
	}
}

// drawer generates random schemas over a small domain, so that all relevant values
// can be enumerated.
type drawer struct{ r *rand.Rand }

func (d drawer) one(list ...string) string { return list[d.r.IntN(len(list))] }

func (d drawer) scalar() string {
	return d.one("null", "true", "false", "0", "1", "2", "1.0", `""`, `"a"`, `"ab"`)
}

func (d drawer) list(n int, one func() string) string {
	var out []string
	for range n {
		out = append(out, one())
	}
	return "[" + strings.Join(out, ",") + "]"
}

func (d drawer) schema(depth int) string {
	if d.r.IntN(12) == 0 {
		return d.one("true", "true", "{}", "false")
	}
	var out []string
	add := func(key, value string) { out = append(out, strconv.Quote(key)+":"+value) }
	nested := func() string { return d.schema(depth - 1) }
	for range 1 + d.r.IntN(3) {
		n := 9
		if depth > 0 {
			n = 19
		}
		switch d.r.IntN(n) {
		case 0, 1:
			add("type", d.one(`"string"`, `"integer"`, `"boolean"`, `"number"`, `["integer","null"]`, `["string","boolean"]`, `"null"`))
		case 2:
			add("enum", d.list(1+d.r.IntN(3), d.scalar))
		case 3:
			add("const", d.scalar())
		case 4:
			add(d.one("minimum", "exclusiveMinimum"), d.one("0", "1", "0.5"))
		case 5:
			add(d.one("maximum", "exclusiveMaximum"), d.one("1", "2", "1.5"))
		case 6:
			add(d.one("minLength", "maxLength"), d.one("0", "1", "2"))
		case 7:
			add(d.one("minItems", "maxItems", "minProperties", "maxProperties"), d.one("0", "1", "2"))
		case 8:
			add(d.one("multipleOf", "pattern", "uniqueItems"), "1")
			last := &out[len(out)-1]
			*last = strings.Replace(strings.Replace(*last, `"pattern":1`, `"pattern":`+d.one(`"^a"`, `"^(a|b)$"`, `"b$"`), 1), `"uniqueItems":1`, `"uniqueItems":true`, 1)
		case 9, 10, 11:
			add("properties", `{"a":`+nested()+`,"b":`+nested()+`}`)
		case 12:
			add("required", d.one(`["a"]`, `["b"]`, `["a","b"]`, `["c"]`))
		case 13:
			add("additionalProperties", d.one("false", nested()))
		case 14:
			add(d.one("anyOf", "oneOf", "allOf"), d.list(1+d.r.IntN(3), nested))
		case 15:
			add(d.one("not", "if", "then", "else"), nested())
		case 16:
			add(d.one("items", "contains"), nested())
		case 17:
			add("prefixItems", d.list(1+d.r.IntN(2), nested))
		case 18:
			add(d.one("propertyNames", "dependentSchemas", "dependentRequired", "$ref", "type"), "1")
			last := &out[len(out)-1]
			for from, to := range map[string]string{
				`"propertyNames":1`: `"propertyNames":` + d.one(`{"const":"a"}`, `{"maxLength":1}`, nested()), `"dependentSchemas":1`: `"dependentSchemas":{"a":` + nested() + `}`,
				`"dependentRequired":1`: `"dependentRequired":{"a":["b"]}`, `"$ref":1`: `"$ref":"#/$defs/` + d.one("x", "y") + `"`, `"type":1`: `"type":` + d.one(`"object"`, `"array"`),
			} {
				*last = strings.Replace(*last, from, to, 1)
			}
		}
	}
	return "{" + strings.Join(out, ",") + "}"
}

func (d drawer) document() string {
	s := d.schema(2)
	if strings.HasPrefix(s, "{") && s != "{}" {
		s = `{"$defs":{"x":` + d.schema(1) + `,"y":` + d.schema(1) + `},` + s[1:]
	}
	return s
}

// mutate makes one change, so that many pairs are nearly equal.
func (d drawer) mutate(s string) string {
	from := [][2]string{{`"minimum":0`, `"minimum":1`}, {`"maximum":2`, `"maximum":1`}, {`"integer"`, `"number"`}, {`["a"]`, `["a","b"]`}, {`"a"`, `"ab"`}, {`false`, `true`}, {"anyOf", "oneOf"}, {`["integer","null"]`, `"integer"`}, {"true", "false"}, {`"minLength":0`, `"minLength":1`}, {`"maxItems":2`, `"maxItems":1`}}
	for range 20 {
		m := from[d.r.IntN(len(from))]
		if d.r.IntN(2) == 0 {
			m[0], m[1] = m[1], m[0]
		}
		if out := strings.Replace(s, m[0], m[1], 1); out != s && m[0] != "" {
			return out
		}
	}
	return d.document()
}

// universe contains the values of the domain.
func universe(t testing.TB) []jsonv.Value {
	var scalars, out []string
	scalars = append(scalars, "null", "true", "false", "-1", "0", "0.75", "1", "2", "3", `""`, `"a"`, `"b"`, `"ab"`, `"abb"`)
	out = append(out, scalars...)
	small := []string{"null", "true", "0", "1", "2", "0.5", `"a"`, `""`, `"ab"`, "{}", "[]", `{"a":1}`, `[1]`}
	add := func(parts ...string) { out = append(out, "["+strings.Join(parts, ",")+"]") }
	add()
	for _, x := range small {
		add(x)
		for _, y := range small {
			add(x, y)
		}
	}
	add("1", "1", "1")
	add("0", "1", "2")
	with := append([]string{"-"}, small...)
	for _, a := range with {
		for _, b := range with {
			for _, c := range []string{"-", "1", `"a"`} {
				var m []string
				for i, v := range []string{a, b, c} {
					if v != "-" {
						m = append(m, fmt.Sprintf("%q:%s", "abc"[i:i+1], v))
					}
				}
				out = append(out, "{"+strings.Join(m, ",")+"}")
			}
		}
	}
	var values []jsonv.Value
	for _, text := range out {
		values = append(values, parse(t, text))
	}
	return values
}

// TestRandomPairs: no pair of schemas with a counterexample is called contained,
// and the validator confirms every witness.
func TestRandomPairs(t *testing.T) {
	t.Parallel()
	pairs := testkit.Count(400, 20_000)
	all := universe(t)
	count := map[contain.Verdict]int{}
	missed, skipped, slowest := 0, 0, time.Duration(0)
	ctx := t.Context()
	for i := range pairs {
		d := drawer{rand.New(rand.NewPCG(uint64(i), 7))}
		x := d.document()
		y := d.document()
		if i%3 > 0 {
			y = d.mutate(x)
		}
		a, err := contain.Compile(parse(t, x))
		b, err2 := contain.Compile(parse(t, y))
		if err != nil || err2 != nil {
			skipped++
			continue
		}
		began := time.Now()
		verdict, witness := contain.Check(ctx, a, b, contain.Options{})
		slowest = max(slowest, time.Since(began))
		count[verdict]++
		if verdict == contain.Escapes {
			if !contain.Confirms(ctx, a, b, witness) {
				t.Errorf("pair %d: %s is no witness for %s ⊆ %s", i, witness, x, y)
			}
			continue
		}
		for _, v := range all {
			if contain.Confirms(ctx, a, b, v) {
				if verdict == contain.Contained {
					t.Errorf("pair %d: %s is called contained in %s, but not for %s", i, x, y, v)
				} else {
					missed++
					t.Logf("undecided, although %s: %s ⊆ %s", v, x, y)
				}
				break
			}
		}
	}
	t.Logf("%d pairs: %d contained, %d escape, %d undecided (%d of them with a counterexample), %d invalid; slowest %v",
		pairs, count[contain.Contained], count[contain.Escapes], count[contain.Undecided], missed, skipped, slowest)
	if count[contain.Contained] < pairs/10 || count[contain.Escapes] < pairs/10 {
		t.Error("the drawn pairs are one-sided: the test proves little")
	}
}
