package compat

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
)

var today = time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)

func builtinRules(t *testing.T) Rules {
	t.Helper()
	r, ds := Rules{}.load(&source.File{Name: "rules.yaml", Data: builtin}, provenRules)
	if len(ds) > 0 {
		t.Fatal(ds)
	}
	return r
}

// expand makes an example of the file as long as it means to be.
func expand(v jsonv.Value) jsonv.Value {
	if v.Text() == "PLACEHOLDER-129" {
		return jsonv.Array(slices.Repeat([]jsonv.Value{jsonv.Object(jsonv.Member{Key: "name", Value: jsonv.String("t")})}, 129)...)
	}
	text := string(v.Append(nil))
	text = strings.ReplaceAll(text, "PLACEHOLDER-16K", strings.Repeat("x ", 8200))
	text = strings.ReplaceAll(text, "PLACEHOLDER-8K", strings.Repeat("x ", 4100))
	v, _ = jsonv.Parse([]byte(text))
	return v
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
		if rule.schema != nil {
			if _, err := rule.schema(); err != nil {
				t.Errorf("%s: must: %v", rule.ID, err)
			}
		}
		rule.Fails, rule.Passes = expand(rule.Fails), expand(rule.Passes)
		if err := rule.verify(rules); err != nil {
			t.Errorf("%s: %v", rule.ID, err)
		}
	}
}

// Definitions that are not what they should be are examined without a panic,
// and only the rules about what is there report them.
func TestOddDefinitions(t *testing.T) {
	t.Parallel()
	odd := mustParse(t, `[{"inputSchema":true},{"name":7,"inputSchema":{"properties":[1],"required":"a","items":{"anyOf":3}}},{"name":"a","inputSchema":null,"annotations":[]},4,null]`)
	rep, err := Check(t.Context(), readExample(odd), builtinRules(t), today)
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

// The examination of definitions has no means to open a connection or to start
// a program. Package opening, whose verdicts a report has, names headers of HTTP; it is
// the only import that may.
func TestNoNetwork(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("go", "list", "-f", `{{join .Imports "\n"}}`, ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	direct := slices.DeleteFunc(strings.Fields(string(out)), func(name string) bool {
		return name == "mcptest/internal/offer/opening"
	})
	out, err = exec.Command("go", append([]string{"list", "-deps"}, direct...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	deps := strings.Fields(string(out))
	if !slices.Contains(deps, "mcptest/internal/base/jsonschema") {
		t.Fatalf("the list of packages is incomplete: %v", deps)
	}
	for _, name := range []string{"net", "net/http", "os/exec"} {
		if slices.Contains(deps, name) {
			t.Errorf("compat depends on %s", name)
		}
	}
}
