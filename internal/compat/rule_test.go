package compat

import (
	"strings"
	"testing"
	"time"

	"mcptest/internal/jsonv"
	"mcptest/internal/source"
)

var today = time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)

func builtinRules(t *testing.T) Rules {
	t.Helper()
	r, ds := Rules{}.Load(&source.File{Name: "rules.yaml", Data: builtin})
	if len(ds) > 0 {
		t.Fatal(ds)
	}
	return r
}

// example makes a list of an example of a rule. Texts that would make the file
// long are written as placeholders.
func example(v jsonv.Value) List {
	l := List{Server: "server"}
	if v.Text() == "PLACEHOLDER-129" {
		for range 129 {
			l.Tools = append(l.Tools, jsonv.Object(jsonv.Member{Key: "name", Value: jsonv.String("t")}))
		}
		return l
	}
	text := string(v.Append(nil))
	text = strings.ReplaceAll(text, "PLACEHOLDER-16K", strings.Repeat("x ", 8200))
	text = strings.ReplaceAll(text, "PLACEHOLDER-8K", strings.Repeat("x ", 4100))
	v, _ = jsonv.Parse([]byte(text))
	if v.Kind() != jsonv.KindArray {
		v = jsonv.Array(v)
	}
	for _, tool := range v.Elems() {
		l.Tools = append(l.Tools, tool)
	}
	return l
}

// Every rule has a profile, a source and two examples, and tells them apart.
func TestExamples(t *testing.T) {
	t.Parallel()
	rules := builtinRules(t)
	if len(rules.Rules) < 40 {
		t.Errorf("%d rules, at least 40 are promised", len(rules.Rules))
	}
	for _, rule := range rules.Rules {
		if !strings.HasPrefix(rule.Source, "https://") {
			t.Errorf("%s: source %q", rule.ID, rule.Source)
		}
		one := Rules{Profiles: rules.Profiles, Rules: []Rule{rule}}
		for _, tc := range []struct {
			list  jsonv.Value
			fails bool
		}{{rule.Fails, true}, {rule.Passes, false}} {
			rep, err := Check(t.Context(), example(tc.list), one, today)
			if err != nil {
				t.Fatal(err)
			}
			if got := len(rep.Findings) > 0; got != tc.fails {
				t.Errorf("%s: fails %v for %s, expected %v", rule.ID, got, tc.list.Short(200), tc.fails)
			}
		}
	}
}

// Definitions that are not what they should be are examined without a panic,
// and only the rules about what is there report them.
func TestOddDefinitions(t *testing.T) {
	t.Parallel()
	odd := mustParse(t, `[{"inputSchema":true},{"name":7,"inputSchema":{"properties":[1],"required":"a","items":{"anyOf":3}}},{"name":"a","inputSchema":null,"annotations":[]},4,null]`)
	rep, err := Check(t.Context(), example(odd), builtinRules(t), today)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range rep.Findings {
		if f.Rule == "claude-top-level-combinator" || f.Rule == "gemini-schema-keyword" {
			t.Errorf("%s is reported of a schema without the keyword: %+v", f.Rule, f)
		}
		if f.Tool == "" {
			t.Errorf("a finding does not say which tool: %+v", f)
		}
	}
}
