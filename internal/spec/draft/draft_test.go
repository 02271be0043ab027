package draft_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"mcptest/internal/assert/target"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/spec/draft"
	"mcptest/internal/spec/plan"
	"mcptest/internal/spec/suite"
)

// parse reads JSON that the test itself wrote.
func parse(t interface{ Fatalf(string, ...any) }, text string) jsonv.Value {
	v, err := jsonv.Parse([]byte(text))
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return v
}

// compiled loads what was drafted.
func compiled(t interface{ Fatalf(string, ...any) }, dir string, s *draft.Suite) *plan.Plan {
	path := filepath.Join(dir, "mcptest.yaml")
	text := s.YAML()
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatalf("%v", err)
	}
	su, diags := suite.Load(path, suite.Options{Env: []string{"TOKEN=planted-secret"}})
	if diags.HasErrors() || su == nil {
		t.Fatalf("load: %v\n%s", diags, text)
	}
	p, diags := plan.Compile([]*suite.Suite{su}, plan.Settings{ViolationKinds: []string{"stray-output"}})
	if diags.HasErrors() {
		t.Fatalf("compile: %v\n%s", diags, text)
	}
	return p
}

// expectOf returns the lines of the drafted suite that are assertions, and
// their marks.
func expectOf(s *draft.Suite) []string {
	var out []string
	for line := range strings.Lines(string(s.YAML())) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "- {target") || strings.HasPrefix(line, "# review") {
			out = append(out, line)
		}
	}
	return out
}

func drafted(tests ...*draft.Test) *draft.Suite {
	return &draft.Suite{
		Name: "s", Server: draft.Server{Name: "s", Command: []string{"server"}}, Tests: tests, Local: []string{"/home/ada", "ada"},
		Mask: func(text string) string { return strings.ReplaceAll(text, "planted-secret", "***") },
	}
}

func answers(t *testing.T, results ...string) []draft.Answer {
	var out []draft.Answer
	for _, r := range results {
		out = append(out, draft.Answer{Result: parse(t, r)})
	}
	return out
}

func texts(t *testing.T, list ...string) []draft.Answer {
	var out []draft.Answer
	for _, text := range list {
		out = append(out, draft.Answer{Result: jsonv.From(map[string]any{"content": []any{map[string]any{"type": "text", "text": text}}})})
	}
	return out
}

