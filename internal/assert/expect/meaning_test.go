package expect_test

import (
	"testing"

	"mcptest/internal/assert/expect"
	"mcptest/internal/assert/target"
	"mcptest/internal/base/source"
)

const twoPlaces = `{
	"content": [{"type": "text", "text": "{\"name\": \"Ada\", \"city\": {\"zip\": 1}}"}],
	"structuredContent": {"items": [{"id": 1}, {"id": 2}, {"name": "x"}], "city": {"name": "Oslo"}, "town": {"name": "Oslo"}, "isError": "no", "nothing": null},
	"_meta": {"a.b": [[1, 2], [3]]}
}`

// TestOneMeaning: a path means the same for every matcher, and the fallback is never used
// for members that MCP defines for results.
func TestOneMeaning(t *testing.T) {
	o := func() *target.Observation { return result(t, twoPlaces) }
	for _, c := range []struct {
		matcher string
		target  string
		pass    bool
	}{
		{"exists: true", "result.name", true},
		{"absent: true", "result.name", false},
		{"exists: false", "result.name", false},
		{"exists: true", "result.items", true},
		{"not: {exists: true}", "result.items", false},
		{"any-of: [{absent: true}, {exact: 3}]", "result.items", false},
		{"all-of: [{absent: true}, {length: 3}]", "result.items", false},
		{"absent: true", "result.city.zip", false}, // which the text has
		{"absent: true", "result.city.nope", true},
		{"absent: true", "result.nope", true},
		{"exists: true", "result.structured", false},
		{"exact: no", "result.isError", false}, // never from structuredContent
		{"exact: false", "result.isError", true},
		{"absent: true", "result.isError", true},
		{"exists: true", "result.structuredContent.items", true},
		{"exact: null", "error", true},
		{"absent: true", "error", true},
		{"exists: true", "error", false},
		{"absent: true", "error.code", true},
		{"exact: null", "error.code", false},
		{"absent: true", "result.items[*].id", false},
		{"absent: true", "structured.items[*].id", false},
		{"absent: true", "structured.items[*].nope", true},
		{"exists: true", "structured.items[5:]", false},
		{"absent: true", "structured.items[5:]", true},
		{"empty: true", "structured.items[5:]", true},
		{"absent: true", "structured.nothing", false},
		{"exact: null", "structured.nothing", true},
		{"exact: null", "structured.nowhere", false},
	} {
		suite := "expect: [{target: '" + c.target + "', matcher: {" + c.matcher + "}}]"
		if v := evaluate(t, suite, o()); v.Pass != c.pass {
			t.Errorf("%s %s: pass %v: %s", c.target, c.matcher, v.Pass, v.Message)
		}
	}
}

func TestCompileTargetPosition(t *testing.T) {
	n := node(t, `target: "result.content[x]"`)
	var d source.Decoder
	if got := (expect.Compiler{}).Target(n.Get("target"), "target", &d); got != nil {
		t.Error("accepted")
	}
	ds := d.Diagnostics()
	if len(ds) != 1 || ds[0].Pos.Col != 25 || ds[0].Path != "target" {
		t.Errorf("%+v", ds)
	}
}
