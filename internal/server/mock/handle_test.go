package mock_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/server/manifest"
	"mcptest/internal/server/mock"
)

const shelf = `
mock_server:
  name: shelf
  title: The shelf
  version: 2.1.0
  instructions: Look, don't touch.
  page_size: 2
  protocols: [2025-03-26, 2025-06-18]
  state: {n: 0}
  tools:
    - name: free
      title: Free
      description: Takes anything
      annotations: {readOnlyHint: true}
      icons: [{src: "data:,"}]
      meta: {a: 1}
      response: ok
    - name: typed
      inputSchema: {type: object, properties: {n: {type: integer}}, required: [n], additionalProperties: false}
      outputSchema: {type: object}
      response: {structured: {n: "${args.n}"}}
    - name: unchecked
      input_schema: {type: object, required: [n]}
      validate: false
      response: ok
    - name: touch
      response: {steps: [set: {n: "${state.n + 1}"}, updated: a://one, updated: a://two], text: ok}
  resources:
    - {uri: a://one, name: one, mime_type: text/plain, size: 3, text: "n=${state.n}"}
    - {uri: a://two, name: two, blob: AAECAw==}
    - {uri: a://three, name: three, text: {n: "${state.n}"}}
    - {uri: a://four, name: four, response: {result: {contents: []}}}
  resource_templates:
    - {uri_template: "t://{a}/x/{b}", name: t, text: "${vars.a}|${vars.b}|${uri}", complete: {a: [One, onto, two]}}
    - {uri_template: "p://{+path}", name: p, text: "${vars.path}"}
  prompts:
    - {name: plain, text: hello}
    - name: full
      description: All of it
      arguments: [{name: x, required: true, description: an x, complete: [b, a]}, {name: y}]
      messages:
        - "x is ${args.x}"
        - {role: assistant, content: {type: image, data: AAAA, mimeType: image/png}}
        - content: {resource: {uri: "${args.x}", text: t}}
`

