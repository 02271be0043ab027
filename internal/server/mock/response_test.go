package mock_test

import (
	"strings"
	"testing"
	"time"

	"mcptest/internal/server/mock"
)

func TestResponses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, response, args, want string }{
		{"text", `hello`, `{}`, text("hello")},
		{"number as text", `5`, `{}`, text("5")},
		{"argument in a text", `"<${args.x}>"`, `{"x":"y"}`, text("<y>")},
		{"missing argument is empty", `"<${args.x}>"`, `{}`, text("<>")},
		{"whole missing argument", `"${args.x}"`, `{}`, text("")},
		{"object in a text is JSON", `"got ${args.x}"`, `{"x":{"b":1,"a":[true,null]}}`, text(`got {"b":1,"a":[true,null]}`)},
		{"default", `"${args.x:-none}"`, `{}`, text("none")},
		{"default unused", `"${args.x:-none}"`, `{"x":""}`, text("")},
		{"default with a placeholder", `"${args.x:-${args.y:-{}}} ${args.z:-}"`, `{"y":{"a":1}}`, text(`{"a":1} `)},
		{"literal", `"$${args.x}"`, `{"x":1}`, text("${args.x}")},
		{"text as a map is JSON", `{text: {a: "${args.x}", b: 2}}`, `{"x":"q\""}`, text(`{"a":"q\"","b":2}`)},
		{
			"types are kept", `{structured: {n: "${args.n}", s: "${args.s}", l: ["${args.n}"]}}`, `{"n":1.50,"s":"1"}`,
			`"result":{"content":[{"type":"text","text":"{\"n\":1.50,\"s\":\"1\",\"l\":[1.50]}"}],"structuredContent":{"n":1.50,"s":"1","l":[1.50]}}}`,
		},
		{
			"missing members are left out", `{structured: {a: "${args.a}", b: "${args.b}", l: ["${args.a}", "${args.b}"]}, content: []}`, `{"b":2}`,
			`"result":{"content":[],"structuredContent":{"b":2,"l":[2]}}}`,
		},
		{"state and indexes", `"${state.list[0]} ${state.list[-1]} ${state.deep.k.v} ${state['deep'].k} ${state.list[9]}"`, `{}`, text(`a b 7 {"v":7} `)},
		{"key by a path", `"${state.deep[args.key].v} ${state.list[state.n]}"`, `{"key":"k"}`, text("7 b")},
		{"sums", `"${args.a + args.b} ${args.a - args.b} ${1 + 2 + state.n} ${args.a + args.none}"`, `{"a":0.1,"b":0.2}`, text("0.3 -0.1 4 0.1")},
		{"big sums", `"${args.a + 1}"`, `{"a":9007199254740993}`, text("9007199254740994")},
		{"exponents", `"${args.a + 1}"`, `{"a":1e400000}`, text("null")},
		{"text in a sum counts nothing", `"${args.a + 1}"`, `{"a":"x"}`, text("1")},
		{"request", `"${id} ${params.name} ${client.name} ${client.protocol} ${calls}"`, `{}`, text("2 t wire 2025-06-18 1")},
		{"is_error", `{is_error: true, text: no}`, `{}`, failed("no")},
		{"is_error from an argument", `{is_error: "${args.bad}", text: no}`, `{"bad":true}`, failed("no")},
		{"error", `{error: {code: -5, message: "no ${args.x}", data: {x: "${args.x}"}}}`, `{"x":1}`, `"error":{"code":-5,"message":"no 1","data":{"x":1}}}`},
		{"short error", `{error: no}`, `{}`, `"error":{"code":-32603,"message":"no"}}`},
		{"whole result", `{result: {resultType: odd, content: null}}`, `{}`, `"result":{"resultType":"odd","content":null}}`},
		{"meta", `{text: x, meta: {a: 1}}`, `{}`, `"result":{"content":[{"type":"text","text":"x"}],"_meta":{"a":1}}}`},
		{"empty", `{content: []}`, `{}`, `"result":{"content":[]}}`},
		{"steps only", `{steps: [set: {n: 2}]}`, `{}`, `"result":{"content":[]}}`},
		{"one block", `{content: {type: text, text: x}}`, `{}`, text("x")},
		{
			"blocks", `
content:
  - plain
  - {text: 5}
  - {type: text, text: {a: "${args.x}"}}
  - {type: image, data: AAAA, mime_type: image/png, annotations: {priority: 1}}
  - {type: audio, data: "${args.x}", mimeType: audio/wav}
  - {resource: {uri: "a://${args.x}", text: "${args.n}"}}
  - {type: resource_link, uri: b://c, name: d}`, `{"x":"zz","n":1}`,
			`"result":{"content":[{"type":"text","text":"plain"},{"type":"text","text":"5"},{"type":"text","text":"{\"a\":\"zz\"}"},` +
				`{"type":"image","data":"AAAA","mimeType":"image/png","annotations":{"priority":1}},{"type":"audio","data":"zz","mimeType":"audio/wav"},` +
				`{"type":"resource","resource":{"uri":"a://zz","text":"1"}},{"type":"resource_link","uri":"b://c","name":"d"}]}}`,
		},
		{"camelCase", `{isError: true, text: x}`, `{}`, failed("x")},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := connect(t, load(t, one(c.response)), mock.Options{}, "{}")
			same(t, "answer", w.tool("t", c.args), c.want)
		})
	}
}

