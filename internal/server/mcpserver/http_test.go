package mcpserver_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/server/mcpserver"
)

// demo is a handler with a tool of each kind.
func demo(ctx context.Context, r *mcpserver.Request) *mcpserver.Reply {
	switch r.Method {
	case "initialize":
		var p struct{ ProtocolVersion string }
		_ = json.Unmarshal(r.Params, &p)
		return &mcpserver.Reply{Result: []byte(`{"protocolVersion":"` + p.ProtocolVersion + `","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"demo","version":"1"}}`)}
	case "logging/setLevel", "ping":
		return &mcpserver.Reply{Result: []byte(`{}`)}
	case "tools/list":
		return &mcpserver.Reply{Result: []byte(`{"tools":[{"name":"echo","inputSchema":{"type":"object"}},{"name":"ask","inputSchema":{"type":"object"}}]}`)}
	case "tools/call":
	default:
		return &mcpserver.Reply{Error: &protocol.RPCError{Code: protocol.CodeMethodNotFound, Message: "Method not found"}}
	}
	text := "done"
	switch {
	case strings.Contains(string(r.Params), `"name":"ask"`):
		_ = r.Notify("notifications/message", []byte(`{"level":"info","data":"before"}`))
		for range 2 {
			v, err := r.Ask(ctx, "elicitation/create", []byte(`{"mode":"form","message":"who?","requestedSchema":{"type":"object","properties":{}}}`))
			if err != nil {
				text = err.Error()
				break
			}
			text = v.Lookup("action").Text()
		}
	case strings.Contains(string(r.Params), `"name":"change"`):
		_ = r.Notify("notifications/tools/list_changed", nil)
	case strings.Contains(string(r.Params), `"name":"hang"`):
		<-ctx.Done()
		return nil
	}
	return &mcpserver.Reply{Result: []byte(`{"content":[{"type":"text","text":"` + text + `"}]}`)}
}

func serveDemo(t testing.TB) string {
	t.Helper()
	s := mcpserver.NewHTTPServer(func() mcpserver.Handler { return mcpserver.HandlerFunc(demo) })
	srv := httptest.NewServer(s)
	t.Cleanup(func() {
		srv.CloseClientConnections()
		s.Close()
		srv.Close()
	})
	return srv.URL
}

// Our session against our server, each revision.
func TestHTTPServerOwnClient(t *testing.T) {
	for _, revision := range append([]string{mcp.Auto}, protocol.Versions()...) {
		t.Run(revision, func(t *testing.T) {
			accept := func(_ context.Context, method string, _ []byte) ([]byte, *protocol.RPCError) {
				return []byte(`{"action":"accept","content":{}}`), nil
			}
			s := openHTTP(t, serveDemo(t), mcp.Options{
				Protocol: revision, Answer: accept,
				Capabilities: jsonv.Object(jsonv.Member{Key: "elicitation", Value: jsonv.Object()}),
			})
			if revision != mcp.Auto && s.Protocol() != revision {
				t.Error(s.Protocol())
			}
			call := func(name string) *mcp.Exchange {
				x := s.Do(within(t, time.Minute), mcp.Call{Method: "tools/call", Params: []byte(`{"name":"` + name + `"}`)})
				if x.Cause != nil || len(x.Violations) > 0 {
					t.Fatalf("%s: %v %v", name, x.Cause, x.Violations)
				}
				return x
			}
			call("echo")
			x := call("ask")
			if !strings.Contains(string(x.Result), "accept") || methods(x.During) != "notification notifications/message, "+
				"request elicitation/create, answer elicitation/create, request elicitation/create, answer elicitation/create" {
				t.Errorf("%s %s", x.Result, methods(x.During))
			}
			if x := s.Do(within(t, time.Minute), mcp.Call{Method: "nope"}); x.RPCError() == nil || x.RPCError().Code != protocol.CodeMethodNotFound {
				t.Errorf("%v %s", x.Cause, x.Response)
			}
			if s.Era() == protocol.EraStateless {
				checkListen(t, s, call)
			}
			if v := s.TakeViolations(); len(v) > 0 {
				t.Error(v)
			}
		})
	}
}

