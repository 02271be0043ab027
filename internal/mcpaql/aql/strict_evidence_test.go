package aql_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
	"mcptest/internal/mcpaql/aql"
	"mcptest/internal/mcpaql/evidence"
	"mcptest/internal/mcpaql/rule"
	"mcptest/internal/mcpaql/verdict"
)

// What a bundle contains besides its subject is no evidence, and a leak is one
// in every position.
func TestStrictLooksAtWhatCounts(t *testing.T) {
	t.Parallel()
	leak := func(code, message string) jsonv.Value {
		return jsonv.From(map[string]any{"success": false, "error": map[string]any{"code": code, "message": message}})
	}
	for name, c := range map[string]struct {
		edit func(e *evidence.Evidence)
		row  string
		want verdict.Result
	}{
		"leak in a parameter test": {func(e *evidence.Evidence) {
			m := &e.MissingRequired[0]
			m.Response = leak("VALIDATION_MISSING_PARAM", "'"+m.Parameter+"' TypeError: x (/app/src/x.js:12:3)")
		}, "leaks", verdict.Failed},
		"leak in a constraint test": {func(e *evidence.Evidence) {
			e.Constraints[0].Response = leak("PERMISSION_DENIED", "panic: goroutine 1 [running]")
		}, "leaks", verdict.Failed},
		"form of a parameter test": {func(e *evidence.Evidence) {
			m := &e.MissingRequired[0]
			m.Response = leak("VALIDATION_MISSING_PARAM", m.Parameter).With("extra", jsonv.Int(1))
		}, "error-form", verdict.Failed},
		"form of a read": {func(e *evidence.Evidence) {
			e.RoundTrips[0].ReadResponse = e.RoundTrips[0].ReadResponse.With("extra", jsonv.Int(1))
		}, "error-form", verdict.Failed},
		"form of an answer without a default": {func(e *evidence.Evidence) {
			d := &e.OptionalDefaults[0]
			d.Response = d.Response.With("warnings", jsonv.String("none"))
		}, "error-form", verdict.Failed},
		"form of an introspection answer": {func(e *evidence.Evidence) {
			e.TypesList = e.TypesList.With("count", jsonv.Int(2))
		}, "error-form", verdict.Failed},
		"another default than documented": {func(e *evidence.Evidence) {
			d := &e.OptionalDefaults[0]
			d.Expected, d.Path = jsonv.Int(77), "data.x"
			d.Response = jsonv.From(map[string]any{"success": true, "data": map[string]any{"x": 77}})
		}, "defaults", verdict.Failed},
		"a default of nothing": {func(e *evidence.Evidence) {
			for i := range e.OptionalDefaults {
				e.OptionalDefaults[i].Operation = "zz"
			}
		}, "defaults", verdict.Skipped},
		"a default in a failure": {func(e *evidence.Evidence) {
			for i := range e.OptionalDefaults {
				e.OptionalDefaults[i].Response = e.OptionalDefaults[i].Response.With("success", jsonv.Bool(false))
			}
		}, "defaults", verdict.Skipped},
		"an unknown parameter of nothing": {func(e *evidence.Evidence) {
			for i := range e.UnknownParameter {
				e.UnknownParameter[i].Operation = "zz"
			}
		}, "unknown", verdict.Skipped},
		"an unknown parameter that is known": {func(e *evidence.Evidence) {
			for i := range e.UnknownParameter {
				e.UnknownParameter[i].Operation, e.UnknownParameter[i].Parameter = e.MissingRequired[0].Operation, e.MissingRequired[0].Parameter
			}
		}, "unknown", verdict.Skipped},
		"an empty batch": {func(e *evidence.Evidence) {
			e.BatchExample = jsonv.From(map[string]any{"success": true, "data": nil, "results": []any{}, "summary": map[string]any{"total": 0, "succeeded": 0, "failed": 0}})
		}, "batch", verdict.Failed},
		"modes by their other name":      {func(e *evidence.Evidence) { e.EndpointModes = []string{"semantic", "single"} }, "modes", verdict.Pass},
		"no required parameter left out": {func(e *evidence.Evidence) { e.MissingRequired = nil }, "required", verdict.Failed},
		"nothing to mention": {func(e *evidence.Evidence) {
			for i := range e.ErrorTests {
				e.ErrorTests[i].MustMention = []string{""}
			}
		}, "actionable", verdict.Skipped},
		"nothing compared": {func(e *evidence.Evidence) {
			for i := range e.RoundTrips {
				e.RoundTrips[i].Fields = []evidence.Field{{Path: "success", Value: jsonv.Bool(true)}}
			}
		}, "create-read", verdict.Skipped},
	} {
		t.Run(name, func(t *testing.T) {
			e := level2(t)
			c.edit(e)
			r := aql.Evaluate(e, aql.Options{Level: 2, Rules: rule.Strict})
			row := rowsByID(r)[c.row]
			if row.Result != c.want {
				t.Errorf("%s is %s: %s", c.row, row.Result, row.Detail)
			}
			if missing := c.want == verdict.Skipped || c.row == "required"; r.Complete == missing {
				t.Errorf("complete is %v", r.Complete)
			}
		})
	}
	for _, s := range []string{
		"sqlite3.OperationalError: no such table", "KeyError: 'x'", "<class 'ValueError'>",
		"System.NullReferenceException: Object reference not set", "undefined method `x' for nil:NilClass",
	} {
		e := level2(t)
		e.ErrorTests[0].Response = leak("VALIDATION_FAILED", s)
		if got := rowsByID(aql.Evaluate(e, aql.Options{Rules: rule.Strict}))["leaks"].Result; got != verdict.Failed {
			t.Errorf("%s: %s", s, got)
		}
	}
}