func TestAlternatives(t *testing.T) {
	t.Parallel()
	w := connect(t, load(t, one(`
- when: {args: {city: London, more: {deep: 1}}}
  text: London
- when: {args: {city: null}}
  text: nowhere
- when: {missing: args.city, state: {n: 1}}
  steps: [set: {n: 2}]
  text: first
- when: {exists: [args.city, args.day], client: [sampling]}
  text: never
- when: {exists: [args.city, args.day]}
  text: both
- when: {state: {n: 2}}
  text: second`)), mock.Options{}, "{}")
	for _, c := range [][2]string{
		{`{"city":"London","more":{"deep":1.0,"other":2},"x":1}`, text("London")},
		{`{"city":null}`, text("nowhere")},
		{`{"city":"London"}`, failed(`the mock has no response that fits the arguments {"city":"London"}`)},
		{`{}`, text("first")},
		{`{}`, text("second")},
		{`{"city":"Paris","day":1}`, text("both")},
	} {
		same(t, c[0], w.tool("t", c[0]), c[1])
	}
}

func TestSequences(t *testing.T) {
	t.Parallel()
	w := connect(t, load(t, `
mock_server:
  name: x
  tools:
    - {name: last, response: {sequence: [one, {is_error: true, text: two}, three]}}
    - {name: cycle, response: {sequence: [one, two], then: cycle}}
    - name: mixed
      response:
        - {when: {args: {who: a}}, sequence: [a1, a2]}
        - {sequence: [b1, [{when: {args: {x: 1}}, text: bx}, b2]]}
`), mock.Options{}, "{}")
	for _, c := range [][3]string{
		{"last", `{}`, text("one")},
		{"last", `{}`, failed("two")},
		{"last", `{}`, text("three")},
		{"last", `{}`, text("three")},
		{"cycle", `{}`, text("one")},
		{"cycle", `{}`, text("two")},
		{"cycle", `{}`, text("one")},
		{"mixed", `{"who":"a"}`, text("a1")},
		{"mixed", `{}`, text("b1")},
		{"mixed", `{"who":"a"}`, text("a2")},
		{"mixed", `{"x":1}`, text("bx")},
		{"mixed", `{}`, text("b2")},
	} {
		same(t, c[0], w.tool(c[0], c[1]), c[2])
	}
}

func TestState(t *testing.T) {
	t.Parallel()
	w := connect(t, load(t, `
mock_server:
  name: x
  state: {n: 0, log: []}
  tools:
    - name: put
      response:
        steps:
          - set: {n: "${state.n + 1}"}
          - set: {"items.${args.key}.value": "${args.value}", "items.${args.key}.n": "${state.n}"}
          - push: {log: "${args.key}", "by.${args.key}": "${state.n}"}
        text: "${state}"
    - name: drop
      response: {steps: [set: {"items.${args.key}": "${args.none}"}], text: "${state.items}"}
`), mock.Options{}, "{}")
	same(t, "put", w.tool("put", `{"key":"a","value":[1]}`), text(`{"n":1,"log":["a"],"items":{"a":{"value":[1],"n":1}},"by":{"a":[1]}}`))
	same(t, "put", w.tool("put", `{"key":"b.c","value":true}`), text(`{"n":2,"log":["a","b.c"],"items":{"a":{"value":[1],"n":1},"b.c":{"value":true,"n":2}},"by":{"a":[1],"b.c":[2]}}`))
	same(t, "drop", w.tool("drop", `{"key":"a"}`), text(`{"b.c":{"value":true,"n":2}}`))
}

// Parallel calls must not lose an update of a counter.
func TestStateCountsEveryCall(t *testing.T) {
	t.Parallel()
	w := connect(t, load(t, `
mock_server:
  name: x
  state: {n: 0}
  tools:
    - {name: t, response: {steps: [set: {n: "${state.n + 1}"}], text: ok}}
    - {name: read, response: "${state.n}"}
`), mock.Options{}, "{}")
	const calls = 200
	go func() {
		for range calls {
			w.send(`{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"t"}}`)
		}
	}()
	for range calls {
		if l, _ := w.read(); !strings.Contains(l, `"ok"`) {
			t.Fatalf("got %s", l)
		}
	}
	same(t, "sum", w.tool("read", `{}`), text("200"))
}

