package model_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/model"
)

// endpoint answers request n with what script says, and keeps the bodies.
type endpoint struct {
	mu      sync.Mutex
	bodies  []jsonv.Value
	headers []http.Header
	paths   []string
}

func serve(t *testing.T, o model.Options, script func(n int, w http.ResponseWriter, body jsonv.Value)) (*model.Client, *endpoint) {
	e := &endpoint{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body)
		v, err := jsonv.Parse(data)
		if err != nil {
			t.Errorf("the request is not JSON: %s", data)
		}
		e.mu.Lock()
		e.bodies, e.headers, e.paths = append(e.bodies, v), append(e.headers, r.Header), append(e.paths, r.URL.Path)
		n := len(e.bodies)
		e.mu.Unlock()
		script(n, w, v)
	}))
	t.Cleanup(srv.Close)
	o.URL, o.Model = srv.URL, "m1"
	if o.Wait == nil {
		o.Wait = func(context.Context, time.Duration) error { return nil }
	}
	return model.New(o), e
}

func say(w io.Writer, text string) {
	fmt.Fprintf(w, `{"choices":[{"message":{"role":"assistant","content":%s}}],"usage":{"prompt_tokens":10,"completion_tokens":5}}`, jsonv.String(text))
}

func TestWireForms(t *testing.T) {
	tool := []model.Tool{{Name: "mcp_aql_read", Description: "reads", Schema: jsonv.From(map[string]any{"type": "object"})}}
	args, _ := jsonv.Parse([]byte(`{"operation":"introspect"}`))
	turns := []model.Message{
		{Role: "user", Text: "hi"},
		{Role: "assistant", Calls: []model.Call{{ID: "c1", Name: "mcp_aql_read", Arguments: args}, {ID: "c2", Name: "mcp_aql_read"}}},
		{Role: "tool", ID: "c1", Text: "one"},
		{Role: "tool", ID: "c2", Text: "two"},
	}
	c, e := serve(t, model.Options{Key: "k-123"}, func(_ int, w http.ResponseWriter, _ jsonv.Value) {
		io.WriteString(w, `{"choices":[{"message":{"content":null,"tool_calls":[{"id":"x","type":"function","function":{"name":"mcp_aql_read","arguments":"{\"operation\":\"list_books\"}"}},{"id":"y","function":{"name":"z","arguments":"{broken"}}]}}]}`)
	})
	m, err := c.Chat(context.Background(), "sys", turns, tool)
	if err != nil || len(m.Calls) != 2 || m.Calls[0].Arguments.Lookup("operation").Text() != "list_books" || !m.Calls[1].Arguments.IsAbsent() {
		t.Fatalf("%+v, %v", m, err)
	}
	b := e.bodies[0]
	if e.paths[0] != "/chat/completions" || e.headers[0].Get("Authorization") != "Bearer k-123" || b.Lookup("temperature").Literal() != "0" ||
		b.Lookup("messages").At(0).Lookup("role").Text() != "system" || b.Lookup("messages").At(3).Lookup("tool_call_id").Text() != "c1" ||
		b.Lookup("tools").At(0).Lookup("function", "name").Text() != "mcp_aql_read" {
		t.Errorf("%s %s", e.paths[0], b)
	}
	c, e = serve(t, model.Options{API: model.Anthropic, Key: "k-123"}, func(_ int, w http.ResponseWriter, _ jsonv.Value) {
		io.WriteString(w, `{"content":[{"type":"text","text":"a"},{"type":"tool_use","id":"x","name":"mcp_aql_read","input":{"operation":"o"}}],"usage":{"input_tokens":3,"output_tokens":4}}`)
	})
	m, err = c.Chat(context.Background(), "sys", turns, tool)
	if err != nil || m.Text != "a" || m.Calls[0].Arguments.Lookup("operation").Text() != "o" {
		t.Fatalf("%+v, %v", m, err)
	}
	b = e.bodies[0]
	if e.paths[0] != "/v1/messages" || e.headers[0].Get("X-Api-Key") != "k-123" || b.Lookup("system").Text() != "sys" || b.Lookup("messages").Len() != 3 ||
		b.Lookup("messages").At(2).Lookup("content").Len() != 2 || b.Lookup("messages").At(1).Lookup("content").At(0).Lookup("type").Text() != "tool_use" {
		t.Errorf("%s %s", e.paths[0], b)
	}
	if _, tokens := c.Used(); tokens != 7 {
		t.Errorf("%d tokens", tokens)
	}
}