// One case does not speak for every operation: what has none is named, and
// the evidence is not complete. The reference rules count cases alone.
func TestEveryOperationNeedsItsCase(t *testing.T) {
	t.Parallel()
	e := level2(t)
	e.UnknownParameter = e.UnknownParameter[:1] // of list_beds
	r := aql.Evaluate(e, aql.Options{Level: 2, Rules: rule.Strict})
	row := rowsByID(r)["unknown"]
	if want := []string{"show_bed", "sow_seed"}; row.Result != verdict.Pass || !slices.Equal(row.Missing, want) {
		t.Errorf("%s, missing %q", row.Result, row.Missing)
	}
	if want := "1 case, of 1 of 3 operations. No case: show_bed, sow_seed."; row.Detail != want {
		t.Errorf("%s", row.Detail)
	}
	if r.Complete || r.AchievedLevel != 0 || r.ExitCode != 2 || categories(r)[rule.Parameters] != verdict.Warned {
		t.Errorf("complete %v, achieved %d, exit %d, %s", r.Complete, r.AchievedLevel, r.ExitCode, categories(r)[rule.Parameters])
	}
	again, ds := verdict.ReadReport(&source.File{Name: "r.json", Data: r.FormatJSON()})
	if len(ds) > 0 || !slices.Equal(rowsByID(again)["unknown"].Missing, row.Missing) {
		t.Errorf("read back: %v %q", ds, rowsByID(again)["unknown"].Missing)
	}
	reference := aql.Evaluate(e, aql.Options{Level: 2})
	if got := rowsByID(reference)["unknown"]; got.Result != verdict.Pass || len(got.Missing) > 0 || reference.ConformanceLevel != 2 {
		t.Errorf("reference: %s %q", got.Result, got.Missing)
	}
	if len(level2(t).UnknownParameter) != 3 || !aql.Evaluate(level2(t), aql.Options{Level: 2, Rules: rule.Strict}).Complete {
		t.Error("the whole evidence is not complete")
	}
}

// A live run names what it could have called and has no case of; what the
// policy forbade is reported, and is no gap.
func TestLiveGaps(t *testing.T) {
	t.Parallel()
	gap := func(policy string) *verdict.Report {
		e := level2(t)
		last := e.MissingRequired[len(e.MissingRequired)-1]
		e.MissingRequired = slices.DeleteFunc(e.MissingRequired, func(c evidence.ParameterCase) bool {
			return c.Operation == last.Operation && c.Parameter == last.Parameter
		})
		live := fmt.Sprintf(`{"tests":[],"policy":{"mode":"write"},"untested":[{"test":"required","operation":%q,"parameter":%q,"reason":"so"%s}]}`, last.Operation, last.Parameter, policy)
		e.Live, _ = jsonv.Parse([]byte(live))
		return aql.Evaluate(e, aql.Options{Level: 1, Rules: rule.Strict})
	}
	row := rowsByID(gap(""))["required"]
	if row.Result != verdict.Pass || len(row.Missing) != 1 || gap("").Complete {
		t.Errorf("%s, missing %q, complete %v", row.Result, row.Missing, gap("").Complete)
	}
	row = rowsByID(gap(`,"policy":true`))["required"]
	if len(row.Missing) != 0 || !strings.Contains(row.Detail, "Left out because of the mode, a missing value, or the risk to data that the run did not create: ") {
		t.Errorf("missing %q: %s", row.Missing, row.Detail)
	}
}

// One cause in many answers of one operation is one finding.
func TestFormsAreGrouped(t *testing.T) {
	t.Parallel()
	e := level2(t)
	var calls []string
	for i := range 50 {
		calls = append(calls, fmt.Sprintf(`{"tool":"mcp_aql_read","arguments":{"operation":"%s"},"answer":{"success":true,"data":null,"page":%d}}`, []string{"list_beds", "show_bed"}[i%2], i))
	}
	e.Live, _ = jsonv.Parse([]byte(`{"tests":[],"transcript":[` + strings.Join(calls, ",") + `,{"answer":{"no_answer":"gone"}},{"answer":{"jsonrpc_error":{"code":-32603,"message":"x"}}},{"answer":"…","bytes":99999}]}`))
	row := rowsByID(aql.Evaluate(e, aql.Options{Level: 1, Rules: rule.Strict}))["error-form"]
	if len(row.Findings) != 2 || row.Result != verdict.Failed {
		t.Fatalf("%s, %d findings: %s", row.Result, len(row.Findings), row.Detail)
	}
	if f := row.Findings[0]; f.Says != "the response of list_beds: an undefined member, in 25 responses" || f.At != "/x_live/transcript/0/answer/page" || f.Exchange == nil {
		t.Errorf("%+v", f)
	}
}
