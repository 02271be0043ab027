package aql_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/demo"
	"mcptest/internal/mcpaql/live/guard"
	"mcptest/internal/mcpaql/rule"
	"mcptest/internal/mcpaql/semantic"
	"mcptest/internal/mcpaql/verdict"
	llm "mcptest/internal/model"
)

// model is a chat endpoint whose answers a function makes from the request.
func model(t *testing.T, answer func(messages jsonv.Value) string) *llm.Client {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body)
		v, _ := jsonv.Parse(data)
		io.WriteString(w, answer(v.Lookup("messages")))
	}))
	t.Cleanup(srv.Close)
	return llm.New(llm.Options{URL: srv.URL, Model: "m1", Wait: func(context.Context, time.Duration) error { return nil }})
}

func saying(text string) string {
	return fmt.Sprintf(`{"choices":[{"message":{"content":%s}}],"usage":{"prompt_tokens":10,"completion_tokens":5}}`, jsonv.String(text))
}

func calling(tool, args string) string {
	return fmt.Sprintf(`{"choices":[{"message":{"content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":%s,"arguments":%s}}]}}]}`, jsonv.String(tool), jsonv.String(args))
}

// clever looks first, and then answers rightly.
func clever(messages jsonv.Value) string {
	question := messages.At(1).Lookup("content").Text()
	asked := messages.Len() > 2
	switch {
	case strings.Contains(question, "create something") && !asked:
		return calling("mcp_aql_read", `{"operation":"introspect","params":{"query":"operations"}}`)
	case strings.Contains(question, "create something"):
		return saying("create_book and create_shelf.")
	case strings.Contains(question, "nothing but"):
		return saying("I pass fields with id and title, author, genre, pages.")
	case strings.Contains(question, "this error"):
		return saying("The parameter title, query, book_id was missing; I add it.")
	case !asked:
		return calling("mcp_aql_read", `{"operation":"list_books","params":{}}`)
	}
	return saying("I used list_books.")
}

func TestSemanticEvaluation(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	e := collect(t, guard.Options{Dial: library(t, demo.Options{Log: &log}), Mode: guard.ModeSafe, Asking: semantic.Asking{Model: model(t, clever)}})
	if len(e.Semantics) != 4 {
		t.Fatalf("%d semantic cases", len(e.Semantics))
	}
	r := judgeLive(e)
	for _, c := range r.Categories {
		if c.Name == rule.Semantic && (c.Result != verdict.Pass || !strings.Contains(c.Note, "phrase rules")) {
			t.Errorf("%s (%s)\n%s", c.Result, c.Note, r.FormatText())
		}
	}
	e = collect(t, guard.Options{Dial: library(t, demo.Options{}), Asking: semantic.Asking{Model: model(t, func(jsonv.Value) string { return saying("No idea.") })}})
	if got := categories(judgeLive(e))[rule.Semantic]; got != verdict.Warned {
		t.Errorf("a model without an idea: %s", got)
	}
}

// A model may ask for anything; nothing but reading is done.
func TestModelCallsAreSimulated(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	reckless := model(t, func(m jsonv.Value) string {
		switch m.Len() {
		case 2:
			return calling("mcp_aql_delete", `{"operation":"delete_book","params":{"book_id":"book_1"}}`)
		case 4:
			return calling("mcp_aql", `{"operations":[{"operation":"create_book","params":{"title":"x"}}]}`)
		}
		return calling("rm", `{"path":"/"}`)
	})
	e := collect(t, guard.Options{Dial: library(t, demo.Options{Log: &log}), Asking: semantic.Asking{Model: reckless}})
	if strings.Contains(log.String(), `"category":"DELETE"`) || strings.Contains(log.String(), `"category":"CREATE"`) {
		t.Errorf("carried out:\n%s", log.String())
	}
	if n := len(e.Semantics[0].ToolCalls); n != 6 {
		t.Errorf("%d calls noted", n)
	}
}

