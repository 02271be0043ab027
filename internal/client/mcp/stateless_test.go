package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/testkit"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/client/wire"
	"mcptest/internal/server/mcpserver"
)

// modernWeb is a server of the stateless revision: it answers server/discover,
// and call does the rest.
func modernWeb(t testing.TB, call func(w http.ResponseWriter, r *http.Request, m rpc)) *httptest.Server {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			t.Errorf("%s is not of this revision", r.Method)
		}
		m := readRPC(r)
		if m.Method == "server/discover" {
			answerJSON(w, m.ID, discovered)
			return
		}
		call(w, r, m)
	}))
	t.Cleanup(srv.Close)
	return srv
}

func openModern(t testing.TB, url string, o mcp.Options) *mcp.Session {
	t.Helper()
	o.Protocol = mcp.Auto
	o.Client = mcp.Implementation{Name: "c", Version: "1"}
	s, err := openHTTP(t, url, wire.HTTPOptions{}, o)
	if err != nil {
		t.Fatal(err)
	}
	if s.Era() != protocol.EraStateless {
		t.Fatal(s.Era())
	}
	return s
}

func TestModernRequest(t *testing.T) {
	var mu sync.Mutex
	var last rpc
	var header http.Header
	srv := modernWeb(t, func(w http.ResponseWriter, r *http.Request, m rpc) {
		mu.Lock()
		last, header = m, r.Header
		mu.Unlock()
		answerJSON(w, m.ID, `{"resultType":"complete"}`)
	})
	s := openModern(t, srv.URL, mcp.Options{})
	const meta = `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}`
	for _, c := range []struct {
		call             mcp.Call
		params           string
		method, name     string
		versionIsAuthors bool
	}{
		{call: mcp.Call{Method: "tools/list"}, params: `{"_meta":{` + meta + `}}`},
		{call: mcp.Call{Method: "tools/call", Params: []byte(`{"name":"a"}`)}, params: `{"name":"a","_meta":{` + meta + `}}`, name: "a"},
		{call: mcp.Call{Method: "tools/call", Params: []byte(`{ }`), LogLevel: "debug"}, params: `{"_meta":{` + meta + `,"io.modelcontextprotocol/logLevel":"debug"}}`},
		{call: mcp.Call{Method: "prompts/get", Params: []byte(`{"name":"ä","_meta":{"x":1}}`)}, params: `{"name":"ä","_meta":{"x":1,` + meta + `}}`, name: "=?base64?w6Q=?="},
		{call: mcp.Call{Method: "resources/read", Params: []byte(`{"uri":" a"}`)}, params: `{"uri":" a","_meta":{` + meta + `}}`, name: "=?base64?IGE=?="},
		{
			call:   mcp.Call{Method: "x", Params: []byte(`{"_meta":{"io.modelcontextprotocol/protocolVersion":"mine"}}`)},
			params: `{"_meta":{` + strings.Replace(meta, "2026-07-28", "mine", 1) + `}}`,
		},
		{call: mcp.Call{Method: "x", Params: []byte(`{}`), ProgressToken: true}, params: `{"_meta":{` + meta + `,"progressToken":9}}`},
		{call: mcp.Call{Method: "x", Params: []byte(`[1]`)}, params: `[1]`},
	} {
		x := s.Do(within(t, time.Minute), c.call)
		testkit.Equal(t, "the cause", x.Cause, nil)
		testkit.Equal(t, "the violations", kinds(x.Violations), "")
		var got, want any
		_ = json.Unmarshal(last.Params, &got)
		if err := json.Unmarshal([]byte(c.params), &want); err != nil {
			t.Fatal(err)
		}
		if p, ok := got.(map[string]any); ok && c.call.ProgressToken {
			p["_meta"].(map[string]any)["progressToken"] = 9.0
		}
		testkit.Equal(t, "the parameters of "+string(c.call.Params), got, want)
		for key, want := range map[string]string{"Mcp-Method": c.call.Method, "Mcp-Name": c.name, "Mcp-Protocol-Version": "2026-07-28", "Mcp-Session-Id": ""} {
			testkit.Equal(t, key, header.Get(key), want)
		}
	}
}

