package expect_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"mcptest/internal/assert/expect"
	"mcptest/internal/assert/grading"
	"mcptest/internal/assert/match"
	"mcptest/internal/assert/snapshot"
	"mcptest/internal/assert/target"
	"mcptest/internal/base/jsonschema"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
	"mcptest/internal/offer/assert"
)

// judge applies a matcher, written as YAML, to a value; "" is a missing one.
func judge(t *testing.T, matcher, val string) expect.ItemResult {
	t.Helper()
	members := []jsonv.Member{{Key: "structuredContent", Value: value(t, `{}`)}}
	if val != "" {
		members[0].Value = jsonv.Object(jsonv.Member{Key: "v", Value: value(t, val)})
	}
	tr := tree(t, "expect:\n  - target: structured.v\n    matcher: {"+matcher+"}\n")
	env := &match.Env{Exec: func(_ context.Context, argv []string, stdin []byte) ([]byte, error) {
		in, err := jsonv.Parse(stdin)
		return json.RawMessage(`{"pass": ` + map[bool]string{true: "true", false: "false"}[in.Lookup("value").Text() == "good"] + `}`), err
	}}
	env.Snapshot = func(_ string, _ *snapshot.Options, s target.Subject) snapshot.Comparison {
		want := jsonv.String("the stored value")
		return snapshot.Comparison{Pass: jsonv.Equal(want, s.Value), Want: want, Got: s.Value}
	}
	env.Grade = func(_ context.Context, _ *grading.Grading, text string) (grading.Grade, error) {
		return grading.Grade{Score: map[bool]float64{true: 0.9, false: 0.2}[text == "good"], Reason: "a reason"}, nil
	}
	env.Surface = func(ctx context.Context, c *assert.Check, offer jsonv.Value) assert.Verdict {
		if c.Tokens != nil {
			return c.Run(ctx, offer, assert.Env{Server: "api", Mask: func(s string) string { return s }})
		}
		if offer.Lookup("tools").Len() > 0 {
			return assert.Verdict{Problem: "it differs"}
		}
		return assert.Verdict{}
	}
	return tr.Evaluate(t.Context(), &target.Observation{Result: jsonv.Object(members...)}, env).Items[0]
}

func TestTableIsSortedAndComplete(t *testing.T) {
	rows := match.Matchers()
	for i, row := range rows {
		if i > 0 && rows[i-1].Name >= row.Name {
			t.Errorf("%s is behind %s", row.Name, rows[i-1].Name)
		}
		if row.Doc == "" || strings.Contains(row.Doc, "\n") || row.Example == "" {
			t.Errorf("%s has no doc line or no example", row.Name)
		}
		if row.ArgSchema.IsAbsent() {
			t.Errorf("%s: the argument's schema is not JSON", row.Name)
		}
		if snake := strings.ReplaceAll(row.Name, "-", "_"); snake != row.Name && !slices.Equal(row.Aliases, []string{snake}) {
			t.Errorf("%s has the aliases %v", row.Name, row.Aliases)
		}
	}
	for _, name := range strings.Fields(`exact contains icontains contains-all contains-any icontains-all starts-with ends-with
		regex schema type length gt gte lt lte between approx one-of exists absent empty subset unordered each any is-json
		format levenshtein exec snapshot not all-of any-of none-of`) {
		if !slices.ContainsFunc(rows, func(r match.Row) bool { return r.Name == name }) {
			t.Errorf("no matcher %s", name)
		}
	}
}

func TestEveryExample(t *testing.T) {
	for _, row := range match.Matchers() {
		t.Run(row.Name, func(t *testing.T) {
			if got := judge(t, row.Example, row.Passes); !got.Pass {
				t.Errorf("%s fails on %s: %s", row.Example, row.Passes, got.Message)
			}
			got := judge(t, row.Example, row.Fails)
			if got.Pass {
				t.Errorf("%s passes on %s", row.Example, row.Fails)
			}
			if got.Message == "" || got.Expected == "" || got.Actual == "" {
				t.Errorf("%s says too little: %+v", row.Example, got)
			}
			for _, alias := range row.Aliases {
				_, arg, _ := strings.Cut(row.Example, ":")
				if got := judge(t, alias+":"+arg, row.Passes); !got.Pass || got.Matcher != row.Name {
					t.Errorf("the alias %s: %+v", alias, got)
				}
			}
		})
	}
}

// TestMissingTarget: only absent passes for a missing value, even inside not.
func TestMissingTarget(t *testing.T) {
	for _, row := range match.Matchers() {
		if row.Name == "absent" {
			continue
		}
		for _, matcher := range []string{row.Example, "not: {" + row.Example + "}", "none-of: [{" + row.Example + "}]"} {
			if (row.Name == "exists" || row.Name == "snapshot") && matcher != row.Example {
				continue
			}
			if got := judge(t, matcher, ""); got.Pass {
				t.Errorf("%s passes on a missing target", matcher)
			}
		}
	}
}

func TestArgSchemas(t *testing.T) {
	defs := expect.SchemaDefs()
	schema, err := jsonschema.Compile(jsonv.Object(
		jsonv.Member{Key: "$ref", Value: jsonv.String("#/$defs/matcher")},
		jsonv.Member{Key: "$defs", Value: defs},
	), jsonschema.Options{})
	if err != nil {
		t.Fatal(err)
	}
	check := func(text string, want bool) {
		t.Helper()
		violations, err := schema.Validate(t.Context(), node(t, text).JSON())
		if err != nil || (len(violations) == 0) != want {
			t.Errorf("the schema says %v of %s: %v %v", len(violations) == 0, text, violations, err)
		}
	}
	for _, row := range match.Matchers() {
		check("{"+row.Example+"}", true)
		check("{not: {"+row.Example+"}}", true)
	}
	for _, bad := range []string{`{}`, `{nope: 1}`, `{regex: 3}`, `{gt: "3"}`, `{gt: 3, lt: 4}`, `{not: {nope: 1}}`, `{all-of: []}`, `{format: dat}`, `{length: -1}`, `{type: text}`, `{exec: ls}`} {
		check(bad, false)
		var d source.Decoder
		expect.CompileExpect(node(t, "- {target: result, matcher: "+bad+"}"), "", &d)
		if !d.Diagnostics().HasErrors() {
			t.Errorf("the compiler accepts %s", bad)
		}
	}
}