func TestExpectations(t *testing.T) {
	long := strings.Repeat("all work and no play ", 40)
	for name, c := range map[string]struct {
		answers []draft.Answer
		want    []string
	}{
		"the same text": {texts(t, "Echo: hi", "Echo: hi"), []string{"# review", `- {target: text, matcher: {exact: "Echo: hi"}}`}},
		"a placeholder": {texts(t, "${HOME}", "${HOME}"), []string{"# review", `- {target: text, matcher: {exact: "$${HOME}"}}`}},
		"a changing word": {texts(t, "pid 77 is up", "pid 78 is up"), []string{
			"# review: words that vary or refer to this machine match anything", `- {target: text, matcher: {regex: "\\Apid \\S+ is up\\z"}}`,
		}},
		"a time that was the same": {texts(t, "made at 12:30 today", "made at 12:30 today"), []string{
			"# review: words that vary or refer to this machine match anything", `- {target: text, matcher: {regex: "\\Amade at \\S.* today\\z"}}`,
		}},
		"a folder of this machine": {texts(t, "may read /home/ada/x only", "may read /home/ada/x only"), []string{
			"# review: words that vary or refer to this machine match anything", `- {target: text, matcher: {regex: "\\Amay read \\S+ only\\z"}}`,
		}},
		"a date of several words": {texts(t, "made Sat Nov 21 2026 12:30:11 by x and y and z", "made Sat Nov 21 2026 12:30:11 by x and y and z"), []string{
			"# review: words that vary or refer to this machine match anything",
			`- {target: text, matcher: {regex: "\\Amade \\S.* \\S.* by x and y and z\\z"}}`,
		}},
		"versions of the runtime": {texts(t, "up on Node.js v20.20.2 (linux x64) with 3 tools and 2 prompts and 1 resource", "up on Node.js v20.20.2 (linux x64) with 3 tools and 2 prompts and 1 resource"), []string{
			"# review: words that vary or refer to this machine match anything",
			`- {target: text, matcher: {regex: "\\Aup on \\S.* \\S.* with 3 tools and 2 prompts and 1 resource\\z"}}`,
		}},
		"a user": {texts(t, "hello ada, welcome to adamant", "hello ada, welcome to adamant"), []string{
			"# review: words that vary or refer to this machine match anything", `- {target: text, matcher: {regex: "\\Ahello \\S+ welcome to adamant\\z"}}`,
		}},
		"an environment": {texts(t, `{"npm_config_user_agent": "npm/11.19.1", "PATH": "/bin"}`, `{"npm_config_user_agent": "npm/11.19.1", "PATH": "/bin"}`), []string{
			"# review: it lists environment variables", `- {target: text, matcher: {length: {min: 1}}}`,
		}},
		"members of the machine": {answers(t, `{"structuredContent": {"platform": "linux", "cpus": 2, "name": "x", "node": "v20.20.2", "env": {"PATH": "/bin", "X": "y"}, "vars": [{"name": "PATH"}], "list": ["PATH=/bin"]}}`), []string{
			"# review: it looks like a time, an id or a description of this machine", "- {target: structured.platform, matcher: {length: {min: 1}}}",
			"# review: it changes", "- {target: structured.cpus, matcher: {type: number}}",
			"# review", "- {target: structured.name, matcher: {exact: x}}",
			"# review: it looks like a time, an id or a description of this machine", "- {target: structured.node, matcher: {length: {min: 1}}}",
			"# review: it lists environment variables", "- {target: structured.env, matcher: {type: object}}",
			"# review: it lists environment variables", "- {target: structured.vars, matcher: {type: array}}",
			"# review: it lists environment variables", "- {target: structured.list, matcher: {type: array}}",
		}},
		"refused with a folder": {[]draft.Answer{{Code: jsonv.Int(-32602), Reason: "cannot read /home/ada/x"}}, []string{
			"# review: these arguments were refused: cannot read [local]/x", "# review", "- {target: error.code, matcher: {exact: -32602}}",
		}},
		"a zone in the user's language": {texts(t, "made 12:30:11 GMT+0000 (Coordinated Universal Time) by x and y and z", "made 12:30:11 GMT+0000 (Coordinated Universal Time) by x and y and z"), []string{
			"# review: words that vary or refer to this machine match anything",
			`- {target: text, matcher: {regex: "\\Amade \\S.* \\S.* by x and y and z\\z"}}`,
		}},
		"half of the day": {texts(t, "made at 9:30 PM by me", "made at 9:30 PM by me"), []string{
			"# review: words that vary or refer to this machine match anything", `- {target: text, matcher: {regex: "\\Amade at \\S.* by me\\z"}}`,
		}},
		"a blob": {texts(t, strings.Repeat("aGkK", 200), strings.Repeat("aGkK", 200)), []string{
			"# review: it is long", `- {target: text, matcher: {starts-with: ` + strings.Repeat("aGkK", 30) + `}}`,
		}},
		"nothing in common": {texts(t, "a", "b c"), []string{"# review: it changes", `- {target: text, matcher: {length: {min: 1}}}`}},
		"a beginning":       {texts(t, "Listing: a b", "Listing: c"), []string{"# review: it changes", `- {target: text, matcher: {starts-with: "Listing:"}}`}},
		"a long text": {texts(t, long, long), []string{
			"# review: it is long", `- {target: text, matcher: {starts-with: ` + strings.TrimSpace(long[:118]) + `}}`,
		}},
		"a secret": {texts(t, "it is planted-secret ok", "it is planted-secret ok"), []string{
			"# review: it is not stored: it refers to this machine or contains a secret", `- {target: text, matcher: {length: {min: 1}}}`,
		}},
		"empty": {texts(t, "", ""), []string{"# review", `- {target: text, matcher: {exact: ""}}`}},
		"structured": {answers(t, `{"content": [], "structuredContent": {"n": 1, "when_ms": 5, "l": [1, 2], "odd key": "x"}}`, `{"content": [], "structuredContent": {"n": 1, "when_ms": 6, "l": [1, 2], "odd key": "x"}}`), []string{
			"# review", "- {target: structured.n, matcher: {exact: 1}}",
			"# review: it changes", "- {target: structured.when_ms, matcher: {type: number}}",
			"# review", "- {target: structured.l, matcher: {exact: [1, 2]}}",
			"# review", `- {target: "structured[\"odd key\"]", matcher: {exact: x}}`,
		}},
		"a list that grows": {answers(t, `{"structuredContent": {"l": []}}`, `{"structuredContent": {"l": [1]}}`), []string{
			"# review: its length changes", "- {target: structured.l, matcher: {type: array}}",
		}},
		"blocks": {answers(t, `{"content": [{"type": "image", "data": "aGk=", "mimeType": "image/png"}]}`, `{"content": [{"type": "image", "data": "aGk=", "mimeType": "image/png"}]}`), []string{
			"# review", `- {target: result.content, matcher: {exact: [{type: image, data: aGk=, mimeType: image/png}]}}`,
		}},
		"refused":      {answers(t, `{"isError": true, "content": []}`, `{"isError": true, "content": []}`), []string{"# review: these arguments were refused: without a word", "# review", "- {target: result.isError, matcher: {exact: true}}"}},
		"refused once": {answers(t, `{"isError": true}`, `{}`), []string{"# review: it was refused only some of the time", `- {target: refusal, matcher: {type: [object, "null"]}}`}},
		"an error": {[]draft.Answer{{Code: jsonv.Int(-32602), Reason: "bad\nargs \x1b[31m"}, {Code: jsonv.Int(-32602)}}, []string{
			"# review: these arguments were refused: bad args \\x1b[31m", "# review", "- {target: error.code, matcher: {exact: -32602}}",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := drafted(&draft.Test{Block: "tools", Subject: "x", Answers: c.answers})
			if d := cmp.Diff(c.want, expectOf(s)); d != "" {
				t.Errorf("(-want +got):\n%s\n%s", d, s.YAML())
			}
			compiled(t, t.TempDir(), s)
		})
	}
}