func TestMethods(t *testing.T) {
	t.Parallel()
	w := connect(t, load(t, shelf), mock.Options{}, "{}")
	for _, c := range []struct{ method, params, want string }{
		{"ping", "", `"result":{}}`},
		{"nope", "", `"error":{"code":-32601,"message":"Method not found: nope"}}`},
		{"ping", "[1]", `"error":{"code":-32602,"message":"params must be an object, got array"}}`},

		{"tools/list", "", `"result":{"tools":[{"name":"free","title":"Free","description":"Takes anything","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true},"icons":[{"src":"data:,"}],"_meta":{"a":1}},` +
			`{"name":"typed","inputSchema":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"],"additionalProperties":false},"outputSchema":{"type":"object"}}],"nextCursor":"dG9vbHM6Mg"}}`},
		{"tools/list", `{"cursor":"dG9vbHM6Mg"}`, `"result":{"tools":[{"name":"unchecked","inputSchema":{"type":"object","required":["n"]}},{"name":"touch","inputSchema":{"type":"object"}}]}}`},
		{"tools/list", `{"cursor":"2"}`, `"error":{"code":-32602,"message":"Invalid cursor: \"2\""}}`},
		{"resources/list", `{"cursor":"dG9vbHM6Mg"}`, `"error":{"code":-32602,"message":"Invalid cursor: \"dG9vbHM6Mg\""}}`},
		{"tools/call", `{"name":"nope"}`, `"error":{"code":-32602,"message":"Unknown tool: nope"}}`},
		{"tools/call", `{"name":"free","arguments":[]}`, `"error":{"code":-32602,"message":"arguments must be an object, got array"}}`},
		{"tools/call", `{"name":"free"}`, text("ok")},
		{"tools/call", `{"name":"typed","arguments":{"n":1}}`, `"result":{"content":[{"type":"text","text":"{\"n\":1}"}],"structuredContent":{"n":1}}}`},
		{"tools/call", `{"name":"typed","arguments":{"n":"x","m":1}}`, failed(`Invalid arguments for tool typed: n: expected type integer, got string "x"; m: unexpected property "m"`)},
		{"tools/call", `{"name":"typed"}`, failed(`Invalid arguments for tool typed: missing property "n"`)},
		{"tools/call", `{"name":"unchecked"}`, text("ok")},

		{"resources/read", `{"uri":"a://one"}`, `"result":{"contents":[{"uri":"a://one","mimeType":"text/plain","text":"n=0"}]}}`},
		{"resources/read", `{"uri":"a://two"}`, `"result":{"contents":[{"uri":"a://two","blob":"AAECAw=="}]}}`},
		{"resources/read", `{"uri":"a://three"}`, `"result":{"contents":[{"uri":"a://three","text":"{\"n\":0}"}]}}`},
		{"resources/read", `{"uri":"a://four"}`, `"result":{"contents":[]}}`},
		{"resources/read", `{"uri":"a://five"}`, `"error":{"code":-32002,"message":"Resource not found: a://five","data":{"uri":"a://five"}}}`},
		{"resources/read", `{}`, `"error":{"code":-32602,"message":"uri is missing"}}`},
		{"resources/read", `{"uri":"t://1/x/2%203"}`, `"result":{"contents":[{"uri":"t://1/x/2%203","text":"1|2 3|t://1/x/2%203"}]}}`},
		{"resources/read", `{"uri":"t://1/x/"}`, `"error":{"code":-32002,"message":"Resource not found: t://1/x/","data":{"uri":"t://1/x/"}}}`},
		{"resources/read", `{"uri":"t://1/2/x/3"}`, `"error":{"code":-32002,"message":"Resource not found: t://1/2/x/3","data":{"uri":"t://1/2/x/3"}}}`},
		{"resources/read", `{"uri":"p://a/b/c"}`, `"result":{"contents":[{"uri":"p://a/b/c","text":"a/b/c"}]}}`},
		{"resources/templates/list", "", `"result":{"resourceTemplates":[{"uriTemplate":"t://{a}/x/{b}","name":"t"},{"uriTemplate":"p://{+path}","name":"p"}]}}`},

		{"prompts/list", "", `"result":{"prompts":[{"name":"plain"},{"name":"full","description":"All of it","arguments":[{"name":"x","description":"an x","required":true},{"name":"y"}]}]}}`},
		{"prompts/get", `{"name":"plain"}`, `"result":{"messages":[{"role":"user","content":{"type":"text","text":"hello"}}]}}`},
		{"prompts/get", `{"name":"full","arguments":{"x":"a://b"}}`, `"result":{"description":"All of it","messages":[{"role":"user","content":{"type":"text","text":"x is a://b"}},` +
			`{"role":"assistant","content":{"type":"image","data":"AAAA","mimeType":"image/png"}},{"role":"user","content":{"type":"resource","resource":{"uri":"a://b","text":"t"}}}]}}`},
		{"prompts/get", `{"name":"full"}`, `"error":{"code":-32602,"message":"Missing required argument of prompt full: x"}}`},
		{"prompts/get", `{"name":"full","arguments":{"x":1}}`, `"error":{"code":-32602,"message":"Argument x of prompt full must be a string, got number"}}`},
		{"prompts/get", `{"name":"none"}`, `"error":{"code":-32602,"message":"Unknown prompt: none"}}`},

		{"completion/complete", `{"ref":{"type":"ref/prompt","name":"full"},"argument":{"name":"x","value":""}}`, `"result":{"completion":{"values":["b","a"],"total":2,"hasMore":false}}}`},
		{"completion/complete", `{"ref":{"type":"ref/resource","uri":"t://{a}/x/{b}"},"argument":{"name":"a","value":"on"}}`, `"result":{"completion":{"values":["One","onto"],"total":2,"hasMore":false}}}`},
		{"completion/complete", `{"ref":{"type":"ref/prompt","name":"plain"},"argument":{"name":"x","value":""}}`, `"result":{"completion":{"values":[],"total":0,"hasMore":false}}}`},
		{"completion/complete", `{"ref":{"type":"ref/prompt","name":"none"},"argument":{"name":"x","value":""}}`, `"error":{"code":-32602,"message":"Unknown prompt: none"}}`},
		{"completion/complete", `{"ref":{"type":"ref/odd"}}`, `"error":{"code":-32602,"message":"unknown type of reference \"ref/odd\""}}`},

		{"logging/setLevel", `{"level":"loud"}`, `"error":{"code":-32602,"message":"unknown log level \"loud\""}}`},
		{"resources/subscribe", `{"uri":"a://none"}`, `"error":{"code":-32002,"message":"Resource not found: a://none","data":{"uri":"a://none"}}}`},
	} {
		got, _ := w.call(c.method, c.params)
		same(t, c.method+" "+c.params, got, c.want)
	}
}

