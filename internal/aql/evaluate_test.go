package aql_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mcptest/internal/aql"
	"mcptest/internal/jsonv"
)

// evidence is the passing evidence of level 2, to be changed in code.
func evidence(t testing.TB) *aql.Evidence { return readBundle(t, "level2.json", base(t, 2)) }

func rowResult(r *aql.Report, test string) aql.Result {
	for _, c := range r.Categories {
		for _, t := range c.Tests {
			if t.Name == test {
				return t.Result
			}
		}
	}
	return ""
}

func categories(r *aql.Report) map[string]aql.Result {
	out := map[string]aql.Result{}
	for _, c := range r.Categories {
		out[c.Name] = c.Result
	}
	return out
}

func TestLevelsAndTiersChooseRows(t *testing.T) {
	e := evidence(t)
	for _, c := range []struct {
		o    aql.Options
		rows int
	}{
		{aql.Options{}, 13},
		{aql.Options{Level: 2}, 19},
		{aql.Options{Level: 2, Tier: aql.Tier1}, 19},
		{aql.Options{Level: 2, Tier: aql.Tier2}, 19},
		{aql.Options{Level: 2, Rules: aql.Strict}, 20},
	} {
		if r := aql.Evaluate(e, c.o); r.Summary.Total != c.rows {
			t.Errorf("%+v: %d rows, want %d", c.o, r.Summary.Total, c.rows)
		}
	}
	r := aql.Evaluate(e, aql.Options{Level: 2, Tier: aql.Tier1})
	if rowResult(r, aql.SkippedSemantics) != aql.Skipped || categories(r)[aql.Semantic] != aql.Skipped {
		t.Errorf("tier 1: %v", categories(r))
	}
}

// A category filter leaves level and summary alone, and takes the exit code
// from what it shows.
func TestCategoryFilter(t *testing.T) {
	e := evidence(t)
	e.RoundTrips[0].Fields[0].Value = jsonv.Int(1)
	e.EndpointModes = nil
	for category, want := range map[string]int{aql.RoundTrip: 1, aql.ErrorQuality: 0, aql.Level2: 2, "": 1} {
		r := aql.Evaluate(e, aql.Options{Level: 2, Category: category})
		if r.ExitCode != want || r.ConformanceLevel != 0 || r.Summary.Total != 19 {
			t.Errorf("%q: exit %d, level %d, %d rows", category, r.ExitCode, r.ConformanceLevel, r.Summary.Total)
		}
		if category != "" && len(r.Categories) != 1 {
			t.Errorf("%q: %d categories", category, len(r.Categories))
		}
	}
	if r := aql.Evaluate(e, aql.Options{Category: aql.Semantic}); len(r.Categories) != 0 || r.ExitCode != 0 {
		t.Error("a category that the level does not have is shown")
	}
}

func TestRollUp(t *testing.T) {
	e := evidence(t)
	e.Accepted = nil // a WARN in a MUST category
	r := aql.Evaluate(e, aql.Options{Level: 2})
	if categories(r)[aql.Introspection] != aql.Warned || r.ExitCode != 0 || r.ConformanceLevel != 2 {
		t.Errorf("%v, exit %d", categories(r), r.ExitCode)
	}
	e = evidence(t)
	e.FieldSelection = false // a FAIL in a SHOULD category
	r = aql.Evaluate(e, aql.Options{Level: 2})
	if categories(r)[aql.Level2] != aql.Warned || r.ExitCode != 2 || r.ConformanceLevel != 2 || r.AchievedLevel != 1 {
		t.Errorf("%v, exit %d, achieved %d", categories(r), r.ExitCode, r.AchievedLevel)
	}
	e = evidence(t)
	e.Semantics = nil
	if r = aql.Evaluate(e, aql.Options{Level: 2}); categories(r)[aql.Semantic] != aql.Skipped || r.ExitCode != 0 {
		t.Errorf("%v, exit %d", categories(r), r.ExitCode)
	}
}

