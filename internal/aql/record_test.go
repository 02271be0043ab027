package aql_test

import (
	"bytes"
	"strings"
	"testing"

	"mcptest/internal/aql"
	"mcptest/internal/aql/rule"
	"mcptest/internal/aql/verdict"
	"mcptest/internal/result"
)

// A report is a record of a run, row by row: the sums agree, and what does
// not block conformance fails no case.
func TestReportAsRun(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]*verdict.Report{
		"odd":    aql.Evaluate(odd(t), aql.Options{Level: 2}),
		"strict": aql.Evaluate(odd(t), aql.Options{Level: 2, Rules: rule.Strict}),
		"pass":   aql.Evaluate(level2(t), aql.Options{Level: 2}),
	} {
		run := r.AsRun(result.Tool{Name: "mcpaql-conformance", Version: "dev"})
		if run.Summary.Total != r.Summary.Total || run.Cases.Len() != r.Summary.Total || run.Summary.Skipped != r.Summary.Skipped || run.ExitCode != r.ExitCode {
			t.Errorf("%s: %+v for %+v", name, run.Summary, r.Summary)
		}
		var rows []verdict.TestResult
		var must []bool
		for _, c := range r.Categories {
			for _, row := range c.Tests {
				rows, must = append(rows, row), append(must, c.Required)
			}
		}
		i := 0
		for c, err := range run.Cases.All() {
			if err != nil {
				t.Fatal(err)
			}
			row := rows[i]
			want := result.Pass
			switch {
			case row.Result == verdict.Failed && must[i]:
				want = result.Fail
			case row.Result == verdict.Skipped:
				want = result.Skip
			}
			if c.Index != i || c.Name != row.Name || c.Status != want {
				t.Errorf("%s: case %d is %s %s, want %s %s", name, i, c.Status, c.Name, want, row.Name)
			}
			if warned := row.Result == verdict.Warned || row.Result == verdict.Failed && !must[i]; warned != (len(c.Warnings) > 0) {
				t.Errorf("%s: %s: %s has the warnings %q", name, row.Name, row.Result, c.Warnings)
			}
			failing := 0
			for _, a := range c.Assertions {
				if !a.Pass {
					failing++
				}
			}
			if (failing > 0) != (want == result.Fail) {
				t.Errorf("%s: %s: %d failing assertions", name, row.Name, failing)
			}
			i++
		}
		var b bytes.Buffer
		if err := result.WriteJSON(&b, run, true); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), `"name": "Operations query is implemented"`) {
			t.Errorf("%s", b.String()[:200])
		}
	}
}
