package aql_test

import (
	"testing"

	"mcptest/internal/aql"
	"mcptest/internal/jsonv"
)

// What a bundle holds beside the point is no evidence, and a leak is one
// wherever it stands.
func TestStrictLooksAtWhatCounts(t *testing.T) {
	leak := func(code, message string) jsonv.Value {
		return jsonv.From(map[string]any{"success": false, "error": map[string]any{"code": code, "message": message}})
	}
	for name, c := range map[string]struct {
		edit func(e *aql.Evidence)
		row  string
		want aql.Result
	}{
		"leak in a parameter test": {func(e *aql.Evidence) {
			m := &e.MissingRequired[0]
			m.Response = leak("VALIDATION_MISSING_PARAM", "'"+m.Parameter+"' TypeError: x (/app/src/x.js:12:3)")
		}, "leaks", aql.Failed},
		"leak in a constraint test": {func(e *aql.Evidence) {
			e.Constraints[0].Response = leak("PERMISSION_DENIED", "panic: goroutine 1 [running]")
		}, "leaks", aql.Failed},
		"form of a parameter test": {func(e *aql.Evidence) {
			m := &e.MissingRequired[0]
			m.Response = leak("VALIDATION_MISSING_PARAM", m.Parameter).With("extra", jsonv.Int(1))
		}, "error-form", aql.Failed},
		"another default than documented": {func(e *aql.Evidence) {
			d := &e.OptionalDefaults[0]
			d.Expected, d.Path = jsonv.Int(77), "data.x"
			d.Response = jsonv.From(map[string]any{"success": true, "data": map[string]any{"x": 77}})
		}, "defaults", aql.Failed},
		"a default of nothing": {func(e *aql.Evidence) {
			for i := range e.OptionalDefaults {
				e.OptionalDefaults[i].Operation = "zz"
			}
		}, "defaults", aql.Skipped},
		"a default in a failure": {func(e *aql.Evidence) {
			for i := range e.OptionalDefaults {
				e.OptionalDefaults[i].Response = e.OptionalDefaults[i].Response.With("success", jsonv.Bool(false))
			}
		}, "defaults", aql.Skipped},
		"an unknown parameter of nothing": {func(e *aql.Evidence) {
			for i := range e.UnknownParameter {
				e.UnknownParameter[i].Operation = "zz"
			}
		}, "unknown", aql.Skipped},
		"an unknown parameter that is known": {func(e *aql.Evidence) {
			for i := range e.UnknownParameter {
				e.UnknownParameter[i].Operation, e.UnknownParameter[i].Parameter = e.MissingRequired[0].Operation, e.MissingRequired[0].Parameter
			}
		}, "unknown", aql.Skipped},
		"an empty batch": {func(e *aql.Evidence) {
			e.BatchExample = jsonv.From(map[string]any{"success": true, "data": nil, "results": []any{}, "summary": map[string]any{"total": 0, "succeeded": 0, "failed": 0}})
		}, "batch", aql.Failed},
		"modes by their other name":      {func(e *aql.Evidence) { e.EndpointModes = []string{"semantic", "single"} }, "modes", aql.Pass},
		"no required parameter left out": {func(e *aql.Evidence) { e.MissingRequired = nil }, "required", aql.Failed},
		"nothing to mention": {func(e *aql.Evidence) {
			for i := range e.ErrorTests {
				e.ErrorTests[i].MustMention = []string{""}
			}
		}, "actionable", aql.Skipped},
		"nothing compared": {func(e *aql.Evidence) {
			for i := range e.RoundTrips {
				e.RoundTrips[i].Fields = []aql.Field{{Path: "success", Value: jsonv.Bool(true)}}
			}
		}, "create-read", aql.Skipped},
	} {
		t.Run(name, func(t *testing.T) {
			e := evidence(t)
			c.edit(e)
			r := aql.Evaluate(e, aql.Options{Level: 2, Rules: aql.Strict})
			row := rowsByID(r)[c.row]
			if row.Result != c.want {
				t.Errorf("%s is %s: %s", c.row, row.Result, row.Detail)
			}
			if missing := c.want == aql.Skipped || c.row == "required"; r.Complete == missing {
				t.Errorf("complete is %v", r.Complete)
			}
		})
	}
	for _, s := range []string{
		"sqlite3.OperationalError: no such table", "KeyError: 'x'", "<class 'ValueError'>",
		"System.NullReferenceException: Object reference not set", "undefined method `x' for nil:NilClass",
	} {
		e := evidence(t)
		e.ErrorTests[0].Response = leak("VALIDATION_FAILED", s)
		if got := rowsByID(aql.Evaluate(e, aql.Options{Rules: aql.Strict}))["leaks"].Result; got != aql.Failed {
			t.Errorf("%s: %s", s, got)
		}
	}
}