// checkListen subscribes, has a change made, and waits for it.
func checkListen(t *testing.T, s *mcp.Session, call func(string) *mcp.Exchange) {
	x := s.Do(within(t, time.Minute), mcp.Call{Method: "subscriptions/listen", Params: []byte(`{"notifications":{"toolsListChanged":true}}`)})
	if x.Cause != nil || methods(x.During) != "notification notifications/subscriptions/acknowledged" {
		t.Fatal(x.Cause, methods(x.During))
	}
	mark := s.Mark()
	call("change")
	m, err := s.Wait(within(t, time.Minute), "notifications/tools/list_changed", mark)
	if err != nil || !strings.Contains(string(m.Params), `"io.modelcontextprotocol/subscriptionId":`+x.ID) {
		t.Error(err, string(m.Params))
	}
	// It lasts until it is canceled. The acknowledgment may arrive late on a busy machine.
	for after := 50 * time.Millisecond; ; after *= 4 {
		x := s.Do(within(t, time.Minute), mcp.Call{Method: "subscriptions/listen", Params: []byte(`{"notifications":{}}`), CancelAfter: after})
		if len(x.During) == 1 {
			return
		}
		if after > 10*time.Second {
			t.Fatal(x.Cause, methods(x.During))
		}
	}
}

// The official SDK's client against our server.
func TestHTTPServerSDKClient(t *testing.T) {
	client := sdk.NewClient(&sdk.Implementation{Name: "c", Version: "1"}, &sdk.ClientOptions{
		ElicitationHandler: func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			return &sdk.ElicitResult{Action: "accept", Content: map[string]any{}}, nil
		},
	})
	s, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: serveDemo(t)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	tools, err := s.ListTools(t.Context(), nil)
	if err != nil || len(tools.Tools) != 2 {
		t.Fatal(tools, err)
	}
	for tool, want := range map[string]string{"echo": "done", "ask": "accept"} {
		res, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: tool})
		if err != nil || res.Content[0].(*sdk.TextContent).Text != want {
			t.Errorf("%s: %+v %v", tool, res, err)
		}
	}
}

// A page of a foreign site must not reach a server on the loopback, neither by
// its origin nor by a name that its owner points at 127.0.0.1 (DNS rebinding).
func TestHTTPServerRefusesForeignSites(t *testing.T) {
	t.Parallel()
	s := mcpserver.NewHTTPServer(func() mcpserver.Handler { return mcpserver.HandlerFunc(demo) })
	ctx, stop := context.WithCancel(t.Context())
	ready, done := make(chan string, 1), make(chan error, 1)
	go func() { done <- s.ListenHTTP(ctx, "127.0.0.2:0", func(url string) { ready <- url }) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	var base string
	select {
	case base = <-ready:
	case err := <-done:
		done <- nil
		t.Skip("no second loopback address here: ", err)
	}
	for _, row := range []struct {
		host, origin string
		want         int
	}{
		{"", "", http.StatusOK},
		{"localhost:80", "", http.StatusOK},
		{"LOCALHOST", "http://localhost:3000", http.StatusOK},
		{"[::1]:9", "http://[::1]", http.StatusOK},
		{"127.0.0.2:1", "http://127.0.0.1", http.StatusOK},
		{"evil.example", "", http.StatusForbidden},
		{"localhost.evil.example:80", "", http.StatusForbidden},
		{"192.0.2.1", "", http.StatusForbidden},
		{"", "http://evil.example", http.StatusForbidden},
		{"evil.example", "http://evil.example", http.StatusForbidden},
		{"", "null", http.StatusForbidden},
	} {
		req, err := http.NewRequestWithContext(within(t, time.Minute), http.MethodPost, base, strings.NewReader(
			`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Host = row.host
		if row.origin != "" {
			req.Header.Set("Origin", row.origin)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != row.want {
			t.Errorf("Host %q, Origin %q: got %d, want %d", row.host, row.origin, resp.StatusCode, row.want)
		}
	}
}