func TestInitialize(t *testing.T) {
	t.Parallel()
	const rest = `"capabilities":{"logging":{},"tools":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true},"prompts":{"listChanged":true},"completions":{}},` +
		`"serverInfo":{"name":"shelf","title":"The shelf","version":"2.1.0"},"instructions":"Look, don't touch."}}`
	w := connect(t, load(t, shelf), mock.Options{}, "{}")
	for asked, agreed := range map[string]string{"2025-03-26": "2025-03-26", "2025-06-18": "2025-06-18", "2025-11-25": "2025-06-18", "odd": "2025-06-18"} {
		got, _ := w.call("initialize", `{"protocolVersion":"`+asked+`","capabilities":{},"clientInfo":{"name":"c","version":"1"}}`)
		same(t, asked, got, `"result":{"protocolVersion":"`+agreed+`",`+rest)
	}
	own := connect(t, load(t, "mock_server: {name: x, capabilities: {odd: {}}}"), mock.Options{}, "{}")
	got, _ := own.call("initialize", `{"protocolVersion":"2024-11-05"}`)
	same(t, "own", got, `"result":{"protocolVersion":"2024-11-05","capabilities":{"odd":{}},"serverInfo":{"name":"x","version":"1.0.0"}}}`)
}

func TestSubscriptions(t *testing.T) {
	t.Parallel()
	w := connect(t, load(t, shelf), mock.Options{}, "{}")
	touch := func() string {
		_, before := w.call("tools/call", `{"name":"touch"}`)
		return strings.Join(before, "\n")
	}
	const one = `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a://one"}}`
	same(t, "before", touch(), "")
	w.call("resources/subscribe", `{"uri":"a://one"}`)
	same(t, "subscribed", touch(), one)
	w.call("resources/unsubscribe", `{"uri":"a://one"}`)
	same(t, "after", touch(), "")
}

func TestCancelledCallIsNotAnswered(t *testing.T) {
	t.Parallel()
	w := connect(t, load(t, one(`{delay: 10m, text: late}`)), mock.Options{}, "{}")
	w.send(`{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"t"}}`)
	w.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"a"}}`)
	if _, before := w.call("ping", ""); len(before) > 0 {
		t.Errorf("before the response to ping came %q", before)
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	m := load(t, one("ok"))
	fault := func(s string) mock.Options {
		f, err := manifest.ParseFault(s)
		if err != nil {
			t.Fatal(err)
		}
		return mock.Options{Fault: f}
	}
	const call = `{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"t"}}`

	t.Run("hang", func(t *testing.T) {
		t.Parallel()
		w := connect(t, m, fault("hang"), "{}")
		w.send(call)
		if got, before := w.call("ping", ""); got != `"result":{}}` || before != nil {
			t.Errorf("ping: %s, before it %q", got, before)
		}
		w.in.Close() // the process ends although the call got no response
		w.done <- <-w.done
	})
	t.Run("wedged", func(t *testing.T) {
		t.Parallel()
		w := connect(t, m, fault("wedged"), "{}")
		w.call("ping", "")
		// Requests before the call get a response however late they are handled, requests
		// after it never: the order on the wire counts, not that of the goroutines.
		for i := range 50 {
			w.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":"before %d","method":"ping"}`, i))
		}
		w.send(call)
		for i := range 50 {
			w.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":"b %d","method":"ping"}`, i))
		}
		w.in.Close()
		for range 50 {
			if l, _ := w.read(); !strings.Contains(l, `"id":"before `) {
				t.Fatalf("expected the responses to the requests before the call, got %s", l)
			}
		}
		select {
		case l := <-w.lines:
			t.Errorf("the wedged server said %s", l)
		case <-w.done:
			t.Errorf("the wedged server ended with its input")
		case <-time.After(50 * time.Millisecond):
		}
	})
	t.Run("slow", func(t *testing.T) {
		t.Parallel()
		w := connect(t, m, fault("slow:300"), "{}")
		fast := time.Hour // the fastest of five, because the machine may be busy
		for range 5 {
			start := time.Now()
			w.call("ping", "")
			fast = min(fast, time.Since(start))
		}
		start := time.Now()
		same(t, "answer", w.tool("t", "{}"), text("ok"))
		if d := time.Since(start); d < 300*time.Millisecond || fast > 250*time.Millisecond {
			t.Errorf("ping took %v, the call %v", fast, d)
		}
	})
	t.Run("recover-after", func(t *testing.T) {
		t.Parallel()
		w := connect(t, m, fault("recover-after:2"), "{}")
		for i, want := range []string{
			`"error":{"code":-32603,"message":"not ready yet: call 1 of 2 that fail (fault recover-after:2)"}}`,
			`"error":{"code":-32603,"message":"not ready yet: call 2 of 2 that fail (fault recover-after:2)"}}`,
			text("ok"), text("ok"),
		} {
			if got := w.tool("t", "{}"); got != want {
				t.Errorf("call %d: %s, want %s", i+1, got, want)
			}
		}
	})
	t.Run("of the manifest", func(t *testing.T) {
		t.Parallel()
		w := connect(t, load(t, "mock_server: {name: x, fault: 'recover-after:1', tools: [{name: t, response: ok}]}"), mock.Options{}, "{}")
		if got := w.tool("t", "{}"); !strings.Contains(got, "not ready yet") {
			t.Errorf("got %s", got)
		}
	})
}

