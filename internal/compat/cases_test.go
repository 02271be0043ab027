package compat

import (
	"slices"
	"testing"
)

// cases are definitions in addition to the examples of the rules: whether a
// rule reports them. Those about SDKs are shown to the SDKs as well.
var cases = []struct {
	rule, tool string
	found      bool
}{
	{"claude-directory-reads-and-writes", `{"name":"page","inputSchema":{"type":"object","properties":{"mode":{"type":"integer","enum":[10,20]}}}}`, false},
	{"claude-directory-reads-and-writes", `{"name":"page","inputSchema":{"type":"object","properties":{"mode":{"enum":["a",null]}}}}`, false},
	{"claude-directory-reads-and-writes", `{"name":"events","inputSchema":{"type":"object","properties":{"event":{"enum":["read","create"]}}}}`, false},
	{"claude-directory-reads-and-writes", `{"name":"share","inputSchema":{"type":"object","properties":{"permission":{"enum":["read","write"]}}}}`, false},
	{"claude-directory-reads-and-writes", `{"name":"api","inputSchema":{"type":"object","properties":{"method":{"enum":["GET","POST"]}}}}`, true},
	{"security-destructive-hint", `{"name":5,"annotations":{"readOnlyHint":true}}`, false},
	{"security-destructive-hint", `{"annotations":{"destructiveHint":false}}`, false},
	{"claude-input-type", `{"name":"a","inputSchema":{}}`, true},
	{"openai-array-items", `{"name":"a","inputSchema":{"type":"object","properties":{"a":{"type":"array","prefixItems":[{}]}}}}`, false},
	{"openai-array-items", `{"name":"a","inputSchema":{"type":"object","properties":{"items":{"enum":["array"]}}}}`, false},
}

func TestCases(t *testing.T) {
	t.Parallel()
	rules := builtinRules(t)
	for _, tc := range cases {
		rep, err := Check(t.Context(), example(mustParse(t, tc.tool)), rules, today)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := rules.Rule(tc.rule); !ok {
			t.Errorf("there is no rule %s", tc.rule)
		}
		if found := slices.ContainsFunc(rep.Findings, func(f Finding) bool { return f.Rule == tc.rule }); found != tc.found {
			t.Errorf("%s: found %v, expected %v: %s", tc.rule, found, tc.found, tc.tool)
		}
	}
}