// Arguments that a tool wants repeated as headers.
func TestToolHeaders(t *testing.T) {
	const tool = `{"name":"t","inputSchema":{"type":"object","properties":{
		"region":{"type":"string","x-mcp-header":"Region"},"n":{"type":"integer","x-mcp-header":"N"},"b":{"type":"boolean","x-mcp-header":"B"},
		"o":{"type":"object","properties":{"deep":{"type":"string","x-mcp-header":"Deep"}}},"plain":{"type":"string"}}}}`
	bad := []string{
		`"a":{"type":"string","x-mcp-header":""}`,
		`"a":{"type":"string","x-mcp-header":"a b"}`,
		`"a":{"type":"string","x-mcp-header":"a\r\nX: y"}`,
		`"a":{"type":"string","x-mcp-header":"ä"}`,
		`"a":{"type":"string","x-mcp-header":7}`,
		`"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"string","x-mcp-header":"a"}`,
		`"a":{"type":"number","x-mcp-header":"A"}`,
		`"a":{"type":"object","x-mcp-header":"A"}`,
		`"a":{"x-mcp-header":"A"}`,
		`"a":{"type":"array","items":{"type":"string","x-mcp-header":"A"}}`,
		`"a":{"anyOf":[{"type":"string","x-mcp-header":"A"}]}`,
	}
	list := tool
	for i, p := range bad {
		list += fmt.Sprintf(`,{"name":"bad%d","inputSchema":{"type":"object","properties":{%s}}}`, i, p)
	}
	list += `,{"name":"odd","inputSchema":{"type":"object","properties":{"x-mcp-header":{"type":"string"}},"default":{"x-mcp-header":1}}}`
	var calls, lists int
	var got http.Header
	srv := modernWeb(t, func(w http.ResponseWriter, r *http.Request, m rpc) {
		switch m.Method {
		case "tools/list":
			lists++
			answerJSON(w, m.ID, `{"resultType":"complete","tools":[`+list+`]}`)
		default:
			calls++
			got = r.Header
			if strings.Contains(string(m.Params), `"region":"eu"`) && r.Header.Get("Mcp-Param-Region") != "eu" {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(400)
				fmt.Fprint(w, refused(string(m.ID), -32020, ""))
				return
			}
			answerJSON(w, m.ID, `{"resultType":"complete"}`)
		}
	})
	s := openModern(t, srv.URL, mcp.Options{})
	x := s.Do(within(t, time.Minute), mcp.Call{Method: "tools/call", Params: []byte(`{"name":"t","arguments":{"region":"eu","n":42.0,"b":true,"o":{"deep":"ü"},"plain":"p"}}`)})
	testkit.Equal(t, "the call", outcomeOf(x), outcome{Result: `{"resultType":"complete"}`})
	testkit.Equal(t, "the numbers of refused calls, calls and lists", []int{len(x.Hops), calls, lists}, []int{1, 2, 1})
	testkit.Equal(t, "the status of the refused call", x.Hops[0].HTTP.Status, 400)
	testkit.Equal(t, "that both calls have the same id", x.Hops[0].ID == x.ID, false)
	for k, want := range map[string]string{"Region": "eu", "N": "42", "B": "true", "Deep": "=?base64?w7w=?=", "Plain": ""} {
		if v := got.Get("Mcp-Param-" + k); v != want {
			t.Errorf("%s: %q, want %q", k, v, want)
		}
	}
	s.Do(within(t, time.Minute), mcp.Call{Method: "tools/call", Params: []byte(`{"name":"t","arguments":{"region":null,"n":"x"}}`)})
	testkit.Equal(t, "the header of null", got["Mcp-Param-Region"], nil)
	testkit.Equal(t, "the header of an argument that is no integer", got.Get("Mcp-Param-N"), "x")
	if d := s.UnusableTools(); len(d) != len(bad) {
		t.Errorf("%d tools were dropped, want %d: %v", len(d), len(bad), d)
	}
}

