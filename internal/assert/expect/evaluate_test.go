package expect_test

import (
	"testing"

	"mcptest/internal/assert/target"
	"mcptest/internal/base/jsonv"
)

func flagged(text string) *target.Observation {
	o := textResult(text)
	o.Result = o.Result.With("isError", jsonv.Bool(true))
	return o
}

func rpcError(t *testing.T) *target.Observation {
	return &target.Observation{Error: value(t, `{"code": -32602, "message": "Invalid params"}`)}
}

const ifExpected = "; if that is expected: - {target: refusal, matcher: {exists: true}}"

func TestImplicitCheck(t *testing.T) {
	for _, c := range []struct {
		suite    string
		o        *target.Observation
		pass     bool
		implicit bool
		message  string
	}{
		{"{}", textResult("hi"), true, true, ""},
		{"expect: []", textResult("hi"), true, true, ""},
		{"{}", flagged("disk full"), false, true, `the result has isError: true: "disk full", and no assertion examines result.isError or refusal` + ifExpected},
		{"{}", rpcError(t), false, true, `the call returned error -32602 "Invalid params", and no assertion examines error or refusal` + ifExpected},
		{"{}", &target.Observation{}, true, true, ""}, // a notification has no response
		{"expect: [{target: error, matcher: {absent: true}}]", &target.Observation{Result: value(t, `{}`), Error: jsonv.Null()}, true, false, ""},
		{"{}", result(t, `{"isError": "true"}`), true, true, ""},
		{"expect: {max_duration_ms: 5}", textResult("hi"), true, false, ""},
	} {
		v := evaluate(t, c.suite, c.o)
		if v.Pass != c.pass || v.Implicit != c.implicit || v.Message != c.message || v.Score != nil {
			t.Errorf("%s: %+v", c.suite, v)
		}
	}
	for pass, o := range map[bool]*target.Observation{true: textResult("hi"), false: flagged("no")} {
		v := evaluate(t, "threshold: 0.5", o)
		if v.Pass != pass || (*v.Score == 1) != pass || (*v.Score == 0) == pass {
			t.Errorf("%+v", v)
		}
	}
	// A threshold of 0 does not excuse a failed call.
	wantMatch(t, evaluate(t, "threshold: 0", flagged("no")), false, "isError: true")
}