// An answer that repeats a time of the request, which is a part that does not change.
func TestExpectationOfAnEcho(t *testing.T) {
	args := jsonv.ObjectOf("text", "at 12:30 on 2026-11-21")
	long := "you said at 12:30 on 2026-11-21 " + strings.Repeat("and so on ", 50)
	s := drafted(&draft.Test{Block: "tools", Subject: "x", Args: args, Answers: texts(t, long)})
	compiled(t, t.TempDir(), s)
}

func TestLists(t *testing.T) {
	list := func(results ...string) *draft.Test {
		return &draft.Test{Block: "protocol", Subject: "tools/list", List: "tools", Answers: answers(t, results...)}
	}
	for name, c := range map[string]struct {
		test *draft.Test
		want string
	}{
		"names":   {list(`{"tools": [{"name": "a"}, {"name": "b"}]}`, `{"tools": [{"name": "a"}, {"name": "b"}]}`), `- {target: "result.tools[*].name", matcher: {unordered: [a, b]}}`},
		"changes": {list(`{"tools": [{"name": "a"}]}`, `{"tools": []}`), `- {target: result.tools, matcher: {type: array}}`},
		"pages":   {list(`{"tools": [{"name": "a"}], "nextCursor": "x"}`), `- {target: result.tools, matcher: {type: array}}`},
	} {
		if got := expectOf(drafted(c.test)); len(got) != 2 || got[1] != c.want {
			t.Errorf("%s: %q, want %s", name, got, c.want)
		}
	}
}

