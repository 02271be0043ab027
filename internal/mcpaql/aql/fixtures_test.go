package aql_test

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"mcptest/internal/base/source"
	"mcptest/internal/mcpaql/aql"
	"mcptest/internal/mcpaql/evidence"
	"mcptest/internal/mcpaql/fixtures"
	"mcptest/internal/mcpaql/rule"
	"mcptest/internal/mcpaql/verdict"
)

var fixturesOnce = sync.OnceValue(fixtures.LoadAll)

func allFixtures(t testing.TB) []fixtures.Fixture {
	t.Helper()
	return fixturesOnce()
}

func readBundle(t testing.TB, name string, data []byte) *evidence.Evidence {
	t.Helper()
	e, ds := evidence.Read(&source.File{Name: name, Data: data})
	if len(ds) > 0 {
		t.Fatalf("%s: %s", name, ds.Error())
	}
	return e
}

func base(t testing.TB, level int) []byte {
	t.Helper()
	return allFixtures(t)[level-1].Data
}

// rows flattens a report to "category / test" -> result.
func rows(r *verdict.Report) map[string]verdict.Result {
	out := map[string]verdict.Result{}
	for _, c := range r.Categories {
		for _, t := range c.Tests {
			out[c.Name+" / "+t.Name] = t.Result
		}
	}
	return out
}

func TestPassingFixturesPassBothRuleSets(t *testing.T) {
	t.Parallel()
	for i, f := range allFixtures(t)[:2] {
		for _, set := range []rule.Set{rule.Reference, rule.Strict} {
			r := aql.Evaluate(readBundle(t, f.Name, f.Data), aql.Options{Level: i + 1, Rules: set})
			if r.ExitCode != 0 || r.Summary.Passed != r.Summary.Total || r.AchievedLevel != i+1 || !r.Complete || r.ConformanceLevel != i+1 {
				t.Errorf("%s under %s:\n%s", f.Name, set, r.FormatText())
			}
		}
	}
}

func TestEveryRuleHasAFixture(t *testing.T) {
	t.Parallel()
	have := map[string]bool{}
	for _, f := range allFixtures(t) {
		if have[f.Name] {
			t.Errorf("two fixtures are called %s", f.Name)
		}
		have[f.Name], have[f.Rule] = true, true
	}
	live := map[string]bool{} // proved by the defects of the demo adapter
	for _, t := range rule.Tests() {
		live[t.ID] = t.Live
	}
	for _, r := range rule.All() {
		if !have[r.ID] && !live[r.Test] {
			t.Errorf("rule %s has no fixture", r.ID)
		}
	}
}

// Each fixture breaks its rule and no other, and only the row of that rule
// differs from the bundle it was made from.
func TestFixtureFlipsExactlyItsRow(t *testing.T) {
	t.Parallel()
	rules := map[string]rule.Rule{}
	for _, r := range rule.All() {
		rules[r.ID] = r
	}
	for _, f := range allFixtures(t)[2:] {
		t.Run(f.Name, func(t *testing.T) {
			broken, known := rules[f.Rule]
			if !known {
				t.Fatalf("no rule is called %s", f.Rule)
			}
			e := readBundle(t, f.Name, f.Data)
			o := aql.Options{Level: e.ExpectedLevel, Rules: f.Rules}
			before := aql.Evaluate(readBundle(t, "base", base(t, e.ExpectedLevel)), o)
			after := aql.Evaluate(e, o)
			want := verdict.Failed
			if broken.FindWeight(f.Rules) == rule.Warn {
				want = verdict.Warned
			}
			changed := 0
			for _, c := range verdict.Compare(before, after).Rows {
				if c.Change == verdict.Same {
					continue
				}
				// A rule about invalid details cannot be broken without one.
				if c.Test == "Operation detail payloads validate" && strings.HasSuffix(f.Rule, "-invalid") {
					continue
				}
				changed++
				if c.After != want {
					t.Errorf("%s / %s is %s, want %s", c.Category, c.Test, c.After, want)
				}
			}
			if changed != 1 {
				t.Errorf("%d rows changed:\n%s", changed, after.FormatText())
			}
			for _, c := range after.Categories {
				for _, row := range c.Tests {
					for _, found := range row.Findings {
						if found.Rule != f.Rule && !strings.HasSuffix(f.Rule, "-invalid") {
							t.Errorf("breaks %s too: %s: %s", found.Rule, found.At, found.Says)
						}
						if found.Line == 0 && found.Rule == f.Rule && !strings.HasPrefix(found.At, "/capabilities") &&
							!slices.Contains([]string{"modes.both", "completeness.no-detail", "batch.example", "semantic.judge", "semantic.judge-unsure"}, found.Rule) {
							t.Errorf("%s has no line", found.Rule)
						}
					}
				}
			}
			if after.ExitCode != e.ExpectedExitCode {
				t.Errorf("exit code %d, want %d", after.ExitCode, e.ExpectedExitCode)
			}
		})
	}
}

func TestVerifyComparesExitCodes(t *testing.T) {
	t.Parallel()
	for _, f := range allFixtures(t) {
		if v := fixtures.Verify(&source.File{Name: f.Name, Data: f.Data}, f.Rules); !v.OK() {
			t.Errorf("%s: expected %d, got %d (%s)", v.Name, v.Expected, v.Got, v.Problems.Error())
		}
	}
	for bundle, want := range map[string]fixtures.Verified{
		`{"expected_exit_code": 1}`: {Expected: 1, Got: 1},
		`{}`:                        {Expected: 0, Got: 1},
		`{"expected_exit_code": 3, "error_tests": 1}`:    {Expected: 3, Got: 3},
		`{"expected_level": 4, "expected_exit_code": 1}`: {Expected: 1, Got: 3},
		`not json`: {Expected: 0, Got: 3},
		`{"expected_level": 2, "expected_exit_code": 1, "x": null}`: {Expected: 1, Got: 1},
	} {
		v := fixtures.Verify(&source.File{Name: "b.json", Data: []byte(bundle)}, rule.Reference)
		if v.Expected != want.Expected || v.Got != want.Got {
			t.Errorf("%s: expected %d, got %d; want %d, %d", bundle, v.Expected, v.Got, want.Expected, want.Got)
		}
	}
}
