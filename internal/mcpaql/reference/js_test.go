package reference

import (
	"testing"

	"mcptest/internal/base/jsonv"
)

func parse(t testing.TB, s string) jsonv.Value {
	t.Helper()
	v, err := jsonv.Parse([]byte(s))
	if err != nil {
		t.Fatalf("%s: %v", s, err)
	}
	return v
}

// The expected texts are what Node.js prints.
func TestStringify(t *testing.T) {
	for in, want := range map[string]string{
		`[1.0, -0, 1e21, 1e20, 1e-6, 1e-7, 1.5e-7, 0.1]`:     `[1,0,1e+21,100000000000000000000,0.000001,1e-7,1.5e-7,0.1]`,
		`[9007199254740993, 123456789012345678901234567890]`: `[9007199254740992,1.2345678901234568e+29]`,
		`[1e400, -1e400, 5e-324, 1e-400]`:                    `[null,null,5e-324,0]`,
		`{"b":1,"10":2,"a":3,"9":4,"01":5,"4294967295":6}`:   `{"9":4,"10":2,"b":1,"a":3,"01":5,"4294967295":6}`,
		`{"a":1,"b":2,"a":3}`:                                `{"a":3,"b":2}`,
		`"<b>&\u2028\u0001\b\ud800\ud83d\ude00é\/"`:          "\"<b>&\u2028\\u0001\\b\\ud800😀é/\"",
		`[null,true,"\u007f"]`:                               "[null,true,\"\u007f\"]",
	} {
		if got := Stringify(parse(t, in)); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
}

func TestText(t *testing.T) {
	for in, want := range map[string]string{
		`["a",null,[1,[2]],{}]`: "a,,1,2,[object Object]", `true`: "true", `1e400`: "Infinity", `-0`: "0", `[]`: "", `null`: "null",
	} {
		if got := FormatText(parse(t, in)); got != want {
			t.Errorf("%s: got %q, want %q", in, got, want)
		}
	}
	if got := FormatText(jsonv.Value{}); got != "undefined" {
		t.Errorf("absent: %q", got)
	}
}

func TestWalk(t *testing.T) {
	doc := parse(t, `{"data":{"list":[10,[20]],"text":"a😀","":{"":8},"length":3,"n":5,"null":null,"01":1},"__proto__":4}`)
	for path, want := range map[string]string{
		"data.list.0": `10`, "data.list.1.0": `20`, "data.list.length": `2`, "data.list.01": ``, "data.list.+1": ``, "data.list.-1": ``,
		"data.list.2": ``, "data.text.length": `3`, "data.text.0": `"a"`, "data.text.1": `"\ud83d"`, "data.text.3": ``, "data..": `8`,
		"data.length": `3`, "data.n.x": ``, "data.null.x": ``, "data.null": `null`, "data.01": `1`, "": ``, "data.constructor": ``,
		"__proto__": `4`, "data.__proto__": ``, "data.list.0 ": ``,
	} {
		if got := Stringify(Walk(doc, path)); got != want {
			t.Errorf("%q: got %s, want %s", path, got, want)
		}
	}
}

func TestIdentical(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{`1`, `1.0`, true},
		{`9007199254740993`, `9007199254740992`, true},
		{`1e400`, `1e500`, true},
		{`"1"`, `1`, false},
		{`null`, `null`, true},
		{`[]`, `[]`, false},
		{`{}`, `{}`, false},
		{`"\ud800"`, `"\ud801"`, false},
		{`false`, `null`, false},
		{`0`, `-0`, true},
	} {
		if got := IsIdentical(parse(t, c.a), parse(t, c.b)); got != c.want {
			t.Errorf("%s === %s: %v", c.a, c.b, got)
		}
	}
	if !IsIdentical(jsonv.Value{}, jsonv.Value{}) || IsIdentical(jsonv.Value{}, jsonv.Null()) {
		t.Error("absent is identical to absent only")
	}
}

func TestNormalize(t *testing.T) {
	for in, want := range map[string]string{
		"  List\t\r\ncalls! ": "list calls", "a_b-c": "a_b c", "İstanbul": "i stanbul", "\u212aelvin": "kelvin", "ſtate": "tate", "ÄÖ": "", "": "",
	} {
		if got := Normalize(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestReferenceLeaks(t *testing.T) {
	for in, want := range map[string]bool{
		"TYPEERROR": true, "a SyntaxError": true, "see /SRC/x": true, "x.ts:9": true, "x.ts:": false, "x.ts:a .js:1": true,
		"that shelf": true, "at\u00a0x": true, "at\u200bx": false, "at\u0085x": false, "at \n": false, "at": false, "a t x": false,
		"cat": false, "at\ufeff\u3000x": true, "RangeError": false, "/src": false, "": false, "whAT Is": true,
	} {
		if got := LeaksLikeReference(in); got != want {
			t.Errorf("%q: %v", in, got)
		}
	}
}

func TestTruthy(t *testing.T) {
	if !IsTruthy(parse(t, `[]`)) || IsTruthy(parse(t, `0`)) || IsTruthy(parse(t, `""`)) || IsTruthy(parse(t, `1e-400`)) || !IsTruthy(parse(t, `"0"`)) {
		t.Error("truthy is not JavaScript's")
	}
}
