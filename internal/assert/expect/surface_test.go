package expect_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"mcptest/internal/assert/target"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/offer/surface"
)

func definitions(t *testing.T, text string) (out []jsonv.Value) {
	t.Helper()
	v, err := jsonv.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range v.Elems() {
		out = append(out, e)
	}
	return out
}

func TestSurfaceTargets(t *testing.T) {
	offer := &surface.Offer{
		Lists: map[surface.Kind][]jsonv.Value{
			surface.Tool:     definitions(t, `[{"name":"a","x":{"y":1}},{"name":"b.c","x":{}},{"name":"d"},{"name":"d"},{"title":"none"}]`),
			surface.Template: definitions(t, `[{"uriTemplate":"file:///{p}","name":"files"}]`),
		},
		Failed: map[surface.Kind]error{surface.Prompt: errors.New("prompts/list: broken")},
	}
	for _, tt := range []struct {
		target, matcher string
		message         string // of a failure; "" if it passes
	}{
		{"surface.tools", "length: 5", ""},
		{"surface.tools.a.x.y", "exact: 1", ""},
		{`surface.tools["b.c"].x`, "empty: true", ""},
		{"surface.tools.b.c", "exists: true", `the server lists no tool "b"; it lists a, "b.c", d, d (did you mean "surface.tools[\"b.c\"]"?)`},
		{"surface.tools.d", "absent: true", `tools/list lists 2 definitions with the name "d"`},
		{"surface.tools.e", "absent: true", ""},
		{"surface.tools[0].name", "exact: a", ""},
		{`surface.resourceTemplates["file:///{p}"].name`, "exact: files", ""},
		{"surface.resources", "empty: true", ""},
		// A list that could not be read is not absent.
		{"surface.prompts.a", "absent: true", "prompts/list: broken"},
		{"surface", "exists: true", "prompts/list: broken"},
		// each counts elements without the member; other matchers skip them.
		{"surface.tools[*].x.y", "each: {exact: 1}", `4 of 5 elements do not pass, the first: no key "y" in surface.tools["b.c"].x; it has no keys`},
		{"surface.tools[*].x.y", "contains: 1", ""},
		{"surface.tools[*].x.y", "all-of: [{each: {exact: 1}}]", "4 of 5 elements do not pass"},
		{"surface.tools[*].z", "each: {absent: true}", ""},
		{"surface.tools[*].z", "each: {type: string}", `5 of 5 elements do not pass, the first: no key "z" in surface.tools["a"]`},
		{"surface.tools[*].z", "contains: 1", `in none of 5 elements`},
		{"surface.tools[*].x", "each: {not: {exists: true}}", `2 of 5 elements do not pass`},
		{"surface.tools[*].x", "not: {each: {exact: 3}}", ""},
	} {
		tree := tree(t, "expect: [{target: '"+tt.target+"', matcher: {"+tt.matcher+"}}]")
		if !tree.Uses().Surface() {
			t.Errorf("%s: Uses does not say so", tt.target)
		}
		v := tree.Evaluate(context.Background(), &target.Observation{Surface: offer}, nil)
		if v.Pass != (tt.message == "") || !strings.Contains(v.Message, tt.message) {
			t.Errorf("%s %s: %q, expected %q", tt.target, tt.matcher, v.Message, tt.message)
		}
		if v = tree.Evaluate(context.Background(), &target.Observation{}, nil); v.Pass {
			t.Errorf("%s %s passes without an offer", tt.target, tt.matcher)
		}
	}
}
