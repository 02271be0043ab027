package aql_test

import (
	"bytes"
	"strings"
	"testing"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/aql"
	"mcptest/internal/mcpaql/rule"
	"mcptest/internal/mcpaql/verdict"
	"mcptest/internal/report/result"
)

// A report is a record of a run, row by row: the sums agree, and no row
// that failed has a green sign.
func TestReportAsRun(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]*verdict.Report{
		"odd":    aql.Evaluate(odd(t), aql.Options{Level: 2}),
		"strict": aql.Evaluate(odd(t), aql.Options{Level: 2, Rules: rule.Strict}),
		"pass":   aql.Evaluate(level2(t), aql.Options{Level: 2}),
	} {
		run := r.ConvertToRun(result.Tool{Name: "mcpaql-conformance", Version: "dev"})
		if run.Summary.Failed != r.Summary.Failed || run.Summary.Passed != r.Summary.Passed+r.Summary.Warned {
			t.Errorf("%s counts %+v, the record %+v", name, r.Summary, run.Summary)
		}
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
			case row.Result == verdict.Failed:
				want = result.Fail
			case row.Result == verdict.Skipped:
				want = result.Skip
			}
			if c.Index != i || c.Name != row.Name || c.Status != want {
				t.Errorf("%s: case %d is %s %s, want %s %s", name, i, c.Status, c.Name, want, row.Name)
			}
			if warned := row.Result == verdict.Warned; warned != (len(c.Warnings) > 0) {
				t.Errorf("%s: %s: %s has the warnings %q", name, row.Name, row.Result, c.Warnings)
			}
			if soft := row.Result == verdict.Failed && !must[i]; soft != strings.HasPrefix(c.Message, "SHOULD") {
				t.Errorf("%s: %s says %q", name, row.Name, c.Message)
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
		if err := result.WriteJSON(&b, run); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), `"name": "Operations query is implemented"`) {
			t.Errorf("%s", b.String()[:200])
		}
	}
}

// The number of operations agrees with the rows, also if the list has another form, and
// no row advises the mode that the run was in.
func TestReportAgreesWithItself(t *testing.T) {
	t.Parallel()
	e := level2(t)
	want := aql.Evaluate(e, aql.Options{Rules: rule.Strict}).Coverage
	e.OperationsList, _ = jsonv.Parse([]byte(`{"success":true,"data":"create_note, get_note"}`))
	if got := aql.Evaluate(e, aql.Options{Rules: rule.Strict}).Coverage; got.OperationsTotal != want.OperationsTotal || got.Probed != want.Probed {
		t.Errorf("coverage is %+v, want %+v", got, want)
	}
	for mode, advised := range map[string]bool{"safe": true, "write": false, "full": false} {
		e := level2(t)
		e.OptionalDefaults = nil
		e.Live, _ = jsonv.Parse([]byte(`{"tests":[],"policy":{"mode":"` + mode + `"},"started":"2026-11-23T18:00:00Z","finished":"2026-11-23T18:00:05Z"}`))
		r := aql.Evaluate(e, aql.Options{Rules: rule.Strict})
		detail := rowsByID(r)["defaults"].Detail
		if !strings.Contains(detail, "the run found none") || strings.Contains(detail, "--mode write") != advised {
			t.Errorf("mode %s: %s", mode, detail)
		}
		if r.DurationMS != 5000 {
			t.Errorf("mode %s took %d ms", mode, r.DurationMS)
		}
	}
}