// What the prototype passes on absence is not demonstrated under strict.
func TestNothingProvesNothing(t *testing.T) {
	empty := &aql.Evidence{}
	r := aql.Evaluate(empty, aql.Options{})
	want := map[string]aql.Result{aql.Introspection: aql.Failed, aql.Parameters: aql.Pass, aql.ErrorQuality: aql.Pass, aql.RoundTrip: aql.Pass}
	if got := categories(r); !cmp.Equal(got, want) {
		t.Error(cmp.Diff(want, got))
	}
	if r.Complete || r.AchievedLevel != 0 {
		t.Errorf("complete %v, achieved %d", r.Complete, r.AchievedLevel)
	}
	r = aql.Evaluate(empty, aql.Options{Rules: aql.Strict})
	for name, got := range categories(r) {
		if got != aql.Failed {
			t.Errorf("strict: %s is %s", name, got)
		}
	}
	r = aql.Evaluate(empty, aql.Options{Rules: aql.Strict, Safe: true})
	if got := categories(r)[aql.RoundTrip]; got != aql.Skipped {
		t.Errorf("strict, collected without writing: round trips are %s", got)
	}
	live := &aql.Evidence{Live: jsonv.Object(jsonv.Member{Key: "policy", Value: jsonv.String("safe")})}
	if got := categories(aql.Evaluate(live, aql.Options{Rules: aql.Strict}))[aql.RoundTrip]; got != aql.Skipped {
		t.Errorf("strict, x_live of a safe run: round trips are %s", got)
	}
}

func TestNotApplicableIsNotWithoutEvidence(t *testing.T) {
	e := evidence(t)
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
	r := aql.Evaluate(e, aql.Options{Rules: aql.Strict})
	for _, c := range r.Categories {
		for _, row := range c.Tests {
			switch row.Name {
			case "Required parameters are enforced", "Documented defaults are observable", "Canonical parameter names use snake_case":
				if row.Result != aql.Skipped || !strings.HasPrefix(row.Detail, "Not applicable") {
					t.Errorf("%s: %s %s", row.Name, row.Result, row.Detail)
				}
			}
		}
	}
	if got := categories(r)[aql.Parameters]; got != aql.Pass {
		t.Errorf("Parameter Handling is %s", got)
	}
}

func TestIdenticalFindingsAreToldOnce(t *testing.T) {
	e := evidence(t)
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
	for name, want := range map[string]aql.TierResults{
		"level2.json":                {Structural: aql.Pass, Semantic: aql.Pass},
		"semantic-warn.json":         {Structural: aql.Failed, Semantic: aql.Pass},
		"semantic-phrase.json":       {Structural: aql.Pass, Semantic: aql.Failed},
		"semantic-judge-unsure.json": {Structural: aql.Pass, Semantic: aql.Warned},
	} {
		for _, f := range fixtures(t) {
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
	e := evidence(t)
	s := &e.Semantics[0]
	s.PhraseGroups = [][]string{{"not in the answer"}}
	s.Judge = &aql.Judge{Verdict: aql.Understood}
	if got := rowResult(aql.Evaluate(e, aql.Options{Level: 2, Rules: aql.Strict}), s.Name); got != aql.Pass {
		t.Errorf("strict: %s", got)
	}
	if got := rowResult(aql.Evaluate(e, aql.Options{Level: 2}), s.Name); got != aql.Failed {
		t.Errorf("reference: %s", got)
	}
	s.ExpectedOperations = []string{"burn_shed"}
	if got := rowResult(aql.Evaluate(e, aql.Options{Level: 2, Rules: aql.Strict}), s.Name); got != aql.Failed {
		t.Errorf("strict, with a call missing: %s", got)
	}
}

func TestEchoIsNoLeak(t *testing.T) {
	e := evidence(t)
	c := &e.ErrorTests[0]
	c.MustMention = nil
	c.Response, _ = jsonv.Parse([]byte(`{"success":false,"error":{"code":"NOT_FOUND_RESOURCE","message":"no bed_id '/home/kim/bed'"}}`))
	leaks := "Error messages do not leak implementation internals"
	if got := rowResult(aql.Evaluate(e, aql.Options{Rules: aql.Strict}), leaks); got != aql.Failed {
		t.Errorf("a path of the server: %s", got)
	}
	c.Request, _ = jsonv.Parse([]byte(`{"operation":"show_bed","params":{"bed_id":"see '/home/kim/bed'"}}`))
	if got := rowResult(aql.Evaluate(e, aql.Options{Rules: aql.Strict}), leaks); got != aql.Pass {
		t.Errorf("a path of the request: %s", got)
	}
}
