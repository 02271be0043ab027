package draft_test

import (
	"testing"

	"mcptest/internal/base/testkit"
	"mcptest/internal/spec/draft"
)

// Every kind of expectation that a draft has is said in words.
func TestSentence(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ target, matcher, argument, want string }{
		{"structured.date", "exact", `"2026-03-09"`, `structured.date is exactly "2026-03-09"`},
		{"structured.n", "exact", "5.0", "structured.n is exactly 5.0"},
		{"text", "contains", `"a"`, `text contains "a"`},
		{"text", "starts-with", `"a"`, `text begins with "a"`},
		{"text", "regex", `"^a"`, `text matches the pattern "^a"`},
		{"structured.free", "length", "2", "structured.free has the length 2"},
		{"text", "length", `{"min":1}`, "text is not empty"},
		{"text", "length", `{"min":1,"max":2}`, `text has a length within {"min":1,"max":2}`},
		{"structured", "type", `"object"`, "structured is of the type object"},
		{"refusal", "type", `["object","null"]`, "refusal is of the type object, null"},
		{"structured", "schema", `{"type":"object","required":["id","title"]}`, "structured is an object with id, title"},
		{"result.tools[*].name", "unordered", `["a","b"]`, `result.tools[*].name is ["a","b"] in any order`},
		{"upstream.api.requests[0]", "subset", `{"method":"GET"}`, `upstream.api.requests[0] has at least {"method":"GET"}`},
		{"structured.x", "exists", "true", "structured.x exists"},
		{"structured.x", "exists", "false", "structured.x does not exist"},
		{"refusal", "exists", "true", "the call is refused"},
		{"refusal", "exists", "false", "the call is not refused"},
		{"text", "is-json", "true", "text: is-json true"},
	} {
		x := draft.Expectation{Target: c.target, Matcher: c.matcher, Argument: parse(t, c.argument)}
		testkit.Equal(t, c.target+" "+c.matcher, x.Sentence(), c.want)
	}
}