// For any response of a server, the suite loads, and what it expects holds for every
// answer it was made from.
func TestDraftsHoldForTheirAnswers(t *testing.T) {
	dir := t.TempDir()
	word := rapid.SampledFrom([]string{
		"a", "ok", "${x}", "$${", "12:30", "2026-11-21", "planted-secret", "/home/ada/f", "\n", "\"", "\\", "#", ": ", "- ", "{", "é", "\u2028", "\x07",
		"😀", "null", "0x1f", "1e5", "~", "!!int 5", "&a", "*a", "%", "\u00a0", "\ufeff", "1700000000", "{\"a\": 1}",
	})
	text := rapid.Map(rapid.SliceOfN(word, 0, 5), func(w []string) string { return strings.Join(w, " ") })
	var value func(depth int) *rapid.Generator[any]
	value = func(depth int) *rapid.Generator[any] {
		leaf := rapid.OneOf(rapid.Map(text, func(s string) any { return s }), rapid.Map(rapid.Int(), func(i int) any { return i }),
			rapid.Map(rapid.Float64Range(-1e9, 1e9), func(f float64) any { return f }), rapid.SampledFrom([]any{nil, true, false}))
		if depth == 0 {
			return leaf
		}
		return rapid.OneOf(leaf, rapid.Map(rapid.SliceOfN(value(depth-1), 0, 4), func(l []any) any { return l }),
			rapid.Map(rapid.MapOfN(text, value(depth-1), 0, 4), func(m map[string]any) any { return m }))
	}
	result := rapid.Custom(func(t *rapid.T) map[string]any {
		out := map[string]any{}
		switch rapid.IntRange(0, 4).Draw(t, "kind") {
		case 0:
			out["structuredContent"] = value(3).Draw(t, "structured")
		case 1:
			out["content"] = value(2).Draw(t, "content")
		case 2:
			out["isError"] = true
		default:
			var blocks []any
			for range rapid.IntRange(0, 3).Draw(t, "blocks") {
				blocks = append(blocks, map[string]any{"type": rapid.SampledFrom([]string{"text", "text", "image"}).Draw(t, "type"), "text": text.Draw(t, "text")})
			}
			out["content"] = blocks
		}
		return out
	})
	rapid.Check(t, func(t *rapid.T) {
		test := &draft.Test{Block: "tools", Subject: rapid.SampledFrom([]string{"a", "${x} y", "- \n#", "\u2028", "true", "\"\\"}).Draw(t, "tool"), Args: jsonv.Object()}
		first := result.Draw(t, "result")
		for range rapid.IntRange(1, 3).Draw(t, "answers") {
			r := first
			if rapid.Bool().Draw(t, "other") {
				r = result.Draw(t, "result")
			}
			test.Answers = append(test.Answers, draft.Answer{Result: jsonv.From(r)})
		}
		s := drafted(test)
		p := compiled(t, dir, s)
		written := string(s.YAML())
		if strings.Contains(written, "planted-secret") || strings.Contains(written, "/home/ada") {
			t.Fatalf("it holds what it must not:\n%s", written)
		}
		c := p.Case(0)
		for i, a := range test.Answers {
			if v := c.Tree.Evaluate(context.Background(), &target.Observation{Result: a.Result}, nil); !v.Pass {
				t.Fatalf("answer %d %s does not pass:\n%s\n%+v", i, a.Result, written, v)
			}
		}
	})
}

func TestServerEntry(t *testing.T) {
	s := drafted(&draft.Test{Block: "tools", Subject: "delete", Skip: "not annotated\nread-only", Args: parse(t, `{"id": 1}`)})
	s.From = "thing 1.0"
	s.Server = draft.Server{Name: "my server", Command: []string{"node", "x y.js", "--key", "${TOKEN}"}, Cwd: "..", Env: []string{"TOKEN"}, Tolerate: []string{"stray-output"}}
	p := compiled(t, t.TempDir(), s)
	sv := p.Files[0].Servers[0]
	if d := cmp.Diff([]string{"node", "x y.js", "--key", "planted-secret"}, sv.Argv); d != "" {
		t.Error(d)
	}
	if c := p.Case(0); c.Skip != "not annotated read-only" || !sv.Tolerate["stray-output"] {
		t.Errorf("skip %q, tolerate %v", c.Skip, sv.Tolerate)
	}
	s.Server = draft.Server{Name: "s", URL: "https://example.com/mcp", Headers: [][2]string{{"X-Key", "TOKEN"}}, Bearer: "TOKEN", Transport: "sse", Protocol: "2025-06-18", Insecure: true}
	sv = compiled(t, t.TempDir(), s).Files[0].Servers[0]
	if sv.URL != "https://example.com/mcp" || sv.Transport != "sse" || sv.Protocol != "2025-06-18" || !sv.TLS.Insecure || sv.Auth.BearerTokenEnv != "TOKEN" {
		t.Errorf("%+v", sv)
	}
	if d := cmp.Diff([]plan.Header{{Name: "X-Key", Value: "planted-secret"}}, sv.Headers); d != "" {
		t.Error(d)
	}
	if strings.Contains(string(s.YAML()), "planted-secret") {
		t.Error("the secret is written")
	}
}

func TestNamesAreUnique(t *testing.T) {
	one := func() *draft.Test { return &draft.Test{Block: "tools", Subject: "x", Answers: texts(t, "a")} }
	compiled(t, t.TempDir(), drafted(one(), one(), one()))
}
