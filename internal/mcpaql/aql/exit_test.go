package aql_test

import (
	"slices"
	"strings"
	"testing"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/aql"
	"mcptest/internal/mcpaql/demo"
	"mcptest/internal/mcpaql/live/guard"
	"mcptest/internal/mcpaql/rule"
	"mcptest/internal/mcpaql/verdict"
)

// Exit code 0 and a level above 0 are for what was proved.
func TestNothingPassesWithoutEvidence(t *testing.T) {
	t.Parallel()
	noDetails := shelf()
	noDetails.detail = func(string, string) string { return "null" }
	oneDetail := shelf()
	oneDetail.detail = func(op, standard string) string {
		if op == "get_book" {
			return "null"
		}
		return standard
	}
	empty := shelf()
	empty.list = func(string) string { return "[]" }
	fails := func(answer string) small {
		s := shelf()
		s.answer = func(op string, args jsonv.Value, usual func() string) string {
			if a := usual(); op == "introspect" || op == "" || strings.Contains(a, `"success":false`) {
				return a
			}
			return answer
		}
		return s
	}
	for name, c := range map[string]struct {
		s    small
		exit int
	}{
		"no operation has details":      {noDetails, 1},
		"one operation has no details":  {oneDetail, 1},
		"an empty operation list":       {empty, 2},
		"data holds an error":           {fails(`{"success":true,"data":{"error":"The database is not there.","code":"E17"}}`), 1},
		"data holds an error object":    {fails(`{"success":true,"data":{"error":{"code":"E17","message":"The database is not there."}}}`), 1},
		"data says isError":             {fails(`{"success":true,"data":{"isError":true,"content":[{"type":"text","text":"No."}]}}`), 1},
		"data says success: false":      {fails(`{"success":true,"data":{"success":false,"message":"No."}}`), 1},
		"a text begins with a failure":  {fails(`{"success":true,"data":"Error: the database is not there"}`), 1},
		"a block begins with a failure": {fails(`{"success":true,"data":{"content":[{"type":"text","text":"❌ Failed to open the database"}]}}`), 1},
	} {
		t.Run(name, func(t *testing.T) {
			r := c.s.look(t, guard.Options{})
			if r.ExitCode != c.exit || r.ConformanceLevel != 0 || r.AchievedLevel != 0 {
				t.Errorf("exit %d, level %d, achieved %d\n%s", r.ExitCode, r.ConformanceLevel, r.AchievedLevel, r.FormatText())
			}
		})
	}
}

// The mode that only reads cannot show what a MUST category asks for.
func TestSafeModeProvesNoRoundTrip(t *testing.T) {
	t.Parallel()
	e := collect(t, guard.Options{Dial: library(t, demo.Options{})})
	for failOn, want := range map[verdict.FailOn]int{"": 2, verdict.FailOnIncomplete: 2, verdict.FailOnWarn: 0, verdict.FailOnFail: 0} {
		r := aql.Evaluate(e, aql.Options{Rules: rule.Strict, FailOn: failOn})
		if r.ExitCode != want || r.ConformanceLevel != 0 {
			t.Errorf("--fail-on %q: exit %d, level %d", failOn, r.ExitCode, r.ConformanceLevel)
		}
		says := func(n verdict.Inapplicable) bool {
			return n.Category == rule.RoundTrip && n.Test != "" && n.Reason != ""
		}
		if !slices.ContainsFunc(r.NotProved, says) || !strings.Contains(string(r.FormatText()), "Not proved: ") {
			t.Errorf("not proved: %v\n%s", r.NotProved, r.FormatText())
		}
	}
	if r := aql.Evaluate(e, aql.Options{Rules: rule.Reference}); len(r.NotProved) > 0 || r.ExitCode == 2 {
		t.Errorf("the reference rules: exit %d, not proved: %v", r.ExitCode, r.NotProved)
	}
	r := aql.Evaluate(collect(t, guard.Options{Dial: library(t, demo.Options{Defects: []string{"unknown-warned"}}), Mode: guard.ModeWrite}), aql.Options{Rules: rule.Strict})
	if r.ExitCode != 0 || r.ConformanceLevel != 1 {
		t.Errorf("a warning: exit %d, level %d\n%s", r.ExitCode, r.ConformanceLevel, r.FormatText())
	}
}
