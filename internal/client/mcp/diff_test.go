package mcp_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/testkit"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/client/wire"
	"mcptest/internal/server/mcpserver"
)

type echoArgs struct {
	Text string `json:"text"`
}

// sdkServer is a server of the official SDK with one tool of each kind.
func sdkServer() *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "sdk", Version: "1"}, nil)
	sdk.AddTool(s, &sdk.Tool{Name: "echo"}, func(_ context.Context, _ *sdk.CallToolRequest, a echoArgs) (*sdk.CallToolResult, any, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: a.Text}}}, nil, nil
	})
	sdk.AddTool(s, &sdk.Tool{Name: "progress"}, func(ctx context.Context, r *sdk.CallToolRequest, _ any) (*sdk.CallToolResult, any, error) {
		for i := range 3 {
			if err := r.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: float64(i)}); err != nil {
				return nil, nil, err
			}
		}
		return &sdk.CallToolResult{}, nil, nil
	})
	sdk.AddTool(s, &sdk.Tool{Name: "ask"}, func(ctx context.Context, r *sdk.CallToolRequest, _ any) (*sdk.CallToolResult, any, error) {
		res, err := r.Session.Elicit(ctx, &sdk.ElicitParams{Mode: "form", Message: "who?"})
		if err != nil {
			return nil, nil, err
		}
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: res.Action}}}, nil, nil
	})
	sdk.AddTool(s, &sdk.Tool{Name: "wait"}, func(ctx context.Context, r *sdk.CallToolRequest, _ any) (*sdk.CallToolResult, any, error) {
		<-ctx.Done()
		return nil, nil, ctx.Err()
	})
	return s
}

// Our session with the SDK's server, in memory and as a process.
func TestSDKServer(t *testing.T) {
	for _, revision := range append([]string{""}, protocol.SessionVersions()...) {
		t.Run(revision, func(t *testing.T) {
			tr, rw := wire.NewPipe()
			server, err := sdkServer().Connect(t.Context(), &sdk.IOTransport{Reader: rw, Writer: rw}, nil)
			if err != nil {
				t.Fatal(err)
			}
			checkSDKServer(t, tr, revision)
			if err := server.Wait(); err != nil {
				t.Error(err)
			}
		})
		t.Run(revision+"/stdio", func(t *testing.T) {
			checkSDKServer(t, start(t, "sdk", wire.Limits{}), revision)
		})
	}
}

func serveSDK() {
	if err := sdkServer().Run(context.Background(), &sdk.StdioTransport{}); err != nil && err != io.EOF {
		os.Stderr.WriteString(err.Error() + "\n")
	}
}

