package explain

import (
	"testing"

	"mcptest/internal/report/result"
)

// TestCommand: each request of a record that a command can send again has its line,
// with what the run set; a part of a frame has none.
func TestCommand(t *testing.T) {
	r := &result.Run{Command: "mcptest run a.yaml --var 'A=b c' --env-file=x.env --timeout 3s", Suites: []result.Suite{{Name: "notes", File: "dir/a.yaml"}}}
	const end = " --server api@old --config dir/a.yaml --var 'A=b c' --env-file=x.env"
	for request, want := range map[string]string{
		`{"method":"tools/call","params":{"name":"add","arguments":{}}}`:                        "mcptest call add" + end,
		`{"method":"tools/call","params":{"name":"add","arguments":{"text":"it's\u200b"}}}`:     `mcptest call add --args-json '{"text":"it'\''s\u200b"}'` + end,
		`{"method":"resources/read","params":{"uri":"file:///a b"}}`:                            "mcptest resources 'file:///a b'" + end,
		`{"method":"prompts/get","params":{"name":"sum","arguments":{"b":"2","a":"one word"}}}`: "mcptest prompts sum --arg 'a=one word' --arg b=2" + end,
		`{"method":"prompts/get","params":{"name":"sum"}}`:                                      "mcptest prompts sum" + end,
		`{"method":"tools/list"}`: "mcptest tools" + end,
		`{"method":"prompts/get","params":{"name":"sum","arguments":{"a":1}}}`:                   "",
		`{"method":"tools/call","params":{"arguments":{}}}`:                                      "",
		`{"method":"logging/setLevel","params":{"level":"info"}}`:                                "",
		`{"method":"tools/call","params":{"name":"add","arguments":{"text":"the record has a p…`: "",
	} {
		c := &result.Case{Server: "api@old", Suite: "notes", File: "dir/imported.yaml"}
		if got := Command(r, c, &result.Exchange{Request: request}); got != want {
			t.Errorf("%s\n got %s\nwant %s", request, got, want)
		}
	}
	if got := Command(r, &result.Case{}, &result.Exchange{Request: `{"method":"tools/list"}`}); got != "" {
		t.Errorf("without a server: %s", got)
	}
}

// TestHint: the assertion that accepts a refusal is not part of the error, and what
// follows it is.
func TestHint(t *testing.T) {
	for message, want := range map[string][2]string{
		"it failed; if that is expected: - {target: refusal}":             {"it failed", "- {target: refusal}"},
		"it failed; if that is expected: - {target: refusal}; it is slow": {"it failed; it is slow", "- {target: refusal}"},
		"it failed; if that is expected: - {target: ref…":                 {"it failed", ""},
		"it failed": {"it failed", ""},
	} {
		if text, assertion := Hint(message); [2]string{text, assertion} != want {
			t.Errorf("%s: %q, %q", message, text, assertion)
		}
	}
}
