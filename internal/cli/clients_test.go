package cli_test

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"mcptest/internal/base/testkit"
)

// Clients of the SDKs get the same from a served cassette as from the server, over stdio
// and over HTTP.
func TestClientsOfCassettes(t *testing.T) {
	t.Parallel()
	needServers(t)
	script, err := filepath.Abs("../../testdata/servers/client.mjs")
	if err != nil {
		t.Fatal(err)
	}
	server := []string{"node", filepath.Join(filepath.Dir(script), "node_modules/@modelcontextprotocol/server-everything/dist/index.js")}
	typescript := func(version string) func(t *testing.T, target ...string) string {
		return func(t *testing.T, target ...string) string {
			t.Helper()
			out, err := exec.Command("node", append([]string{script, version}, target...)...).Output()
			if err != nil {
				t.Fatal(err)
			}
			return string(out)
		}
	}
	for name, client := range map[string]func(t *testing.T, target ...string) string{
		"typescript 1": typescript("1"), "typescript 2": typescript("2"), "go": goClient,
		"typescript 2, 2026-07-28": typescript("2026-07-28"), // it starts the server twice
	} {
		server := server
		if strings.HasSuffix(name, "2026-07-28") {
			server = []string{"mcptest", "mock", "--preset", "everything"}
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if (name == "typescript 1" || name == "typescript 2") && !testkit.Deep() {
				t.Skip("slow: make deep")
			}
			file := filepath.Join(t.TempDir(), "c.cassette.ndjson")
			direct := client(t, append([]string{"stdio", "mcptest", "record", "-q", "-o", file, "--"}, server...)...)
			if strings.Count(direct, "\n") < 100 {
				t.Fatal(direct)
			}
			if served := client(t, "stdio", "mcptest", "serve", "--cassette", file); served != direct {
				t.Errorf("from the server:\n%s\nfrom the cassette:\n%s", direct, served)
			}
			if served := client(t, "http", serveHTTP(t, file)); served != direct {
				t.Errorf("from the server:\n%s\nfrom the cassette over HTTP:\n%s", direct, served)
			}
		})
	}
}

// serveHTTP serves a cassette during a test, and returns the address.
func serveHTTP(t *testing.T, file string) string {
	t.Helper()
	web := exec.Command("mcptest", "serve", "--cassette", file, "--http", "127.0.0.1:0")
	said, err := web.StderrPipe()
	if err == nil {
		err = web.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = web.Process.Kill(); _ = web.Wait() })
	line, err := bufio.NewReader(said).ReadString('\n')
	_, url, ok := strings.Cut(strings.TrimSpace(line), "listening on ")
	if !ok {
		t.Fatal(line, err)
	}
	return url
}

// Over HTTP, a request that the recorded server sent after a notification comes with the
// next request.
func TestServeAsksAfterNotification(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "c.cassette.ndjson")
	err := os.WriteFile(file, []byte(`{"mcptest_cassette":1,"server":{},"protocol":"2025-11-25","transport":"stdio","masks":[]}
{"session":1,"at_ms":1,"dir":"to-server","message":{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"roots":{}},"clientInfo":{"name":"c","version":"1"}}}}
{"session":1,"at_ms":2,"dir":"from-server","message":{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}}
{"session":1,"at_ms":3,"dir":"to-server","message":{"jsonrpc":"2.0","method":"notifications/initialized"}}
{"session":1,"at_ms":4,"dir":"from-server","message":{"jsonrpc":"2.0","id":7,"method":"roots/list"}}
{"session":1,"at_ms":5,"dir":"to-server","message":{"jsonrpc":"2.0","id":7,"result":{"roots":[]}}}
{"session":1,"at_ms":6,"dir":"to-server","message":{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{}}}}
{"session":1,"at_ms":7,"dir":"from-server","message":{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"ok"}]}}}
`), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	asked := make(chan string, 10)
	client := mcp.NewClient(&mcp.Implementation{Name: "consumer", Version: "1"}, nil)
	client.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			asked <- method
			return next(ctx, method, req)
		}
	})
	s, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: serveHTTP(t, file)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "echo", Arguments: map[string]any{}}); err != nil {
			t.Error(err)
		}
	}
	_ = s.Close()
	if n := len(asked); n != 1 || <-asked != "roots/list" {
		t.Errorf("the client was asked %d times, expected one roots/list", n)
	}
}

// goClient is a client of the Go SDK that makes the same requests as client.mjs.
func goClient(t *testing.T, target ...string) string {
	t.Helper()
	var transport mcp.Transport = &mcp.StreamableClientTransport{Endpoint: target[1]}
	if target[0] == "stdio" {
		cmd := exec.Command(target[1], target[2:]...)
		cmd.Env = append(os.Environ(), "CI=") // recordings are refused in CI
		transport = &mcp.CommandTransport{Command: cmd}
	}
	ctx := context.Background()
	s, err := mcp.NewClient(&mcp.Implementation{Name: "consumer", Version: "1"}, nil).Connect(ctx, transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []any
	add := func(v any, err error) {
		if err != nil {
			v = err.Error()
		}
		got = append(got, v)
	}
	got = append(got, s.InitializeResult())
	tools, err := s.ListTools(ctx, nil)
	add(tools, err)
	resources, err := s.ListResources(ctx, nil)
	add(resources, err)
	prompts, err := s.ListPrompts(ctx, nil)
	add(prompts, err)
	for _, call := range []*mcp.CallToolParams{
		{Name: "echo", Arguments: map[string]any{"message": "hi"}},
		{Name: "get-sum", Arguments: map[string]any{"a": 2, "b": 3}},
		{Name: "get-tiny-image"},
		{Name: "no-such-tool"},
		{Name: "echo", Arguments: map[string]any{"message": "hi"}},
	} {
		result, err := s.CallTool(ctx, call)
		add(result, err)
	}
	read, err := s.ReadResource(ctx, &mcp.ReadResourceParams{URI: "demo://resource/static/document/architecture.md"})
	add(read, err)
	_ = s.Close()
	text, err := json.MarshalIndent(got, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
