package mcpserver_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/protocol"
	"mcptest/internal/server/mcpserver"
)

// both is the demo handler as a server that says what it speaks.
type both struct {
	mcpserver.HandlerFunc
	revisions []string
}

func (b both) Versions() []string { return b.revisions }

func (both) InputSchema(tool string) jsonv.Value {
	v, _ := jsonv.Parse([]byte(`{"type":"object","properties":{
		"region":{"type":"string","x-mcp-header":"Region"},"n":{"type":"integer","x-mcp-header":"N"},
		"deep":{"type":"object","properties":{"on":{"type":"boolean","x-mcp-header":"On"}}}}}`))
	if tool == "invalid" {
		v, _ = jsonv.Parse([]byte(`{"properties":{"a":{"type":"array","x-mcp-header":"A"}}}`))
	}
	return v
}

const modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}`

// lines is a client of a server over stdio, line by line.
type lines struct {
	t   *testing.T
	in  *io.PipeWriter
	out chan string
	end chan error
}

func serveLines(t *testing.T, revisions ...string) *lines {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	c := &lines{t: t, in: inW, out: make(chan string, 100), end: make(chan error, 1)}
	go func() {
		c.end <- mcpserver.ServeStdio(context.Background(), inR, outW, both{demo, revisions})
		outW.Close()
	}()
	go func() {
		defer close(c.out)
		for s := bufio.NewScanner(outR); s.Scan(); {
			c.out <- s.Text()
		}
	}()
	t.Cleanup(func() { inW.Close(); inR.Close() })
	return c
}

func (c *lines) send(id, method, params string) {
	c.t.Helper()
	if _, err := fmt.Fprintf(c.in, `{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`+"\n", id, method, params); err != nil {
		c.t.Fatal(err)
	}
}

func (c *lines) read() string {
	c.t.Helper()
	select {
	case l := <-c.out:
		return l
	case <-time.After(time.Minute):
		c.t.Fatal("nothing was written within a minute")
	}
	return ""
}

// stateOf is the requestState of a response, as JSON.
func stateOf(t *testing.T, answer string) string {
	t.Helper()
	v, err := jsonv.Parse([]byte(answer))
	if err != nil || v.Lookup("result", "resultType").Text() != "input_required" {
		t.Fatalf("no request for input: %s", answer)
	}
	return v.Lookup("result", "requestState").String()
}

func TestStatelessStdio(t *testing.T) {
	t.Parallel()
	c := serveLines(t, protocol.Versions()...)
	for _, tc := range []struct{ method, params, want string }{
		{"server/discover", `{` + modernMeta + `}`, `"supportedVersions":["2026-07-28","2025-11-25"`},
		{"server/discover", `{}`, `"code":-32602`},
		{"tools/list", `{` + strings.Replace(modernMeta, "2026-07-28", "2030-01-01", 1) + `}`, `"code":-32022,"message":"Unsupported protocol version","data":{"supported":["2026-07-28"`},
		{"tools/list", `{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}`, `"code":-32602`},
		{"tools/list", `{` + modernMeta + `}`, `"result":{"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":`},
		{"ping", `{` + modernMeta + `}`, `"code":-32601`},
		{"nope", `{` + modernMeta + `}`, `"code":-32601`},
		{"initialize", `{"protocolVersion":"2025-11-25"}`, `"result":{"protocolVersion":"2025-11-25"`},
		{"ping", `{}`, `"result":{}`},
		{"tools/call", `{"name":"echo","inputResponses":null,` + modernMeta + `}`, `"code":-32602`},
		{"tools/call", `{"name":"echo","inputResponses":{"input":3},` + modernMeta + `}`, `"code":-32602`},
		{"tools/call", `{"name":"ask","requestState":"made up",` + modernMeta + `}`, `"code":-32602`},
		{"tools/call", `{"name":"ask",` + strings.Replace(modernMeta, `"elicitation":{}`, "", 1) + `}`, `the client does not support elicitation`},
	} {
		c.send("1", tc.method, tc.params)
		got := c.read()
		if strings.Contains(got, `"notifications/message"`) {
			got = c.read()
		}
		if !strings.Contains(got, tc.want) {
			t.Errorf("%s %s: got %s, want %s in it", tc.method, tc.params, got, tc.want)
		}
	}
}

// The rounds of a request that asks: the state is good for one response to the
// request that it was given for, what is left out is asked again, and what comes
// with the first request is not asked at all.
func TestStatelessRounds(t *testing.T) {
	t.Parallel()
	c := serveLines(t, protocol.Versions()...)
	call := func(id, more string) string {
		c.send(id, "tools/call", `{"name":"ask",`+more+modernMeta+`}`)
		got := c.read()
		if strings.Contains(got, `"notifications/message"`) {
			got = c.read()
		}
		if !strings.Contains(got, `"id":`+id+`,`) {
			t.Fatalf("the response to %s is %s", id, got)
		}
		return got
	}
	const yes = `"inputResponses":{"input":{"action":"accept"}},`
	first := stateOf(t, call("1", ""))
	again := stateOf(t, call("2", `"requestState":`+first+`,"inputResponses":{"other":{}},`))
	second := stateOf(t, call("3", `"requestState":`+again+`,`+yes))
	if first == again || again == second {
		t.Error("one state for several rounds")
	}
	if got := call("4", `"requestState":`+again+`,`+yes); !strings.Contains(got, `"code":-32602`) {
		t.Errorf("a state that was used: %s", got)
	}
	c.send("5", "tools/call", `{"name":"echo","requestState":`+second+`,`+yes+modernMeta+`}`)
	if got := c.read(); !strings.Contains(got, `"code":-32602`) {
		t.Errorf("the state of another request: %s", got)
	}
	if got := call("6", `"requestState":`+second+`,`+yes); !strings.Contains(got, `"text":"accept"`) {
		t.Errorf("the last round: %s", got)
	}
	early := stateOf(t, call("7", yes)) // the handler asks twice
	if got := call("8", `"requestState":`+early+`,`+yes); !strings.Contains(got, `"text":"accept"`) {
		t.Errorf("a response that came early: %s", got)
	}
	stateOf(t, call("9", "")) // no input comes: the end of the input ends it
	c.in.Close()
	select {
	case err := <-c.end:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Error("a call that waits for input holds the server")
	}
}

func TestStatelessListenAndCancel(t *testing.T) {
	t.Parallel()
	c := serveLines(t, protocol.Versions()...)
	change := func() { c.send("2", "tools/call", `{"name":"change",`+modernMeta+`}`) }
	for i := range 20 { // everything after a subscription belongs to it
		id := strconv.Itoa(100 + i)
		c.send(id, "subscriptions/listen", `{"notifications":{"toolsListChanged":true},`+modernMeta+`}`)
		change()
		seen := map[string]bool{}
		for len(seen) < 3 {
			l := c.read()
			switch {
			case strings.Contains(l, `"notifications/subscriptions/acknowledged"`):
				seen["ack"] = true
			case strings.Contains(l, `"notifications/tools/list_changed"`) && strings.Contains(l, `"io.modelcontextprotocol/subscriptionId":`+id):
				if !seen["ack"] {
					t.Error("a change before the acknowledgement")
				}
				seen["change"] = true
			case strings.Contains(l, `"id":2`):
				seen["answer"] = true
			default:
				t.Fatalf("got %s", l)
			}
		}
		io.WriteString(c.in, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`+id+`}}`+"\n")
	}
	c.send("3", "tools/call", `{"name":"hang",`+modernMeta+`}`)
	io.WriteString(c.in, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}`+"\n")
	c.send("4", "tools/list", `{`+modernMeta+`}`)
	if got := c.read(); !strings.Contains(got, `"id":4`) {
		t.Errorf("a response to a canceled call: %s", got)
	}
}

// A server of one era only: what belongs to the other is refused as such servers
// refuse it.
func TestOneEraOnly(t *testing.T) {
	t.Parallel()
	old := serveLines(t, "2025-06-18")
	old.send("1", "server/discover", `{`+modernMeta+`}`)
	if got := old.read(); !strings.Contains(got, `"code":-32601`) {
		t.Errorf("server/discover: %s", got)
	}
	modern := serveLines(t, "2026-07-28")
	for method, want := range map[string]string{"initialize": `"code":-32022,"message":"Unsupported protocol version","data":{"supported":["2026-07-28"]`, "tools/list": `"code":-32602`} {
		modern.send("1", method, `{"protocolVersion":"2025-11-25"}`)
		if got := modern.read(); !strings.Contains(got, want) {
			t.Errorf("%s: %s", method, got)
		}
	}
}

func TestHeadersRepeatTheMessage(t *testing.T) {
	t.Parallel()
	server := mcpserver.NewHTTPServer(func() mcpserver.Handler { return both{demo, protocol.Versions()} })
	srv := httptest.NewServer(server)
	t.Cleanup(func() { srv.CloseClientConnections(); server.Close(); srv.Close() })
	plain := http.Header{"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"tools/call"}, "Mcp-Name": {"echo"}}
	for _, tc := range []struct {
		name, args string
		tool       string // "" is echo
		set        map[string][]string
		bad        string // part of the message, "" when the request is good
	}{
		{name: "plain"},
		{name: "no method", set: map[string][]string{"Mcp-Method": nil}, bad: `Mcp-Method is missing`},
		{name: "method in capitals", set: map[string][]string{"Mcp-Method": {"TOOLS/CALL"}}, bad: `Mcp-Method is "TOOLS/CALL", the message has "tools/call"`},
		{name: "no name", set: map[string][]string{"Mcp-Name": nil}, bad: "Mcp-Name is missing"},
		{name: "another name", set: map[string][]string{"Mcp-Name": {"ask"}}, bad: `Mcp-Name is "ask"`},
		{name: "two names", set: map[string][]string{"Mcp-Name": {"echo", "ask"}}, bad: "Mcp-Name occurs 2 times"},
		{name: "name in base64", set: map[string][]string{"Mcp-Name": {"=?base64?ZWNobw==?="}}},
		{name: "spaces", set: map[string][]string{"Mcp-Name": {"  echo "}}},
		{name: "another version", set: map[string][]string{"Mcp-Protocol-Version": {"2025-11-25"}}, bad: "MCP-Protocol-Version"},
		{name: "an argument", args: `"region":"eu"`, set: map[string][]string{"Mcp-Param-Region": {"eu"}}},
		{name: "an argument without its header", args: `"region":"eu"`, bad: "Mcp-Param-Region is missing"},
		{name: "an argument that differs", args: `"region":"eu"`, set: map[string][]string{"Mcp-Param-Region": {"us"}}, bad: `Mcp-Param-Region is "us"`},
		{name: "a header without its argument", set: map[string][]string{"Mcp-Param-Region": {"eu"}}, bad: "the message has no such value"},
		{name: "null has no header", args: `"region":null`},
		{name: "not ASCII", args: `"region":"é"`, set: map[string][]string{"Mcp-Param-Region": {"=?base64?w6k=?="}}},
		{name: "not ASCII and plain", args: `"region":"é"`, set: map[string][]string{"Mcp-Param-Region": {"é"}}, bad: "neither plain ASCII nor valid base64"},
		{name: "bad padding", args: `"region":"Hello"`, set: map[string][]string{"Mcp-Param-Region": {"=?base64?SGVsbG8?="}}, bad: "neither plain ASCII nor valid base64"},
		{name: "half a wrapper is text", args: `"region":"=?base64?SGVsbG8="`, set: map[string][]string{"Mcp-Param-Region": {"=?base64?SGVsbG8="}}},
		{name: "a number", args: `"n":42.0`, set: map[string][]string{"Mcp-Param-N": {"42"}}},
		{name: "a number otherwise written", args: `"n":42`, set: map[string][]string{"Mcp-Param-N": {"42.0"}}},
		{name: "another number", args: `"n":42`, set: map[string][]string{"Mcp-Param-N": {"43"}}, bad: `Mcp-Param-N is "43"`},
		{name: "deep", args: `"deep":{"on":true}`, set: map[string][]string{"Mcp-Param-On": {"false"}}, bad: `Mcp-Param-On is "false"`},
		{name: "annotations that are invalid have no effect", tool: "invalid", args: `"a":[1]`, set: map[string][]string{"Mcp-Name": {"invalid"}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			h := plain.Clone()
			for k, v := range tc.set {
				if h[k] = v; v == nil {
					delete(h, k)
				}
			}
			tool := tc.tool
			if tool == "" {
				tool = "echo"
			}
			body := `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"` + tool + `","arguments":{` + tc.args + `},` + modernMeta + `}}`
			req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, srv.URL, strings.NewReader(body))
			req.Header = h
			resp, err := srv.Client().Do(req)
			if err != nil {
				t.Fatal(err)
			}
			got, _ := io.ReadAll(resp.Body)
			resp.Body.Close()
			v, _ := jsonv.Parse(got)
			switch {
			case tc.bad == "" && (resp.StatusCode != http.StatusOK || !strings.Contains(string(got), `"done"`)):
				t.Errorf("status %d: %s", resp.StatusCode, got)
			case tc.bad != "" && (resp.StatusCode != http.StatusBadRequest || !strings.Contains(string(got), `"id":7,"error":{"code":-32020`) ||
				!strings.Contains(v.Lookup("error", "message").Text(), tc.bad)):
				t.Errorf("status %d: %s, want %s", resp.StatusCode, got, tc.bad)
			}
		})
	}
}
