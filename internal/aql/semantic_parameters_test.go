package aql_test

import (
	"testing"

	"mcptest/internal/aql"
	"mcptest/internal/jsonv"
)

// An expected parameter is searched for in the parameters of the calls and in
// the answer: anywhere in the normalized JSON by the reference rules, as a
// whole name by the strict ones.
func TestExpectedParameters(t *testing.T) {
	for _, c := range []struct {
		params, answer, want string
		reference, strict    aql.Result
	}{
		{`{"limit":5}`, "", "limit", aql.Pass, aql.Pass},
		{`{"Status":"open"}`, "", "status", aql.Pass, aql.Pass},
		{`{"status":"open"}`, "", "STATUS", aql.Pass, aql.Pass},
		{`{"hidden":true}`, "", "id", aql.Pass, aql.Failed},
		{`{"book_id":"1"}`, "", "id", aql.Pass, aql.Failed},
		{`{"filter":{"page size":5}}`, "", "page-size", aql.Pass, aql.Pass},
		{`{"status":"open"}`, "", `"status":"open"`, aql.Pass, aql.Pass},
		{`{"note":"first\nsecond"}`, "", "second", aql.Pass, aql.Pass},
		{`{"limit":5}`, "", "5", aql.Pass, aql.Pass},
		{`{}`, "I set Limit to 5.", "limit", aql.Pass, aql.Pass},
		{`{}`, "It is hidden.", "id", aql.Pass, aql.Failed},
		{`{"limit":5}`, "", "offset", aql.Failed, aql.Failed},
	} {
		params, err := jsonv.Parse([]byte(c.params))
		if err != nil {
			t.Fatal(err)
		}
		e := &aql.Evidence{Semantics: []aql.SemanticCase{{
			Name: "asked", ResponseText: jsonv.String(c.answer), ExpectedParameters: []string{c.want},
			ToolCalls: []aql.ToolCall{{Operation: "list_books", HasName: true, Params: params}},
		}}}
		for rules, want := range map[aql.RuleSet]aql.Result{aql.Reference: c.reference, aql.Strict: c.strict} {
			if got := rowResult(aql.Evaluate(e, aql.Options{Level: 2, Rules: rules}), "asked"); got != want {
				t.Errorf("%s: %q in %s and %q is %s, want %s", rules, c.want, c.params, c.answer, got, want)
			}
		}
	}
}
