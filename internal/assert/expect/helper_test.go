package expect_test

import (
	"strings"
	"testing"

	"mcptest/internal/assert/expect"
	"mcptest/internal/assert/target"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
)

// node parses a YAML text.
func node(t testing.TB, text string) *source.Node {
	t.Helper()
	n, ds := source.Parse(&source.File{Name: "suite.yaml", Data: []byte(text)})
	if ds.HasErrors() {
		t.Fatalf("bad YAML in the test: %v\n%s", ds, text)
	}
	return n
}

// value parses a JSON text; "" is an absent value.
func value(t testing.TB, text string) jsonv.Value {
	t.Helper()
	if text == "" {
		return jsonv.Value{}
	}
	v, err := jsonv.Parse([]byte(text))
	if err != nil {
		t.Fatalf("bad JSON in the test: %v\n%s", err, text)
	}
	return v
}

// parts compiles a map with the keys expect, threshold and derivedMetrics, as
// a test or a baseline has them.
func parts(n *source.Node, path string, d *source.Decoder) expect.Parts {
	if n == nil {
		return expect.Parts{}
	}
	return expect.Parts{
		Expect:    expect.CompileExpect(n.Get("expect"), path+"expect", d),
		Threshold: expect.CompileThreshold(n.Get("threshold"), path+"threshold", d),
		Metrics:   expect.CompileMetrics(n.Get("derivedMetrics"), path+"derivedMetrics", d),
	}
}

// tree compiles a test and, under the key defaultTest, its baseline.
func tree(t testing.TB, text string) *expect.Tree {
	t.Helper()
	n := node(t, text)
	var d source.Decoder
	tr := expect.Merge(parts(n, "", &d), parts(n.Get("defaultTest"), "defaultTest.", &d))
	tr.Check("", &d)
	if ds := d.Diagnostics(); ds.HasErrors() {
		t.Fatalf("the test's suite has mistakes: %v\n%s", ds, text)
	}
	return tr
}

// result makes an observation of a result.
func result(t testing.TB, text string) *target.Observation {
	t.Helper()
	return &target.Observation{Result: value(t, text)}
}

// textResult returns an observation of a tool result with one text block.
func textResult(text string) *target.Observation {
	return &target.Observation{Result: jsonv.Object(jsonv.Member{Key: "content", Value: jsonv.Array(jsonv.Object(
		jsonv.Member{Key: "type", Value: jsonv.String("text")},
		jsonv.Member{Key: "text", Value: jsonv.String(text)},
	))})}
}

// evaluate evaluates an observation.
func evaluate(t testing.TB, suite string, o *target.Observation) expect.Verdict {
	t.Helper()
	return tree(t, suite).Evaluate(t.Context(), o, nil)
}

// wantMatch checks a pass or a failure, and part of the message.
func wantMatch(t *testing.T, v expect.Verdict, pass bool, part string) {
	t.Helper()
	if v.Pass != pass {
		t.Errorf("pass = %v, want %v: %s", v.Pass, pass, v.Message)
	}
	if !strings.Contains(v.Message, part) {
		t.Errorf("message %q does not contain %q", v.Message, part)
	}
	if v.Pass != (v.Message == "") {
		t.Errorf("pass = %v with the message %q", v.Pass, v.Message)
	}
}
