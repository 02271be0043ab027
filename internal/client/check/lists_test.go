package check

import (
	"strings"
	"testing"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
)

func parse(t *testing.T, text string) jsonv.Value {
	t.Helper()
	v, err := jsonv.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestPage(t *testing.T) {
	for page, want := range map[string]string{
		`{"tools":[]}`:                   "",
		`{"tools":[],"_meta":[]}`:        "_meta is an array, not an object",
		`{"tools":[],"nextCursor":"x"}`:  "",
		`{"tools":[],"nextCursor":null}`: "nextCursor is null, not a string",
		`{"tools":{},"nextCursor":7}`:    "tools is an object, not an array; nextCursor is a number, not a string",
		`{}`:                             "the result has no tools",
	} {
		if got := strings.Join(Page("tools", parse(t, page)), "; "); got != want {
			t.Errorf("%s: %q, want %q", page, got, want)
		}
	}
}

// Every violation is one that the schema of the protocol version forbids and for which
// the clients of the TypeScript SDK that speak the version reject the list.
func TestEntry(t *testing.T) {
	const now, next = "2025-11-25", "2026-07-28"
	const tools, resources, templates, prompts = "tools/list", "resources/list", "resources/templates/list", "prompts/list"
	tool := func(members string) string {
		return `{"name":"a","inputSchema":{"type":"object"},` + members + `}`
	}
	input := func(schema string) string { return `{"name":"a","inputSchema":` + schema + `}` }
	for _, c := range []struct{ version, method, entry, want string }{
		{now, tools, tool(`"description":"d","title":"t","annotations":{"title":"t","readOnlyHint":true,"own":7},"_meta":{},"icons":[{"src":"s","sizes":["any"],"theme":"dark"}],"execution":{"taskSupport":"optional"},"outputSchema":{"type":"object","properties":{"n":{"type":"nonsense"}}}`), ""},
		{now, tools, `"a"`, "it is a string, not an object"},
		{now, tools, `{"inputSchema":{"type":"object"}}`, "name is absent, not a string"},
		{now, tools, `{"name":"a"}`, "inputSchema is absent, not an object"},
		{now, tools, input(`null`), "inputSchema is null, not an object"},
		{now, tools, input(`{}`), `inputSchema.type is missing, not "object"`},
		{now, tools, input(`{"type":["object"]}`), `inputSchema.type is ["object"], not "object"`},
		{now, tools, input(`{"type":"object","properties":null,"required":null}`), "inputSchema.properties is null, not an object; inputSchema.required is null, not an array"},
		{now, tools, input(`{"type":"object","properties":{"a":true},"required":["a",5]}`), "inputSchema.required[1] is a number, not a string"},
		{next, tools, input(`{"type":"object","properties":[],"required":null}`), ""},
		{next, tools, input(`{"type":"array"}`), `inputSchema.type is "array", not "object"`},
		{"2024-11-05", tools, tool(`"description":null`), "description is null, not a string"},
		{"2024-11-05", tools, tool(`"title":5,"annotations":[],"_meta":"x","icons":{},"execution":5,"outputSchema":5`), ""},
		{"2025-03-26", tools, tool(`"annotations":[]`), "annotations is an array, not an object"},
		{"2025-03-26", tools, tool(`"annotations":{"title":5,"readOnlyHint":"yes","destructiveHint":null}`), "annotations.title is a number, not a string; annotations.readOnlyHint is a string, not a boolean; annotations.destructiveHint is null, not a boolean"},
		{"2025-06-18", tools, tool(`"title":5,"_meta":"x","icons":{}`), "title is a number, not a string; _meta is a string, not an object"},
		{"2025-06-18", tools, tool(`"outputSchema":null`), "outputSchema is null, not an object"},
		{now, tools, tool(`"outputSchema":{"type":"array","required":[1]}`), `outputSchema.type is "array", not "object"; outputSchema.required[0] is a number, not a string`},
		{next, tools, tool(`"outputSchema":{"type":"array","required":[1]}`), ""},
		{now, tools, tool(`"icons":{}`), "icons is an object, not an array"},
		{now, tools, tool(`"icons":["x",{"mimeType":5,"sizes":"48x48","theme":"blue"}]`), `icons[0] is a string, not an object; icons[1].src is absent, not a string; icons[1].mimeType is a number, not a string; icons[1].sizes is a string, not an array; icons[1].theme is "blue", not light or dark`},
		{now, tools, tool(`"execution":{"taskSupport":"maybe"}`), `execution.taskSupport is "maybe", not forbidden or optional or required`},
		{next, tools, tool(`"execution":{"taskSupport":"maybe"}`), ""},
		{now, resources, `{"uri":"a:b","name":"n","size":3,"annotations":{"priority":1}}`, ""},
		{now, resources, `{"name":"n","mimeType":null,"size":"3"}`, "uri is absent, not a string; mimeType is null, not a string; size is a string, not a number"},
		{now, resources, `{"uri":"a:b","name":"n","annotations":{"audience":"user"}}`, "annotations.audience is a string, not an array"},
		{now, templates, `{"uriTemplate":"a:{b}","name":"n","size":"3"}`, ""},
		{now, templates, `{"uri":"a:b"}`, "name is absent, not a string; uriTemplate is absent, not a string"},
		{now, prompts, `{"name":"p","arguments":[{"name":"a","required":true}]}`, ""},
		{now, prompts, `{"name":"p","description":5,"arguments":null}`, "description is a number, not a string; arguments is null, not an array"},
		{now, prompts, `{"name":"p","arguments":["a",{"description":5,"required":"yes"}]}`, "arguments[0] is a string, not an object; arguments[1].name is absent, not a string; arguments[1].description is a number, not a string; arguments[1].required is a string, not a boolean"},
	} {
		if got := strings.Join(Entry(c.version, c.method, parse(t, c.entry)), "; "); got != c.want {
			t.Errorf("%s %s %s:\n%q, want\n%q", c.version, c.method, c.entry, got, c.want)
		}
	}
}

// ToolCall reports violations of the result and the outputSchema, and contradictions in the
// text.
func TestToolCall(t *testing.T) {
	schema := NewOutputSchema(parse(t, `{"type":"object","properties":{"n":{"type":"integer"}}}`))
	mail := func(draft, more string) *OutputSchema {
		return NewOutputSchema(parse(t, `{"$schema":"http://json-schema.org/draft-`+draft+`/schema#","properties":{"m":{"type":"string","format":"email"`+more+`}}}`))
	}
	wide := NewOutputSchema(parse(t, `{"allOf":[`+strings.Repeat(`{},`, 500)+`{}]}`))
	for _, tt := range []struct {
		result, want string
		schema       *OutputSchema
	}{
		{`"result":{"content":[],"structuredContent":{"n":1}}`, "", schema},
		{`"result":{"content":[]}`, "", nil},
		{`"result":{"content":[]}`, "output-schema", schema},
		{`"result":{"content":[],"isError":true}`, "", schema},
		{`"result":{"structuredContent":{"n":"x"}}`, "bad-result, output-schema", schema},
		{`"result":{"content":[{"type":"text","text":"{\"n\":2}"}],"structuredContent":{"n":1}}`, "the text content and structuredContent contradict each other at structuredContent.n", schema},
		{`"result":{"content":[{"type":"text","text":"{\"m\":2}"}],"structuredContent":{"n":1}}`, "", schema},
		{`"result":{"content":[]}`, "the outputSchema of t is not a valid schema", NewOutputSchema(parse(t, `{"type":7}`))},
		{`"error":{"code":1,"message":"no"}`, "", schema},
		{`"result":{"resultType":"input_required","requestState":"s"}`, "", schema},
		{`"result":{"resultType":"task","taskId":"1"}`, "", schema},
		{`"result":{"task":{"taskId":"1"}}`, "bad-result", schema},
		{`"result":{"task":{"taskId":"1"},"content":[]}`, "output-schema", schema},
		// Before 2019-09 a validator may ignore format, and from then on it does.
		{`"result":{"content":[],"structuredContent":{"m":"x"}}`, "structuredContent may not match the outputSchema of t", mail("07", "")},
		{`"result":{"content":[],"structuredContent":{"m":"x@y.z"}}`, "", mail("07", "")},
		{`"result":{"content":[],"structuredContent":{"m":1}}`, "output-schema", mail("07", "")},
		{`"result":{"content":[],"structuredContent":{"m":"("}}`, "structuredContent may not match the outputSchema of t", NewOutputSchema(parse(t, `{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"m":{"format":"regex"}}}`))},
		{`"result":{"content":[],"structuredContent":{"m":"x"}}`, "structuredContent may not match the outputSchema of t", mail("07", `,"anyOf":[{"format":"uri"},{"format":"email"}]`)},
		{`"result":{"content":[],"structuredContent":{"m":"x@y.z"}}`, "structuredContent may not match the outputSchema of t", mail("07", `,"oneOf":[{"format":"ipv4"},{"format":"email"}]`)},
		{`"result":{"content":[],"structuredContent":{"m":"x"}}`, "", NewOutputSchema(parse(t, `{"properties":{"m":{"format":"email"}}}`))},
		// A limit or a fault of the validator is no violation of the server's.
		{`"result":{"content":[],"structuredContent":{"n":` + strings.Repeat("[", 400) + strings.Repeat("]", 400) + `}}`, "structuredContent was not compared with the outputSchema of t", wide},
		{`"result":{"content":[],"structuredContent":{"n":1}}`, "structuredContent was not compared with the outputSchema of t", NewOutputSchema(parse(t, `{"$ref":"#"}`))},
	} {
		x := &mcp.Exchange{Response: []byte(`{"jsonrpc":"2.0","id":1,` + tt.result + `}`)}
		report := ToolCall(t.Context(), "2025-11-25", "t", tt.schema, x)
		var got []string
		for _, v := range report.Violations {
			got = append(got, v.Kind)
		}
		for _, w := range report.Warnings {
			text, _, _ := strings.Cut(w, ": ")
			got = append(got, text)
		}
		if got := strings.Join(got, ", "); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.result, got, tt.want)
		}
	}
}
