package coverage_test

import (
	"fmt"
	"strings"
	"testing"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/offer/surface"
	"mcptest/internal/report/result"
	"mcptest/internal/run/coverage"
)

func parse(t *testing.T, text string) jsonv.Value {
	t.Helper()
	v, err := jsonv.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// shop is what the server of these tests offers.
func shop(t *testing.T) *surface.Offer {
	t.Helper()
	lists := map[surface.Kind][]jsonv.Value{}
	for _, l := range surface.Lists() {
		for _, e := range parse(t, `{
			"tools": [
				{"name": "search", "annotations": {"readOnlyHint": true, "title": "S"}, "inputSchema": {"properties": {
					"q": {"type": "string"}, "sort": {"enum": ["price", "name"]}, "tags": {"items": {"oneOf": [{"const": "a"}, {"const": "b"}]}}}, "required": ["q"]}},
				{"name": "a.b", "annotations": {"destructiveHint": true, "openWorldHint": false}}],
			"resources": [{"uri": "note://1"}, {"uri": "note://2"}],
			"resourceTemplates": [{"uriTemplate": "note://{id}"}, {"uriTemplate": "tree://{+path}.txt"}],
			"prompts": [{"name": "review", "arguments": [{"name": "style", "required": true}, {"name": "tone"}]}]
		}`).Lookup(l.Member).Elems() {
			lists[l.Kind] = append(lists[l.Kind], e)
		}
	}
	return &surface.Offer{Lists: lists}
}

// missing measures a use and shows what is missing of a part.
func missing(t *testing.T, u *coverage.Use, of string) string {
	t.Helper()
	parts, _, _ := coverage.Measure(shop(t), u)
	for _, p := range parts {
		if p.Of == of {
			if p.Covered+len(p.Missing) != p.Total {
				t.Errorf("%s: %d covered and %d missing of %d", of, p.Covered, len(p.Missing), p.Total)
			}
			return strings.Join(p.Missing, " ")
		}
	}
	return "not measured"
}

func TestMeasureCalls(t *testing.T) {
	t.Parallel()
	type call struct {
		method, params string
		examined       bool
	}
	for _, tc := range []struct {
		calls []call
		of    string
		want  string
	}{
		{nil, result.Tools, "a.b search"},
		{[]call{{"tools/call", `{"name":"search"}`, false}}, result.Tools, "a.b search"},
		{[]call{{"tools/call", `{"name":"search"}`, true}, {"tools/call", `{"name":"search"}`, false}}, result.Tools, "a.b"},
		{[]call{{"tools/list", `{"name":"search"}`, true}, {"tools/call", `{"name":"unlisted"}`, true}, {"tools/call", `{}`, true}}, result.Tools, "a.b search"},
		{nil, result.Arguments, "prompt review.style prompt review.tone search.q search.sort search.tags"},
		{[]call{{"tools/call", `{"name":"search","arguments":{"q":"x","other":1}}`, true}}, result.Arguments, "prompt review.style prompt review.tone search.sort search.tags"},
		{[]call{{"tools/call", `{"name":"search","arguments":{"q":"x"}}`, false}, {"prompts/get", `{"name":"review","arguments":{"tone":"x"}}`, true}}, result.Arguments, "prompt review.style search.q search.sort search.tags"},
		{nil, result.EnumValues, `search.sort="name" search.sort="price" search.tags="a" search.tags="b"`},
		{[]call{{"tools/call", `{"name":"search","arguments":{"sort":"name","tags":["b","c"]}}`, true}}, result.EnumValues, `search.sort="price" search.tags="a"`},
		{[]call{{"tools/call", `{"name":"a.b","arguments":{"sort":"name"}}`, true}}, result.EnumValues, `search.sort="name" search.sort="price" search.tags="a" search.tags="b"`},
		{[]call{{"resources/read", `{"uri":"note://1"}`, true}}, result.Resources, "note://2 note://{id} tree://{+path}.txt"},
		{[]call{{"resources/read", `{"uri":"note://7"}`, true}, {"resources/read", `{"uri":"tree://a/b.txt"}`, true}}, result.Resources, "note://1 note://2"},
		{[]call{{"resources/read", `{"uri":"note://7/8"}`, true}, {"resources/read", `{"uri":"tree://a/b.txt"}`, false}}, result.Resources, "note://1 note://2 note://{id} tree://{+path}.txt"},
		{[]call{{"prompts/get", `{"name":"review"}`, true}}, result.Prompts, ""},
		{[]call{{"tools/call", `{"name":"review"}`, true}}, result.Prompts, "review"},
	} {
		var u coverage.Use
		for _, c := range tc.calls {
			u.Call(c.method, parse(t, c.params), c.examined)
		}
		if got := missing(t, &u, tc.of); got != tc.want {
			t.Errorf("%v: %s without %s\nexpected %s", tc.calls, tc.of, got, tc.want)
		}
	}
}

func TestMeasureAnnotations(t *testing.T) {
	t.Parallel()
	const read, kill, world = "search.readOnlyHint", "a.b.destructiveHint", "a.b.openWorldHint"
	for _, tc := range []struct{ target, matcher, missing string }{
		{"surface.tools.search.annotations.readOnlyHint", "exact", kill + " " + world},
		{`surface.tools["a.b"].annotations`, "subset", read},
		{"surface.tools[*].annotations.openWorldHint", "each", kill + " " + read},
		{"surface.tools[1:].annotations.destructiveHint", "each", world + " " + read},
		{"surface.tools[-1].annotations.title", "exact", kill + " " + world + " " + read},
		{"result.tools[0].annotations.readOnlyHint", "exact", kill + " " + world},
		{"result.tools[9].annotations.readOnlyHint", "exact", kill + " " + world + " " + read},
		{"surface", "lock", ""},
		{"surface.tools", "snapshot", ""},
		{"surface.tools.search", "exact", kill + " " + world},
		{"surface.tools", "length", kill + " " + world + " " + read},
		{"surface.prompts", "lock", kill + " " + world + " " + read},
		{"surface.tools.search.inputSchema.properties.annotations", "exact", kill + " " + world + " " + read},
	} {
		var u coverage.Use
		u.Assert(coverage.Assertion{Target: tc.target, Matcher: tc.matcher})
		if got := missing(t, &u, result.Annotations); got != tc.missing {
			t.Errorf("%s %s: without %s\nexpected %s", tc.target, tc.matcher, got, tc.missing)
		}
	}
}

func TestMeasureDrafts(t *testing.T) {
	t.Parallel()
	var u coverage.Use
	u.Call("tools/call", parse(t, `{"name":"search"}`), false)
	u.Call("tools/call", parse(t, `{"name":"a.b"}`), true)
	_, unasserted, drafts := coverage.Measure(shop(t), &u)
	if fmt.Sprint(unasserted) != "[search]" {
		t.Error(unasserted)
	}
	var b strings.Builder
	for _, d := range drafts {
		fmt.Fprintf(&b, "%s:\n%s", d.Of, d.YAML)
	}
	const want = `tools:
  - name: search answers
    tool: search
    args: {q: text}
    expect:
      # review: what the response must contain
      - {target: text, matcher: {contains: "TODO: what the response must contain"}}
resources:
  - name: "note://1 answers"
    uri: "note://1"
    expect:
      # review: what the response must contain
      - {target: "result.contents[0].text", matcher: {contains: "TODO: what the response must contain"}}
resources:
  - name: "note://2 answers"
    uri: "note://2"
    expect:
      # review: what the response must contain
      - {target: "result.contents[0].text", matcher: {contains: "TODO: what the response must contain"}}
prompts:
  - name: review answers
    prompt: review
    args: {style: text}
    expect:
      # review: what the response must contain
      - {target: "result.messages[0].content.text", matcher: {contains: "TODO: what the response must contain"}}
`
	if b.String() != want {
		t.Error(b.String())
	}
}

func TestMeasureReferences(t *testing.T) {
	t.Parallel()
	tool := parse(t, `{"name": "find", "inputSchema": {
		"$ref": "#/$defs/Base", "allOf": [{"properties": {"sort": {"anyOf": [{"$ref": "#/$defs/Sort"}, {"type": "null"}]}}}, {"$ref": "#/$defs/Base"}],
		"properties": {"a key": {"type": "string"}, "filter": {"$ref": "#/$defs/Filter"}, "list": {"type": "array", "items": {"$ref": "#/$defs/Filter"}}},
		"$defs": {
			"Base": {"properties": {"q": {"type": "string"}}},
			"Sort": {"enum": ["up", "down"]},
			"Filter": {"properties": {"a.b": {}, "sort": {"$ref": "#/$defs/Sort"}, "and": {"type": "array", "items": {"$ref": "#/$defs/Filter"}}}}
		}}}`)
	offer := &surface.Offer{Lists: map[surface.Kind][]jsonv.Value{surface.Tool: {tool}}}
	for _, tc := range []struct{ args, arguments, nested, values string }{
		{
			`{}`, `find.filter find.list find.q find.sort find["a key"]`,
			`find.filter.and find.filter.sort find.filter["a.b"] find.list[].and find.list[].sort find.list[]["a.b"]`,
			`find.filter.sort="down" find.filter.sort="up" find.list[].sort="down" find.list[].sort="up" find.sort="down" find.sort="up"`,
		},
		{
			`{"q": "x", "sort": "up", "a key": "", "filter": {"sort": "down", "a": {"b": 1}}, "list": []}`, ``,
			`find.filter.and find.filter["a.b"] find.list[].and find.list[].sort find.list[]["a.b"]`,
			`find.filter.sort="up" find.list[].sort="down" find.list[].sort="up" find.sort="down"`,
		},
		{
			`{"q": "x", "sort": "down", "a key": "", "filter": {"and": [], "sort": "up", "a.b": 1}, "list": [{}, {"sort": "up", "and": [{"sort": "down"}], "a.b": 0}]}`, ``, ``,
			`find.filter.sort="down" find.list[].sort="down" find.sort="up"`,
		},
	} {
		var u coverage.Use
		u.Call("tools/call", jsonv.ObjectOf("name", "find", "arguments", parse(t, tc.args)), true)
		parts, _, _ := coverage.Measure(offer, &u)
		got := map[string]string{}
		for _, p := range parts {
			got[p.Of] = strings.Join(p.Missing, " ")
		}
		if got[result.Arguments] != tc.arguments || got["nested_arguments"] != tc.nested || got[result.EnumValues] != tc.values {
			t.Errorf("%s: %q", tc.args, got)
		}
	}
}

// A schema whose references multiply is counted up to a limit.
func TestMeasureEndlessReferences(t *testing.T) {
	t.Parallel()
	var defs []string
	for i := range 40 {
		ref := fmt.Sprintf(`{"$ref": "#/$defs/d%d"}`, i+1)
		defs = append(defs, fmt.Sprintf(`"d%d": {"allOf": [%s, %s], "properties": {"a": %s, "b": %s}}`, i, ref, ref, ref, ref))
	}
	tool := parse(t, `{"name": "find", "inputSchema": {"properties": {"x": {"$ref": "#/$defs/d0"}}, "$defs": {`+strings.Join(defs, ",")+`}}}`)
	parts, _, _ := coverage.Measure(&surface.Offer{Lists: map[surface.Kind][]jsonv.Value{surface.Tool: {tool}}}, &coverage.Use{})
	for _, p := range parts {
		if p.Of == "nested_arguments" && p.Total != 1999 {
			t.Error(p.Total)
		}
	}
}

// An argument with very many values does not fill the memory.
func TestUseIsBounded(t *testing.T) {
	t.Parallel()
	var u coverage.Use
	for i := range 3000 {
		u.Call("tools/call", parse(t, fmt.Sprintf(`{"name":"search","arguments":{"sort":"v%d"}}`, i)), true)
	}
	u.Call("tools/call", parse(t, `{"name":"search","arguments":{"tags":"b"}}`), true)
	if got := missing(t, &u, result.EnumValues); got != `search.sort="name" search.sort="price" search.tags="a"` {
		t.Error(got)
	}
}
