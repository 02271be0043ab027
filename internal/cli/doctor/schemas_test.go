package doctor

import (
	"strings"
	"testing"

	"mcptest/internal/base/jsonv"
)

func TestLintTool(t *testing.T) {
	for _, tc := range []struct {
		tool  string
		state State // the worst
		text  string
	}{
		{`{"name": "add", "description": "Adds", "inputSchema": {"type": "object"}}`, OK, ""},
		{`{"name": "add", "inputSchema": {"type": "object"}}`, Warn, "no description"},
		{`{"name": "a b", "description": "Adds", "inputSchema": {"type": "object"}}`, Warn, "the name should be"},
		{`{"name": 3, "description": "Adds", "inputSchema": {"type": "object"}}`, Fail, "name is a number, not a string"},
		{`{"name": "add", "description": "Adds"}`, Fail, "inputSchema is absent, not an object"},
		{`{"name": "add", "description": "Adds", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": "yes"}}`, Fail, "annotations.readOnlyHint is a string, not a boolean"},
		{`{"name": "add", "description": "Adds", "inputSchema": {"type": "string"}}`, Fail, `inputSchema.type is "string", not "object"`},
		{`{"name": "add", "description": "Adds", "inputSchema": {"type": "object", "required": ["a"]}}`, Warn, `requires "a" but does not define it`},
		{`{"name": "add", "description": "Adds", "inputSchema": {"type": "object", "properties": {"a": {"type": "int"}}}}`, Fail, "inputSchema"},
	} {
		v, err := jsonv.Parse([]byte(tc.tool))
		if err != nil {
			t.Fatal(err)
		}
		state, texts := OK, ""
		for _, r := range lintTool("2025-11-25", v) {
			state = chooseWorse(state, r.state)
			texts += r.text + "\n"
		}
		if state != tc.state || !strings.Contains(texts, tc.text) {
			t.Errorf("%s: %s: %s", tc.tool, state, texts)
		}
	}
}
