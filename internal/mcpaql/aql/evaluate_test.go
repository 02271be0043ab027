package aql_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/aql"
	"mcptest/internal/mcpaql/evidence"
	"mcptest/internal/mcpaql/rule"
	"mcptest/internal/mcpaql/verdict"
)

// level2 is the passing evidence of level 2, to be changed in code.
func level2(t testing.TB) *evidence.Evidence { return readBundle(t, "level2.json", base(t, 2)) }

func rowResult(r *verdict.Report, test string) verdict.Result {
	for _, c := range r.Categories {
		for _, t := range c.Tests {
			if t.Name == test {
				return t.Result
			}
		}
	}
	return ""
}

func categories(r *verdict.Report) map[string]verdict.Result {
	out := map[string]verdict.Result{}
	for _, c := range r.Categories {
		out[c.Name] = c.Result
	}
	return out
}

func TestLevelsAndTiersChooseRows(t *testing.T) {
	t.Parallel()
	e := level2(t)
	for _, c := range []struct {
		o    aql.Options
		rows int
	}{
		{aql.Options{}, 13},
		{aql.Options{Level: 2}, 19},
		{aql.Options{Level: 2, Tier: aql.Tier1}, 19},
		{aql.Options{Level: 2, Tier: aql.Tier2}, 19},
		{aql.Options{Level: 2, Rules: rule.Strict}, 20},
	} {
		if r := aql.Evaluate(e, c.o); r.Summary.Total != c.rows {
			t.Errorf("%+v: %d rows, want %d", c.o, r.Summary.Total, c.rows)
		}
	}
	r := aql.Evaluate(e, aql.Options{Level: 2, Tier: aql.Tier1})
	if rowResult(r, rule.SkippedSemantics) != verdict.Skipped || categories(r)[rule.Semantic] != verdict.Skipped {
		t.Errorf("tier 1: %v", categories(r))
	}
}

// A category filter leaves level and summary alone, and takes the exit code
// from what it shows.
func TestCategoryFilter(t *testing.T) {
	t.Parallel()
	e := level2(t)
	e.RoundTrips[0].Fields[0].Value = jsonv.Int(1)
	e.EndpointModes = nil
	for category, want := range map[string]int{rule.RoundTrip: 1, rule.ErrorQuality: 0, rule.Level2: 2, "": 1} {
		r := aql.Evaluate(e, aql.Options{Level: 2, Category: category})
		if r.ExitCode != want || r.ConformanceLevel != 0 || r.Summary.Total != 19 {
			t.Errorf("%q: exit %d, level %d, %d rows", category, r.ExitCode, r.ConformanceLevel, r.Summary.Total)
		}
		if category != "" && len(r.Categories) != 1 {
			t.Errorf("%q: %d categories", category, len(r.Categories))
		}
	}
	if r := aql.Evaluate(e, aql.Options{Category: rule.Semantic}); len(r.Categories) != 0 || r.ExitCode != 0 {
		t.Error("a category that the level does not have is shown")
	}
}

func TestRollUp(t *testing.T) {
	t.Parallel()
	e := level2(t)
	e.Accepted = nil // a WARN in a MUST category
	r := aql.Evaluate(e, aql.Options{Level: 2})
	if categories(r)[rule.Introspection] != verdict.Warned || r.ExitCode != 0 || r.ConformanceLevel != 2 {
		t.Errorf("%v, exit %d", categories(r), r.ExitCode)
	}
	e = level2(t)
	e.FieldSelection = false // a FAIL in a SHOULD category
	r = aql.Evaluate(e, aql.Options{Level: 2})
	if categories(r)[rule.Level2] != verdict.Warned || r.ExitCode != 2 || r.ConformanceLevel != 2 || r.AchievedLevel != 1 {
		t.Errorf("%v, exit %d, achieved %d", categories(r), r.ExitCode, r.AchievedLevel)
	}
	e = level2(t)
	e.Semantics = nil
	if r = aql.Evaluate(e, aql.Options{Level: 2}); categories(r)[rule.Semantic] != verdict.Skipped || r.ExitCode != 0 {
		t.Errorf("%v, exit %d", categories(r), r.ExitCode)
	}
}

// What the prototype passes on absence is not demonstrated under strict.
func TestNothingProvesNothing(t *testing.T) {
	t.Parallel()
	empty := &evidence.Evidence{}
	r := aql.Evaluate(empty, aql.Options{})
	want := map[string]verdict.Result{rule.Introspection: verdict.Failed, rule.Parameters: verdict.Pass, rule.ErrorQuality: verdict.Pass, rule.RoundTrip: verdict.Pass}
	if got := categories(r); !cmp.Equal(got, want) {
		t.Error(cmp.Diff(want, got))
	}
	if r.Complete || r.AchievedLevel != 0 {
		t.Errorf("complete %v, achieved %d", r.Complete, r.AchievedLevel)
	}
	r = aql.Evaluate(empty, aql.Options{Rules: rule.Strict})
	// The report of the introspection lacks its answers, which is a failure.
	want = map[string]verdict.Result{rule.Introspection: verdict.Failed, rule.Parameters: verdict.Skipped, rule.ErrorQuality: verdict.Skipped, rule.RoundTrip: verdict.Skipped}
	if got := categories(r); !cmp.Equal(got, want) {
		t.Error(cmp.Diff(want, got))
	}
	live := &evidence.Evidence{Live: jsonv.ObjectOf("policy", jsonv.String("safe"))}
	if got := categories(aql.Evaluate(live, aql.Options{Rules: rule.Strict}))[rule.RoundTrip]; got != verdict.Skipped {
		t.Errorf("strict, x_live of a safe run: round trips are %s", got)
	}
}

