package aql_test

import (
	"testing"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/aql"
	"mcptest/internal/mcpaql/evidence"
	"mcptest/internal/mcpaql/rule"
	"mcptest/internal/mcpaql/verdict"
)

// An expected parameter is searched for in the parameters of the calls and in
// the answer: anywhere in the normalized JSON by the reference rules, as a
// whole name by the strict ones.
func TestExpectedParameters(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		params, answer, want string
		reference, strict    verdict.Result
	}{
		{`{"limit":5}`, "", "limit", verdict.Pass, verdict.Pass},
		{`{"Status":"open"}`, "", "status", verdict.Pass, verdict.Pass},
		{`{"status":"open"}`, "", "STATUS", verdict.Pass, verdict.Pass},
		{`{"hidden":true}`, "", "id", verdict.Pass, verdict.Failed},
		{`{"book_id":"1"}`, "", "id", verdict.Pass, verdict.Failed},
		{`{"filter":{"page size":5}}`, "", "page-size", verdict.Pass, verdict.Pass},
		{`{"status":"open"}`, "", `"status":"open"`, verdict.Pass, verdict.Pass},
		{`{"note":"first\nsecond"}`, "", "second", verdict.Pass, verdict.Pass},
		{`{"limit":5}`, "", "5", verdict.Pass, verdict.Pass},
		{`{}`, "I set Limit to 5.", "limit", verdict.Pass, verdict.Pass},
		{`{}`, "It is hidden.", "id", verdict.Pass, verdict.Failed},
		{`{"limit":5}`, "", "offset", verdict.Failed, verdict.Failed},
	} {
		params, err := jsonv.Parse([]byte(c.params))
		if err != nil {
			t.Fatal(err)
		}
		e := &evidence.Evidence{Semantics: []evidence.SemanticCase{{
			Name: "asked", ResponseText: jsonv.String(c.answer), ExpectedParameters: []string{c.want},
			ToolCalls: []evidence.ToolCall{{Operation: jsonv.String("list_books"), Params: params}},
		}}}
		for rules, want := range map[rule.Set]verdict.Result{rule.Reference: c.reference, rule.Strict: c.strict} {
			if got := rowResult(aql.Evaluate(e, aql.Options{Level: 2, Rules: rules}), "asked"); got != want {
				t.Errorf("%s: %q in %s and %q is %s, want %s", rules, c.want, c.params, c.answer, got, want)
			}
		}
	}
}