func checkSDKServer(t *testing.T, tr wire.Transport, revision string) {
	elicit := func(_ context.Context, method string, _ []byte) ([]byte, *protocol.RPCError) {
		if method != "elicitation/create" {
			return nil, nil
		}
		return []byte(`{"action":"decline"}`), nil
	}
	s, err := mcp.Open(t.Context(), tr, mcp.Options{
		Protocol: revision, Answer: elicit,
		Capabilities: jsonv.Object(jsonv.Member{Key: "elicitation", Value: jsonv.Object()}),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if vs := s.TakeViolations(); len(vs) > 0 {
			t.Error(vs)
		}
		if stopped := s.Close(context.Background()); stopped.Forced {
			t.Error("the server had to be killed")
		}
	}()
	want := revision
	if revision == "" {
		want = protocol.SessionVersions()[0]
	}
	if s.Protocol() != want {
		t.Errorf("revision %s, want %s", s.Protocol(), want)
	}
	tool := func(name, args string, progress bool) *mcp.Exchange {
		x := s.Do(within(t, time.Minute), mcp.Call{Method: "tools/call", Params: []byte(`{"name":"` + name + `","arguments":` + args + `}`), ProgressToken: progress})
		testkit.Equal(t, name+": the cause", x.Cause, nil)
		testkit.Equal(t, name+": the violations", kinds(x.Violations), "")
		return x
	}
	if x := tool("echo", `{"text":"a\nb"}`, false); !strings.Contains(string(x.Result), `"text":"a\nb"`) {
		t.Errorf("echo: %s", x.Result)
	}
	if x := tool("progress", `{}`, true); methods(x.During) != strings.TrimSuffix(strings.Repeat("notification notifications/progress, ", 3), ", ") {
		t.Errorf("progress: %s %s", methods(x.During), x.Response)
	}
	if x := tool("ask", `{}`, false); !strings.Contains(string(x.Result), `"decline"`) || methods(x.During) != "request elicitation/create, answer elicitation/create" {
		t.Errorf("ask: %s %s", x.Response, methods(x.During))
	}
	if x := tool("nope", `{}`, false); x.RPCError() == nil || x.RPCError().Code != protocol.CodeInvalidParams {
		t.Errorf("nope: %s", x.Response)
	}
	x := s.Do(within(t, 50*time.Millisecond), mcp.Call{Method: "tools/call", Params: []byte(`{"name":"wait","arguments":{}}`)})
	if _, ok := x.Cause.(*mcp.TimeoutError); !ok {
		t.Errorf("wait: %v", x.Cause)
	}
	tool("echo", `{"text":"x"}`, false)
}

// The SDK's client with our server half.
func TestSDKClient(t *testing.T) {
	for _, revision := range protocol.SessionVersions() {
		t.Run(revision, func(t *testing.T) { checkSDKClient(t, revision) })
	}
}

func checkSDKClient(t *testing.T, revision string) {
	clientR, serverW := io.Pipe()
	serverR, clientW := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- mcpserver.ServeStdio(context.Background(), serverR, serverW, mcpserver.HandlerFunc(sdkHandler))
		serverW.Close()
	}()
	progress := make(chan float64, 9)
	client := sdk.NewClient(&sdk.Implementation{Name: "c", Version: "1"}, &sdk.ClientOptions{
		ElicitationHandler: func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"n": 1}}, nil
		},
		ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) { progress <- r.Params.Progress },
	})
	cs, err := client.Connect(t.Context(), &sdk.IOTransport{Reader: clientR, Writer: clientW}, &sdk.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		t.Fatal(err)
	}
	if got := cs.InitializeResult().ProtocolVersion; got != revision {
		t.Errorf("revision %s", got)
	}
	if err := cs.Ping(t.Context(), nil); err != nil {
		t.Error(err)
	}
	res, err := cs.CallTool(t.Context(), &sdk.CallToolParams{Name: "ask", Meta: sdk.Meta{"progressToken": "tok"}})
	if err != nil {
		t.Fatal(err)
	}
	if text := res.Content[0].(*sdk.TextContent).Text; text != `{"action":"accept","content":{"n":1}}` {
		t.Errorf("got %s", text)
	}
	if p := <-progress; p != 0.5 {
		t.Errorf("progress %v", p)
	}
	if _, err := cs.ListPrompts(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "no prompts") {
		t.Errorf("%v", err)
	}
	if err := cs.Close(); err != nil {
		t.Error(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// sdkHandler is a small server without an SDK.
func sdkHandler(ctx context.Context, r *mcpserver.Request) *mcpserver.Reply {
	switch r.Method {
	case "initialize":
		var p struct{ ProtocolVersion string }
		if err := json.Unmarshal(r.Params, &p); err != nil {
			return &mcpserver.Reply{Error: &protocol.RPCError{Code: protocol.CodeInvalidParams, Message: err.Error()}}
		}
		return &mcpserver.Reply{Result: []byte(`{"protocolVersion":"` + p.ProtocolVersion + `","capabilities":{"tools":{},"prompts":{}},"serverInfo":{"name":"s","version":"1"}}`)}
	case "ping":
		return &mcpserver.Reply{Result: []byte("{}")}
	case "tools/call":
		if err := r.Notify("notifications/progress", []byte(`{"progressToken":"tok","progress":0.5}`)); err != nil {
			return &mcpserver.Reply{Error: &protocol.RPCError{Code: protocol.CodeInternal, Message: err.Error()}}
		}
		v, err := r.Ask(ctx, "elicitation/create", []byte(`{"message":"m","requestedSchema":{"type":"object","properties":{"n":{"type":"integer"}}}}`))
		if err != nil {
			return &mcpserver.Reply{Error: &protocol.RPCError{Code: protocol.CodeInternal, Message: err.Error()}}
		}
		text := jsonv.String(v.String())
		return &mcpserver.Reply{Result: jsonv.Object(jsonv.Member{Key: "content", Value: jsonv.Array(
			jsonv.Object(jsonv.Member{Key: "type", Value: jsonv.String("text")}, jsonv.Member{Key: "text", Value: text}))}).Append(nil)}
	case "prompts/list":
		return &mcpserver.Reply{Error: &protocol.RPCError{Code: -1, Message: "no prompts"}}
	}
	return nil
}

// Our session with the official SDK's server over HTTP.
func TestHTTPSDKServer(t *testing.T) {
	server := sdkServer()
	get := func(*http.Request) *sdk.Server { return server }
	for name, h := range map[string]http.Handler{
		"stateful":  sdk.NewStreamableHTTPHandler(get, nil),
		"json":      sdk.NewStreamableHTTPHandler(get, &sdk.StreamableHTTPOptions{JSONResponse: true}),
		"stateless": sdk.NewStreamableHTTPHandler(get, &sdk.StreamableHTTPOptions{Stateless: true}),
		"sse":       sdk.NewSSEHandler(get, nil),
	} {
		for _, revision := range append([]string{mcp.Auto}, protocol.Versions()...) {
			t.Run(name+"/"+revision, func(t *testing.T) {
				srv := httptest.NewServer(h)
				defer srv.Close()
				s, err := openHTTP(t, srv.URL, wire.HTTPOptions{}, mcp.Options{Protocol: revision})
				if revision == "2026-07-28" && name != "stateless" {
					if err == nil {
						t.Errorf("%s server speaks %s", name, s.Protocol())
						s.Close(context.Background())
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close(context.Background())
				for range 3 {
					x := s.Do(within(t, time.Minute), mcp.Call{Method: "tools/call", Params: []byte(`{"name":"echo","arguments":{"text":"a\nb"}}`)})
					testkit.Equal(t, "the call", outcomeOf(x), outcome{Result: string(x.Result)})
					if !strings.Contains(string(x.Result), `a\nb`) {
						t.Errorf("response %s", x.Response)
					}
				}
				if v := s.TakeViolations(); len(v) > 0 {
					t.Error(v)
				}
				want := revision
				if revision == mcp.Auto {
					if want = "2025-11-25"; name == "stateless" {
						want = "2026-07-28"
					}
				}
				if s.Protocol() != want {
					t.Errorf("revision %s, want %s", s.Protocol(), want)
				}
			})
		}
	}
}