// What is sent back to a model whose call was malformed says what was wrong
// with it, word for word, and nothing of it reaches the adapter.
func TestMalformedCallsAreAnswered(t *testing.T) {
	t.Parallel()
	const (
		noObject = `{"success":false,"error":{"code":"VALIDATION_INVALID_TYPE","message":"The arguments of the call must be a single JSON object that is not too long."}}`
		noName   = `{"success":false,"error":{"code":"VALIDATION_MISSING_PARAM","message":"The arguments of the call have to name an operation, a text."}}`
		noOp     = `{"success":false,"error":{"code":"NOT_FOUND_OPERATION","message":"The introspection lists no such operation."}}`
		noTool   = `{"success":false,"error":{"code":"NOT_FOUND_OPERATION","message":"There is no such tool."}}`
		noEffect = `{"success":false,"error":{"code":"PERMISSION_DENIED","message":"This is a rehearsal: the call was noted and not carried out."}}`
	)
	for _, x := range []struct{ tool, args, echo, want string }{
		{"mcp_aql_read", `{"operation":"list_books"`, `{}`, noObject},
		{"mcp_aql_read", ``, `{}`, noName}, // nothing at all stands for {}
		{"mcp_aql_read", `["list_books"]`, `{}`, noObject},
		{"mcp_aql_read", `{"params":"` + strings.Repeat("x", 70_000) + `"}`, `{}`, noObject},
		{"mcp_aql_read", `{"op":"list_books"}`, `{"op":"list_books"}`, noName},
		{"mcp_aql_read", `{"operation":7}`, `{"operation":7}`, noName},
		{"mcp_aql_read", `{"operation":"zap"}`, `{"operation":"zap"}`, noOp},
		{"rm", `{}`, `{}`, noTool},
		{"mcp_aql_delete", `{"operation":"delete_book"}`, `{"operation":"delete_book"}`, noEffect},
	} {
		var mu sync.Mutex
		prompt, echoed := "", ""
		m := model(t, func(messages jsonv.Value) string {
			if messages.Len() == 2 {
				return calling(x.tool, x.args)
			}
			mu.Lock()
			defer mu.Unlock()
			prompt = messages.At(3).Lookup("content").Text()
			echoed = messages.At(2).Lookup("tool_calls").At(0).Lookup("function", "arguments").Text()
			return saying("I see.")
		})
		var log strings.Builder
		collect(t, guard.Options{Dial: library(t, demo.Options{Log: &log}), MaxCalls: 60, Asking: semantic.Asking{Model: m}})
		mu.Lock()
		if prompt != x.want || echoed != x.echo {
			t.Errorf("%s %s: the model received %s\nand the call is written as %s", x.tool, clipText(x.args), prompt, clipText(echoed))
		}
		mu.Unlock()
		if strings.Contains(log.String(), "zap") || strings.Contains(log.String(), `"category":"DELETE"`) {
			t.Errorf("%s was carried out", clipText(x.args))
		}
	}
}

func clipText(s string) string { return s[:min(len(s), 80)] }

type memory struct {
	sync.Mutex
	m map[string]llm.Verdict
}

func (c *memory) Get(k string) (llm.Verdict, bool) {
	c.Lock()
	defer c.Unlock()
	v, ok := c.m[k]
	return v, ok
}

func (c *memory) Put(k string, v llm.Verdict) {
	c.Lock()
	defer c.Unlock()
	c.m[k] = v
}

func TestJudgedAnswers(t *testing.T) {
	t.Parallel()
	asked := 0
	judging := model(t, func(m jsonv.Value) string {
		asked++
		return saying(`{"verdict":"understood","reason":"it would work","quote":"idea"}`)
	})
	cache := &memory{m: map[string]llm.Verdict{}}
	o := guard.Options{Dial: library(t, demo.Options{}), Asking: semantic.Asking{Model: model(t, func(jsonv.Value) string { return saying("Some idea.") }), Judge: judging, Votes: 3, Cache: cache}}
	e := collect(t, o)
	if j := e.Semantics[0].Judge; j == nil || j.Verdict != llm.Understood || len(j.Votes) != 3 || j.Rubric != llm.RubricVersion {
		t.Errorf("%+v", j)
	}
	before := asked
	collect(t, o)
	if asked != before || before != 12 {
		t.Errorf("the judge was asked %d times, then %d", before, asked)
	}
}