func TestFailures(t *testing.T) {
	for name, c := range map[string]struct {
		o      model.Options
		script func(n int, w http.ResponseWriter)
		calls  int
		err    string // "" for success
	}{
		"429, then an answer": {model.Options{}, func(n int, w http.ResponseWriter) {
			if n < 3 {
				w.Header().Set("Retry-After", "1")
				w.WriteHeader(429)
				return
			}
			say(w, "ok")
		}, 3, ""},
		"500 all the time": {model.Options{}, func(_ int, w http.ResponseWriter) { w.WriteHeader(500); io.WriteString(w, "oh no") }, 4, "500 Internal Server Error: oh no"},
		"401":              {model.Options{Key: "k-123"}, func(_ int, w http.ResponseWriter) { w.WriteHeader(401); io.WriteString(w, "bad key k-123") }, 1, "bad key [key]"},
		"truncated JSON, then an answer": {model.Options{}, func(n int, w http.ResponseWriter) {
			if n == 1 {
				io.WriteString(w, `{"choices":[{"mess`)
				return
			}
			say(w, "ok")
		}, 2, ""},
		"a broken connection": {model.Options{}, func(_ int, w http.ResponseWriter) {
			w.Header().Set("Content-Length", "100")
			io.WriteString(w, "{")
		}, 4, "read the model's response"},
		"no choices": {model.Options{}, func(_ int, w http.ResponseWriter) { io.WriteString(w, `{}`) }, 1, "no choices"},
		"too much":   {model.Options{}, func(_ int, w http.ResponseWriter) { io.WriteString(w, strings.Repeat("x", 5<<20)) }, 1, "over 4 MiB"},
		"too slow":   {model.Options{Timeout: time.Second}, func(int, http.ResponseWriter) { <-time.After(3 * time.Second) }, 2, "deadline"},
		"capped":     {model.Options{MaxCalls: 2}, func(_ int, w http.ResponseWriter) { w.WriteHeader(503) }, 2, model.ErrCap.Error()},
		"one refusal": {model.Options{}, func(_ int, w http.ResponseWriter) {
			io.WriteString(w, `{"choices":[{"message":{"refusal":"I will not."}}]}`)
		}, 1, "the model refused to answer: I will not."},
		"a filter": {model.Options{}, func(_ int, w http.ResponseWriter) {
			io.WriteString(w, `{"choices":[{"finish_reason":"content_filter","message":{"content":""}}]}`)
		}, 1, "the model refused to answer"},
		"Anthropic's refusal": {model.Options{API: model.Anthropic}, func(_ int, w http.ResponseWriter) {
			io.WriteString(w, `{"content":[{"type":"text","text":"No."}],"stop_reason":"refusal"}`)
		}, 1, "the model refused to answer: No."},
		"cut off before a word": {model.Options{}, func(_ int, w http.ResponseWriter) {
			io.WriteString(w, `{"choices":[{"finish_reason":"length","message":{"content":""}}]}`)
		}, 1, "cut off at 4096 tokens"},
		"an error with status 200": {model.Options{}, func(_ int, w http.ResponseWriter) {
			io.WriteString(w, `{"error":{"message":"model m1 not found"}}`)
		}, 1, "it is an error: model m1 not found"},
		"a web page": {model.Options{}, func(_ int, w http.ResponseWriter) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			io.WriteString(w, "<html>Log in</html>")
		}, 1, "responded with text/html, expected JSON: <html>Log in</html>"},
		"a stream": {model.Options{}, func(_ int, w http.ResponseWriter) {
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, "data: {}\n\n")
		}, 1, "responded with text/event-stream, expected JSON"},
		"JSON by another name": {model.Options{}, func(_ int, w http.ResponseWriter) {
			w.Header().Set("Content-Type", "text/html")
			say(w, "ok")
		}, 1, ""},
		"dripping": {model.Options{Timeout: time.Second}, func(_ int, w http.ResponseWriter) {
			tick := time.Tick(100 * time.Millisecond)
			for range 30 {
				io.WriteString(w, " ")
				w.(http.Flusher).Flush()
				<-tick
			}
			say(w, "ok")
		}, 2, "deadline"},
		"529, overloaded": {model.Options{API: model.Anthropic}, func(_ int, w http.ResponseWriter) {
			w.WriteHeader(529)
			io.WriteString(w, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`)
		}, 4, "responded with 529: Overloaded"},
		"404": {model.Options{}, func(_ int, w http.ResponseWriter) { w.WriteHeader(404) }, 1, "are the address and"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client, e := serve(t, c.o, func(n int, w http.ResponseWriter, _ jsonv.Value) { c.script(n, w) })
			_, err := client.Chat(context.Background(), "", []model.Message{{Role: "user", Text: "x"}}, nil)
			if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("error %v", err)
			}
			e.mu.Lock()
			defer e.mu.Unlock()
			if len(e.bodies) != c.calls {
				t.Errorf("%d requests, want %d", len(e.bodies), c.calls)
			}
			if err != nil && strings.Contains(err.Error(), "k-123") {
				t.Error("the key is in the error")
			}
		})
	}
}

func TestTokenCap(t *testing.T) {
	c, _ := serve(t, model.Options{MaxTokens: 30}, func(_ int, w http.ResponseWriter, _ jsonv.Value) { say(w, "x") })
	n := 0
	for ; n < 10; n++ {
		if _, err := c.Chat(context.Background(), "", nil, nil); errors.Is(err, model.ErrCap) {
			break
		}
	}
	if n != 2 {
		t.Errorf("%d calls of 15 tokens within 30", n)
	}
}
