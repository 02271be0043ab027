package check

import (
	"strings"
	"testing"

	"mcptest/internal/jsonv"
	"mcptest/internal/mcp"
)

func parse(t *testing.T, text string) jsonv.Value {
	t.Helper()
	v, err := jsonv.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestToolList(t *testing.T) {
	for page, want := range map[string]string{
		`{"tools":[]}`:                   "",
		`{"tools":[],"nextCursor":null}`: "",
		`{"tools":{},"nextCursor":7}`:    "tools is an object, not an array; nextCursor is a number, not a string",
		`{}`:                             "the result has no tools",
	} {
		if got := strings.Join(ToolsPage(parse(t, page)), "; "); got != want {
			t.Errorf("%s: %q, want %q", page, got, want)
		}
	}
	for tool, want := range map[string]string{
		`{"name":"a","inputSchema":{}}`:                       "",
		`{"name":"a","inputSchema":{},"outputSchema":null}`:   "",
		`{"name":"a","inputSchema":{},"outputSchema":"text"}`: "outputSchema is a string, not an object",
		`{"name":"a"}`: "inputSchema is absent, not an object",
		`{"name":7}`:   "a tool's name is a number, not a string",
		`"a"`:          "a tool is a string, not an object",
	} {
		if got := Tool(parse(t, tool)); got != want {
			t.Errorf("%s: %q, want %q", tool, got, want)
		}
	}
}

// ToolCall reports violations of the result and the outputSchema, and contradictions in the
// text.
func TestToolCall(t *testing.T) {
	schema := NewOutputSchema(parse(t, `{"type":"object","properties":{"n":{"type":"integer"}}}`))
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