// semanticRows are the rows of the semantic category.
func semanticRows(r *verdict.Report) (rows []verdict.TestResult, c verdict.CategoryResult) {
	for _, c := range r.Categories {
		if c.Name == rule.Semantic {
			return c.Tests, c
		}
	}
	return nil, c
}

// A model that cannot be asked costs the semantic rows and nothing else, and
// each row says why.
func TestModelOutOfReach(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]string{`{}`: "no choices", `{"choices":`: "not JSON", `{"choices":[{"message":{"refusal":"I would rather not."}}]}`: "I would rather not."} {
		e := collect(t, guard.Options{Dial: library(t, demo.Options{}), Asking: semantic.Asking{Model: model(t, func(jsonv.Value) string { return answer })}})
		r := judgeLive(e)
		rows, c := semanticRows(r)
		if c.Result != verdict.Skipped || r.ExitCode == verdict.ExitFailed || len(rows) != 4 || !strings.Contains(c.Note, "incomplete: 4 questions were not asked") {
			t.Errorf("%s: %s (%s), %d rows, exit %d", answer, c.Result, c.Note, len(rows), r.ExitCode)
		}
		for _, row := range rows {
			if row.Result != verdict.Skipped || !strings.HasPrefix(row.Detail, "Not asked: ") || !strings.Contains(row.Detail, want) {
				t.Errorf("%s: %s: %s", answer, row.Name, row.Detail)
			}
		}
	}
}

// A cap on calls ends the questions cleanly: what was answered counts, the
// rest is skipped.
func TestModelCalls(t *testing.T) {
	t.Parallel()
	calls := 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls++
		data, _ := io.ReadAll(r.Body)
		v, _ := jsonv.Parse(data)
		io.WriteString(w, clever(v.Lookup("messages")))
	}))
	t.Cleanup(srv.Close)
	e := collect(t, guard.Options{Dial: library(t, demo.Options{}), Asking: semantic.Asking{Model: llm.New(llm.Options{URL: srv.URL, MaxCalls: 3})}})
	rows, c := semanticRows(judgeLive(e))
	if calls != 3 || len(rows) != 4 || rows[0].Result != verdict.Pass || rows[3].Result != verdict.Skipped || !strings.Contains(rows[3].Detail, "the limit on model calls or tokens is reached") {
		t.Errorf("%d calls, %s (%s): %+v", calls, c.Result, c.Note, rows)
	}
}

// What the introspection does not list, what --deny-op names and what hides
// an operation among parameters never reaches the adapter.
func TestModelsCallsStayWithinThePolicy(t *testing.T) {
	t.Parallel()
	for name, args := range map[string]string{
		"undocumented":      `{"operation":"zz_drop_everything","params":{}}`,
		"denied":            `{"operation":"list_books","params":{"title":"zz_seen"}}`,
		"smuggled":          `{"operation":"introspect","params":{"query":"zz_seen","operation":"delete_book"}}`,
		"batch and single":  `{"operation":"delete_book","operations":[{"operation":"introspect","params":{"query":"zz_seen"}}]}`,
		"no operation":      `{"params":{"query":"zz_seen"}}`,
		"not a name":        `{"operation":["delete_book"],"params":{"query":"zz_seen"}}`,
		"introspect denied": `[{"operation":"introspect","params":{"query":"zz_seen"}}]`,
	} {
		var log strings.Builder
		m := model(t, func(m jsonv.Value) string {
			if m.Len() == 2 {
				return calling("mcp_aql", args)
			}
			return saying("done")
		})
		e := collect(t, guard.Options{Dial: library(t, demo.Options{Log: &log}), Deny: []string{"list_*"}, Asking: semantic.Asking{Model: m}})
		if len(e.Semantics) == 0 || strings.Contains(e.Live.Lookup("transcript").String(), "zz_drop_everything") || strings.Contains(e.Live.Lookup("transcript").String(), "zz_seen") {
			t.Errorf("%s: the call was sent", name)
		}
	}
}