func TestUnexaminedError(t *testing.T) {
	const (
		contains  = "expect: [{target: text, matcher: {contains: full}}"
		errorSeen = "expect: [{target: error.code, matcher: {exact: -32602}}, "
	)
	for _, c := range []struct {
		suite string
		o     *target.Observation
		pass  bool
	}{
		{contains + "]", flagged("disk full"), false},
		{contains + ", {target: result.isError, matcher: {exact: true}}]", flagged("disk full"), true},
		{contains + ", {assert-set: {assertions: [{target: result.isError, matcher: {exact: true}}]}}]", flagged("disk full"), true},
		{"expect: [{target: result, matcher: {subset: {isError: true}}}]", flagged("x"), true},
		{"expect: [{target: result, matcher: {subset: {content: []}}}]", flagged("x"), false},
		{"expect: [{target: structured.isError, matcher: {absent: true}}]", flagged("x"), false},
		{"expect: [{target: error.code, matcher: {exact: -32602}}]", rpcError(t), true},
		{"expect: [{target: duration_ms, matcher: {lt: 9}}]", rpcError(t), false},
		// An assertion on the other form excuses nothing.
		{"expect: [{target: error, matcher: {exact: null}}]", flagged("x"), false},
		{"expect: [{target: error, matcher: {absent: true}}]", flagged("x"), false},
		{"expect: [{target: error.code, matcher: {absent: true}}]", flagged("x"), false},
		{"expect: [{target: result.isError, matcher: {absent: true}}]", rpcError(t), false},
		{"expect: [{target: result.isError, matcher: {exists: false}}]", rpcError(t), false},
		{"expect: [{target: result, matcher: {absent: true}}]", rpcError(t), false},
		// Without a result, only its absence is reported.
		{errorSeen + "{target: result, matcher: {absent: true}}]", rpcError(t), true},
		{errorSeen + "{target: result.isError, matcher: {absent: true}}]", rpcError(t), false},
		{errorSeen + "{target: result.password, matcher: {absent: true}}]", rpcError(t), false},
		{errorSeen + "{target: result.password, matcher: {not: {exists: true}}}]", rpcError(t), false},
		{errorSeen + "{target: structured.password, matcher: {exists: false}}]", rpcError(t), false},
		{errorSeen + "{target: text, matcher: {absent: true}}]", rpcError(t), false},
		// The target refusal covers both forms.
		{"expect: [{target: refusal.form, matcher: {exact: tool}}]", flagged("x"), true},
		{"expect: [{target: refusal.text, matcher: {exact: x}}]", flagged("x"), true},
		{"expect: [{target: refusal, matcher: {exact: {form: tool, text: x}}}]", flagged("x"), true},
		{"expect: [{target: refusal.code, matcher: {absent: true}}]", flagged("x"), true},
		{"expect: [{target: refusal, matcher: {exact: {form: error, code: -32602, text: 'Invalid params'}}}]", rpcError(t), true},
		{"expect: [{target: refusal, matcher: {exists: true}}]", textResult("x"), false},
		{"expect: [{target: refusal, matcher: {exact: null}}]", textResult("x"), true},
		{"expect: [{target: refusal, matcher: {exact: null}}]", flagged("x"), false},
		{"expect: [{target: refusal.text, matcher: {contains: x}}]", textResult("x"), false},
	} {
		v := evaluate(t, c.suite, c.o)
		if v.Pass != c.pass {
			t.Errorf("%s: %s", c.suite, v.Message)
		}
	}
	v := evaluate(t, contains+"]\nthreshold: 0.1", flagged("disk full"))
	wantMatch(t, v, false, `the result has isError: true: "disk full", and no assertion examines result.isError or refusal`+ifExpected)
	if *v.Score != 1 || !v.Items[0].Pass {
		t.Errorf("%+v", v)
	}
}

// TestTinyThresholds: a score of 0 does not reach any threshold above 0, and inexact sums
// do.
func TestTinyThresholds(t *testing.T) {
	const (
		misses = "{target: text, matcher: {exact: x}}"
		holds  = "{target: text, matcher: {exact: hi}}"
	)
	for _, c := range []struct {
		suite string
		pass  bool
	}{
		{"threshold: 1e-10\nexpect: [" + misses + "]", false},
		{"threshold: 0\nexpect: [" + misses + "]", true},
		{"expect: [{assert-set: {threshold: 1e-10, assertions: [" + misses + "]}}]", false},
		{"threshold: 0\nexpect: [{target: text, matcher: {exact: x}, name: a}]\nderivedMetrics: [{name: m, threshold: 1e-10, value: {weighted_sum: [{ref: a}]}}]", false},
		{"threshold: 0.3\nexpect: [{target: text, matcher: {exact: hi}, weight: 0.1}, {target: text, matcher: {exact: hi}, weight: 0.2}, {target: text, matcher: {exact: x}, weight: 0.7}]", true},
		{"threshold: 1\nexpect: [" + holds + "]", true},
	} {
		if v := evaluate(t, c.suite, textResult("hi")); v.Pass != c.pass {
			t.Errorf("%s: pass %v: %s", c.suite, v.Pass, v.Message)
		}
	}
}

func TestErrorTextIsNoted(t *testing.T) {
	v := evaluate(t, "expect: [{target: result.isError, matcher: {exact: false}}]", flagged("disk full"))
	wantMatch(t, v, false, "result.isError: expected false, got true")
	if len(v.Items[0].Notes) != 1 || v.Items[0].Notes[0] != `the server says: "disk full"` {
		t.Errorf("%q", v.Items[0].Notes)
	}
}