func TestMultiRoundTrip(t *testing.T) {
	const state = `"\u0061 \/ \"opaque\" é"` // must come back byte for byte
	ask := `{"resultType":"input_required","inputRequests":{"who":{"method":"elicitation/create","params":{"mode":"form","message":"who?"}},"roots":{"method":"roots/list"}}%s}`
	var mu sync.Mutex
	var seen []string
	answers := func(method, id, params string) string {
		mu.Lock()
		defer mu.Unlock()
		if method != "tools/call" && method != "tools/list" {
			return result(id, `{"resultType":"complete","tools":[]}`)
		}
		seen = append(seen, id+" "+params)
		switch name := between(params[max(0, strings.LastIndex(params, `"name":`)):], `"name":"`, `"`); {
		case name == "endless":
			return result(id, `{"resultType":"input_required","requestState":"s"}`)
		case name == "nothing":
			return result(id, `{"resultType":"input_required"}`)
		case name == "odd":
			return result(id, `{"resultType":"input_required","inputRequests":{"a":{"method":"tools/call"}}}`)
		case method == "tools/list" && strings.Contains(params, "cursor"):
			return result(id, `{"resultType":"input_required","requestState":"s"}`)
		case name == "unknown":
			return result(id, `{"resultType":"who knows"}`)
		case !strings.Contains(params, `"inputResponses"`) && name == "stateless":
			return result(id, fmt.Sprintf(ask, ""))
		case !strings.Contains(params, `"inputResponses"`):
			return result(id, fmt.Sprintf(ask, `,"requestState":`+state))
		}
		return result(id, `{"resultType":"complete","content":[]}`)
	}
	answerer := func(_ context.Context, method string, _ []byte) ([]byte, *protocol.RPCError) {
		if method == "roots/list" {
			return []byte(`{"roots":[]}`), nil
		}
		return []byte(`{"action":"decline"}`), nil
	}
	caps := jsonv.Object(jsonv.Member{Key: "elicitation", Value: jsonv.Object()}, jsonv.Member{Key: "roots", Value: jsonv.Object()})
	web := modernWeb(t, func(w http.ResponseWriter, r *http.Request, m rpc) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, answers(m.Method, string(m.ID), string(m.Params)))
	})
	for name, s := range map[string]*mcp.Session{
		"http":  openModern(t, web.URL, mcp.Options{Answer: answerer, Capabilities: caps}),
		"stdio": modernPipe(t, answers, mcp.Options{Answer: answerer, Capabilities: caps}),
	} {
		t.Run(name, func(t *testing.T) {
			seen = nil
			call := func(tool string) *mcp.Exchange {
				return s.Do(within(t, time.Minute), mcp.Call{Method: "tools/call", Params: []byte(`{"name":"` + tool + `"}`)})
			}
			x := call("ask")
			testkit.Equal(t, "the call", outcomeOf(x), outcome{
				Result: `{"resultType":"complete","content":[]}`,
				During: "request elicitation/create, answer elicitation/create, request roots/list, answer roots/list",
			})
			testkit.Equal(t, "the number of requests before the last one", len(x.Hops), 1)
			if !strings.Contains(string(x.Request), `"requestState":`+state) || !strings.Contains(string(x.Request), `"inputResponses":{"who":{"action":"decline"},"roots":{"roots":[]}}`) {
				t.Errorf("%s", x.Request)
			}
			if strings.Contains(string(x.Hops[0].Request), "requestState") || x.Hops[0].ID == x.ID {
				t.Errorf("%s", x.Hops[0].Request)
			}
			x = call("stateless")
			testkit.Equal(t, "the cause of a call without a state", x.Cause, nil)
			if strings.Contains(string(x.Request), "requestState") {
				t.Errorf("the request has a state: %s", x.Request)
			}
			seen = nil
			var in *mcp.InputError
			if x = call("endless"); !errors.As(x.Cause, &in) {
				t.Errorf("cause %v", x.Cause)
			}
			testkit.Equal(t, "the numbers of requests and of those before the last one", []int{len(seen), len(x.Hops)}, []int{11, 10})
			for tool, kind := range map[string]string{"nothing": protocol.BadResult, "odd": protocol.BadResult, "unknown": protocol.ResultType} {
				x := call(tool)
				testkit.Equal(t, tool+": the violations", kinds(x.Violations), kind)
				testkit.Equal(t, tool+": their number", len(x.Violations), 1)
			}
			x = s.Do(within(t, time.Minute), mcp.Call{Method: "tools/list", Params: []byte(`{"cursor":"c"}`)})
			if x.Cause == nil || len(x.Violations) != 1 {
				t.Error(x.Cause, x.Violations)
			}
			none := func(context.Context, string, []byte) ([]byte, *protocol.RPCError) { return nil, nil }
			x = s.Do(within(t, time.Minute), mcp.Call{Method: "tools/call", Params: []byte(`{"name":"ask"}`), Answer: none})
			if !errors.As(x.Cause, &in) || !strings.Contains(in.Error(), "elicitation/create") {
				t.Error(x.Cause)
			}
		})
	}
}

// modernPipe opens a session of the stateless revision over a pipe.
func modernPipe(t *testing.T, answers func(method, id, params string) string, o mcp.Options) *mcp.Session {
	t.Helper()
	in, rw := wire.NewPipe()
	done := make(chan error, 1)
	go func() {
		done <- mcpserver.ServeStdio(context.Background(), rw, rw, mcpserver.HandlerFunc(func(_ context.Context, r *mcpserver.Request) *mcpserver.Reply {
			if r.Method == "server/discover" {
				return &mcpserver.Reply{Result: []byte(discovered)}
			}
			if r.Notification {
				return nil
			}
			a := answers(r.Method, string(r.ID), string(r.Params))
			if a == "" {
				return nil
			}
			return &mcpserver.Reply{Raw: []byte(a + "\n")}
		}))
		rw.Close()
	}()
	o.Protocol = mcp.Auto
	s, err := mcp.Open(t.Context(), in, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Close(context.Background())
		<-done
	})
	return s
}
