package check_test

import (
	"strings"
	"testing"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/check"
)

func TestArguments(t *testing.T) {
	for _, c := range []struct{ schema, args, want string }{
		{`{}`, `{"a":1}`, ``},
		{`{"type":"object"}`, `{"a":1}`, ``},
		{`{"properties":{"a":{"type":"string"}}}`, `{"a":"x"}`, ``},
		{`{"properties":{"limit":{}}}`, `{"limt":1}`, `"limt" is not in the inputSchema (did you mean "limit"?)`},
		{`{"properties":{"limit":{}},"required":["limit"]}`, `{"limt":1}`, `"limt" is not in the inputSchema (did you mean "limit"?)`},
		{`{"properties":{"a":{}},"additionalProperties":true}`, `{"b":1}`, ``},
		{`{"properties":{"a":{}},"additionalProperties":{"type":"string"}}`, `{"b":1}`, ``},
		{`{"additionalProperties":false}`, `{"b":1}`, `"b" is not in the inputSchema`},
		{`{"properties":{"a":{}},"patternProperties":{"^b":{}}}`, `{"b":1}`, ``},
		{`{"properties":{"a":{}},"allOf":[{"properties":{"b":{}}}]}`, `{"b":1}`, ``},
		{`{"properties":{"a":{"type":"integer"}},"required":["a"]}`, ``, `"a" is required and missing`},
		{`{"properties":{"a":{"type":"integer"}}}`, `{"a":1.5}`, `"a" is 1.5, not of the type integer`},
		{`{"properties":{"a":{"type":"integer"}}}`, `{"a":1e2}`, ``},
		{`{"properties":{"a":{"type":["string","null"]}}}`, `{"a":null}`, ``},
		{`{"properties":{"a":{"type":["string","null"]}}}`, `{"a":1}`, `"a" is 1, not of the type string or null`},
		{`{"properties":{"a":{"anyOf":[{"type":"string"}]}}}`, `{"a":1}`, ``},
		{`{"properties":{"f":{"type":"object","properties":{"name":{}}}}}`, `{"f":{"nam":1}}`, `"f.nam" is not in the inputSchema (did you mean "f.name"?)`},
		{`{"properties":5,"required":"a"}`, `{"b":1}`, ``},
		{`{"properties":{"a":true,"b":{"type":7}}}`, `{"a":1,"b":1}`, ``},
	} {
		schema, err := jsonv.Parse([]byte(c.schema))
		if err != nil {
			t.Fatal(err)
		}
		args, _ := jsonv.Parse([]byte(c.args))
		problems, _ := check.Arguments(schema, args)
		if got := strings.Join(problems, "; "); got != c.want {
			t.Errorf("%s on %s: %q, want %q", c.schema, c.args, got, c.want)
		}
	}
}