func TestSteps(t *testing.T) {
	t.Parallel()
	w := connect(t, load(t, one(`
steps:
  - progress: 1
  - progress: {progress: "${args.p}", total: 10, message: "at ${args.p}"}
  - log: plain
  - log: {level: debug, data: {x: "${args.p}"}}
  - log: {level: error, logger: l, data: bad}
  - notify: a/b
  - notify: {method: c/d, params: {p: "${args.p}"}}
  - delay: 20ms
  - delay: "${args.p}ms"
  - stderr: "to stderr ${args.p}"
  - write: "stray ${args.p}"
  - write: {base64: /w==, repeat: 3}
text: done`)), mock.Options{}, "{}")
	w.call("logging/setLevel", `{"level":"info"}`)
	start := time.Now()
	answer, before := w.call("tools/call", `{"name":"t","arguments":{"p":2},"_meta":{"progressToken":"tok"}}`)
	if d := time.Since(start); d < 22*time.Millisecond {
		t.Errorf("took %v, want the delays of 22 ms", d)
	}
	same(t, "answer", answer, text("done"))
	same(t, "before", strings.Join(before, "\n"), strings.Join([]string{
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"tok","progress":1}}`,
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"tok","progress":2,"total":10,"message":"at 2"}}`,
		`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"plain"}}`,
		`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","logger":"l","data":"bad"}}`,
		`{"jsonrpc":"2.0","method":"a/b"}`,
		`{"jsonrpc":"2.0","method":"c/d","params":{"p":2}}`,
		`stray 2`, "\xff\xff\xff",
	}, "\n"))
	same(t, "stderr", w.stderr.String(), "to stderr 2\n")
	if _, before = w.call("tools/call", `{"name":"t","arguments":{"p":2}}`); strings.Contains(strings.Join(before, ""), "progress") {
		t.Errorf("progress was sent to a client that gave no token: %q", before)
	}
	same(t, "bad delay", w.tool("t", `{"p":"soon"}`), failed(`delay "soonms": it is not a number with a unit`))
}

func TestAsk(t *testing.T) {
	t.Parallel()
	m := load(t, one(`
steps:
  - ask: {as: model, sampling: "say ${args.x}"}
  - ask: {elicitation: {message: sure?, requestedSchema: {type: object, properties: {}}}}
text: "${ask.model.content.text} ${ask.elicitation.action}"`))
	w := connect(t, m, mock.Options{}, `{"sampling":{},"elicitation":{}}`)
	w.send(`{"jsonrpc":"2.0","id":77,"method":"tools/call","params":{"name":"t","arguments":{"x":"hi"}}}`)
	for _, c := range [][2]string{
		{
			`{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{"messages":[{"role":"user","content":{"type":"text","text":"say hi"}}],"maxTokens":100}}`,
			`{"jsonrpc":"2.0","id":1,"result":{"role":"assistant","content":{"type":"text","text":"HI"},"model":"m"}}`,
		},
		{
			`{"jsonrpc":"2.0","id":2,"method":"elicitation/create","params":{"message":"sure?","requestedSchema":{"type":"object","properties":{}}}}`,
			`{"jsonrpc":"2.0","id":2,"result":{"action":"accept"}}`,
		},
	} {
		l, _ := w.read()
		same(t, "request", l, c[0])
		w.send(c[1])
	}
	l, _ := w.read()
	same(t, "answer", l, `{"jsonrpc":"2.0","id":77,`+text("HI accept"))

	w.send(`{"jsonrpc":"2.0","id":78,"method":"tools/call","params":{"name":"t","arguments":{"x":"hi"}}}`)
	w.read()
	w.send(`{"jsonrpc":"2.0","id":3,"error":{"code":-1,"message":"not now"}}`)
	l, _ = w.read()
	same(t, "refused", l, `{"jsonrpc":"2.0","id":78,`+failed("sampling/createMessage failed: not now (code -1)"))

	deaf := connect(t, m, mock.Options{}, `{"elicitation":{}}`)
	same(t, "undeclared", deaf.tool("t", `{"x":"hi"}`), failed("the client does not support sampling"))
}

func TestRawAndExit(t *testing.T) {
	t.Parallel()
	w := connect(t, load(t, `
mock_server:
  name: x
  banner: {text: "Starting…", newline: true}
  tools:
    - {name: raw, response: {raw: '{"jsonrpc":"2.0","id":"${id}","result":{}}'}}
    - {name: request, response: {steps: [write: "${request}"], text: ok}}
    - {name: die, response: {steps: [{write: {text: "par", newline: false}}, {exit: 9}], text: never}}
  methods:
    ping: {result: {pong: "${params.x}"}}
    no/such: {error: {code: 1, message: own}}
    resources/list: {raw: "[]"}
`), mock.Options{}, "{}")
	ping, before := w.call("ping", `{"x":1}`)
	same(t, "own ping", ping, `"result":{"pong":1}}`)
	_ = before
	own, _ := w.call("no/such", "")
	same(t, "own method", own, `"error":{"code":1,"message":"own"}}`)
	w.send(`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"raw"}}`)
	l, _ := w.read()
	same(t, "raw", l, `{"jsonrpc":"2.0","id":"5","result":{}}`)
	w.send(`{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"request"}}`)
	l, _ = w.read()
	same(t, "request", l, `{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"request"}}`)
	w.read()
	w.send(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"die"}}`)
	l, _ = w.read()
	same(t, "last words", l, "par")
	if code := <-w.done; code != 9 {
		t.Errorf("exit code %d, want 9", code)
	} else {
		w.done <- code
	}
}