func TestGate(t *testing.T) {
	const suite = "threshold: 0.1\nexpect: {assertions: [{target: text, matcher: {contains: a}}], max_duration_ms: 20}"
	for ms, pass := range map[float64]bool{5: true, 20: true, 20.0000000001: true, 20.01: false} {
		o := textResult("a")
		o.DurationMS = ms
		v := evaluate(t, suite, o)
		if v.Pass != pass || *v.Score != 1 {
			t.Errorf("%v ms: %+v", ms, v)
		}
	}
	o := textResult("a")
	o.DurationMS = 20.01
	wantMatch(t, evaluate(t, suite, o), false, "the call took 20.01 ms, more than max_duration_ms 20")
}

func TestAllItemsAreEvaluated(t *testing.T) {
	v := evaluate(t, `
expect:
  - {target: text, matcher: {contains: x}, name: greets, message: the answer must greet}
  - {target: text, matcher: {contains: a}, weight: 5}
  - {target: result.nope, matcher: {exact: 1}}
`, textResult("a"))
	wantMatch(t, v, false, `2 of 3 failed, the first: greets: the answer must greet: text: does not contain "x": text "a"`)
	if len(v.Items) != 3 || v.Items[2].Message != `result.nope: no key "nope" in result; it has content` || !v.Items[1].Pass || v.Items[1].Weight != 5 {
		t.Errorf("%+v", v.Items)
	}
	for i, item := range v.Items {
		if item.Pos.Line != i+3 || item.Pos.Col != 5 {
			t.Errorf("item %d is at %s", i, item.Pos)
		}
	}
	if v.Items[0].Expected != `contains "x"` || v.Items[0].Actual != `"a"` || v.Items[0].Matcher != "contains" || v.Items[0].Target != "text" {
		t.Errorf("%+v", v.Items[0])
	}
}

func TestUses(t *testing.T) {
	for _, c := range []struct {
		target                             string
		exclusive, progress, http, surface bool
	}{
		{"result.x", false, false, false, false},
		{"text", false, false, false, false},
		{"notifications", true, true, false, false},
		{"logs[0]", true, false, false, false},
		{"progress", true, true, false, false},
		{"requests", true, false, false, false},
		{"upstream", true, false, false, false},
		{"duration_ms", false, false, false, false},
		{"http.status", false, false, true, false},
		{"http.headers.x", false, false, true, false},
		{"stderr", true, false, false, false},
		{"surface.tools", false, false, false, true},
	} {
		flat := tree(t, "expect: [{target: '"+c.target+"', matcher: {exists: true}}]").Uses()
		inSet := tree(t, "expect: [{assert-set: {assertions: [{target: '"+c.target+"', matcher: {exists: true}}]}}]").Uses()
		for _, u := range []target.Uses{flat, inSet} {
			if u.Exclusive() != c.exclusive || u.Progress() != c.progress || u.HTTP() != c.http || u.Surface() != c.surface || u.Execs() {
				t.Errorf("%s: %b", c.target, u)
			}
		}
	}
	for _, matcher := range []string{"exec: [x]", "not: {exec: [x]}", "all-of: [{exists: true}, {each: {exec: [x]}}]"} {
		if u := tree(t, "expect: [{target: text, matcher: {"+matcher+"}}]").Uses(); !u.Execs() || u.Exclusive() {
			t.Errorf("%s: %b", matcher, u)
		}
	}
}

func BenchmarkEvaluate(b *testing.B) {
	tr := tree(b, `
expect:
  - {target: result.isError, matcher: {exact: false}}
  - {target: "result.content[0].text", matcher: {contains: rust}}
`)
	o := textResult("written in rust")
	ctx := b.Context()
	b.ReportAllocs()
	for b.Loop() {
		if v := tr.Evaluate(ctx, o, nil); !v.Pass {
			b.Fatal(v.Message)
		}
	}
}

func BenchmarkEvaluateSchema(b *testing.B) {
	tr := tree(b, `
expect:
  - {target: result, matcher: {schema: {type: object, required: [content], properties: {content: {type: array, items: {type: object}}}}}}
`)
	o := textResult("written in rust")
	ctx := b.Context()
	b.ReportAllocs()
	for b.Loop() {
		if v := tr.Evaluate(ctx, o, nil); !v.Pass {
			b.Fatal(v.Message)
		}
	}
}