func TestNotApplicableIsNotWithoutEvidence(t *testing.T) {
	t.Parallel()
	e := level2(t)
	e.OperationDetails = e.OperationDetails[1:2] // no required parameter
	e.OperationDetails[0] = e.OperationDetails[0].With("parameters", jsonv.Array())
	e.OptionalDefaults, e.UnknownParameter = nil, e.UnknownParameter[:1] // of the same operation
	var listed []jsonv.Value
	for _, op := range e.OperationsList.Lookup("data", "operations").Elems() {
		if jsonv.Equal(op.Lookup("name"), e.OperationDetails[0].Lookup("name")) {
			listed = append(listed, op)
		}
	}
	data := e.OperationsList.Lookup("data").With("operations", jsonv.Array(listed...))
	e.OperationsList = e.OperationsList.With("data", data)
	r := aql.Evaluate(e, aql.Options{Rules: rule.Strict})
	for _, c := range r.Categories {
		for _, row := range c.Tests {
			switch row.Name {
			case "Required parameters are enforced", "Documented defaults are observable", "Canonical parameter names use snake_case":
				if row.Result != verdict.Skipped || !strings.HasPrefix(row.Detail, "Not applicable") {
					t.Errorf("%s: %s %s", row.Name, row.Result, row.Detail)
				}
			}
		}
	}
	if got := categories(r)[rule.Parameters]; got != verdict.Pass {
		t.Errorf("Parameter Handling is %s", got)
	}
}

func TestIdenticalFindingsAreReportedOnce(t *testing.T) {
	t.Parallel()
	e := level2(t)
	for range 300 {
		e.OperationDetails = append(e.OperationDetails, jsonv.Int(7))
	}
	r := aql.Evaluate(e, aql.Options{})
	row := r.Categories[0].Tests[2]
	if len(row.Findings) != 300 || len(row.Detail) > 200 || !strings.Contains(row.Detail, "and 299 alike") {
		t.Errorf("%d findings, detail %q", len(row.Findings), row.Detail)
	}
}

func TestTierResults(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]verdict.TierResults{
		"level2.json":                {Structural: verdict.Pass, Semantic: verdict.Pass},
		"semantic-warn.json":         {Structural: verdict.Failed, Semantic: verdict.Pass},
		"semantic-phrase.json":       {Structural: verdict.Pass, Semantic: verdict.Failed},
		"semantic-judge-unsure.json": {Structural: verdict.Pass, Semantic: verdict.Warned},
	} {
		for _, f := range allFixtures(t) {
			if f.Name == name {
				r := aql.Evaluate(readBundle(t, name, f.Data), aql.Options{Level: 2, Rules: f.Rules})
				last := r.Categories[len(r.Categories)-1].Tests[0]
				if *last.Tiers != want {
					t.Errorf("%s: %+v, want %+v", name, *last.Tiers, want)
				}
			}
		}
	}
}

// The judge replaces the phrases under strict only, and never the calls.
func TestJudgeOverrulesPhrases(t *testing.T) {
	t.Parallel()
	e := level2(t)
	s := &e.Semantics[0]
	s.PhraseGroups = [][]string{{"not in the answer"}}
	s.Judge = &evidence.Judge{Verdict: "understood"}
	if got := rowResult(aql.Evaluate(e, aql.Options{Level: 2, Rules: rule.Strict}), s.Name); got != verdict.Pass {
		t.Errorf("strict: %s", got)
	}
	if got := rowResult(aql.Evaluate(e, aql.Options{Level: 2}), s.Name); got != verdict.Failed {
		t.Errorf("reference: %s", got)
	}
	s.ExpectedOperations = []string{"burn_shed"}
	if got := rowResult(aql.Evaluate(e, aql.Options{Level: 2, Rules: rule.Strict}), s.Name); got != verdict.Failed {
		t.Errorf("strict, with a call missing: %s", got)
	}
}

func TestEchoIsNotALeak(t *testing.T) {
	t.Parallel()
	e := level2(t)
	c := &e.ErrorTests[0]
	c.MustMention = nil
	c.Response, _ = jsonv.Parse([]byte(`{"success":false,"error":{"code":"NOT_FOUND_RESOURCE","message":"no bed_id '/home/kim/bed'"}}`))
	leaks := "Error messages do not leak implementation internals"
	if got := rowResult(aql.Evaluate(e, aql.Options{Rules: rule.Strict}), leaks); got != verdict.Failed {
		t.Errorf("a path of the server: %s", got)
	}
	c.Request, _ = jsonv.Parse([]byte(`{"operation":"show_bed","params":{"bed_id":"see '/home/kim/bed'"}}`))
	if got := rowResult(aql.Evaluate(e, aql.Options{Rules: rule.Strict}), leaks); got != verdict.Pass {
		t.Errorf("a path of the request: %s", got)
	}
}