func TestServeEndsWithItsContext(t *testing.T) {
	t.Parallel()
	w := connect(t, load(t, one("ok")), mock.Options{}, "{}")
	_ = w
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan int)
	r := &forever{end: make(chan struct{})}
	go func() {
		code, _ := mock.New(load(t, one("ok")), mock.Options{}).ServeStdio(ctx, r, &bytes.Buffer{})
		done <- code
	}()
	cancel()
	if code := <-done; code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
	close(r.end)
}

type forever struct{ end chan struct{} }

func (f *forever) Read([]byte) (int, error) {
	<-f.end
	return 0, context.Canceled
}

// For any message of a client, the server responds with JSON lines and ends with its
// input.
func FuzzServe(f *testing.F) {
	for _, params := range []string{`{"name":"free"}`, `{"name":"typed","arguments":{"n":1e400}}`, `{"uri":"t://a/x/b%2"}`, `{"cursor":"dG9vbHM6Mg"}`, `{"name":"full","arguments":{"x":"\ud800"}}`, `[]`, `null`} {
		for _, method := range []string{"tools/call", "resources/read", "tools/list", "prompts/get", "initialize", "completion/complete"} {
			f.Add(`{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":` + params + `}`)
		}
	}
	for _, method := range []string{"server/discover", "subscriptions/listen", "tools/call", "tasks/get", "tasks/update"} {
		for _, params := range []string{`"name":"free"`, `"name":"free","inputResponses":{"a":{}},"requestState":"x"`, `"taskId":"task-1"`, `"notifications":{"taskIds":["a"]}`} {
			f.Add(`{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{` + params + `,` + meta(`{"extensions":{"io.modelcontextprotocol/tasks":{}}}`) + `}}`)
		}
	}
	m := load(f, shelf)
	f.Add("{\"\\\\\\\\\\\\\\\\id\":1,\"method\":\"resources/read\",\"params\":null}") // reaches code that no other seed does
	f.Fuzz(func(t *testing.T, in string) {
		var out bytes.Buffer
		code, err := mock.New(m, mock.Options{}).ServeStdio(context.Background(), strings.NewReader(in), &out)
		if code != 0 || err != nil {
			t.Fatalf("exit code %d, error %v", code, err)
		}
		for line := range strings.Lines(out.String()) {
			if !strings.HasSuffix(line, "\n") || jsonv.Valid([]byte(line)) != nil {
				t.Fatalf("output %q", line)
			}
		}
	})
}
