package mock_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"mcptest/internal/base/testkit"
	"mcptest/internal/client/protocol"
	"mcptest/internal/server/manifest"
	"mcptest/internal/server/mcpserver"
	"mcptest/internal/server/mock"
)

// sdk is the official Go client of a manifest, with the messages that it received.
type sdk struct {
	*mcp.ClientSession
	ctx context.Context

	mu       sync.Mutex
	logs     []string
	progress []float64
	updated  []string
	asked    []string
}

func (s *sdk) note(fn func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fn()
}

// waitFor waits for the notifications; the SDK delivers them asynchronously.
func (s *sdk) waitFor(t *testing.T, what string, ok func() bool) {
	t.Helper()
	if !testkit.Poll(time.Minute, func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return ok()
	}) {
		t.Errorf("%s did not come: %+v %+v %+v", what, s.logs, s.progress, s.updated)
	}
}

// road is a way to reach a server: the transport, and the version that the client
// requests.
type road struct{ transport, revision string }

// stateless reports whether the revision has no sessions.
func (r road) stateless() bool { return !slices.Contains(protocol.SessionVersions(), r.revision) }

// everyRoad runs a test over each transport with each protocol version.
func everyRoad(t *testing.T, test func(t *testing.T, r road)) {
	t.Parallel()
	for _, transport := range []string{"stdio", "http"} {
		for _, revision := range protocol.Versions() {
			t.Run(transport+"/"+revision, func(t *testing.T) {
				t.Parallel()
				test(t, road{transport, revision})
			})
		}
	}
}

// open serves a manifest and returns the SDK's transport to it.
func (r road) open(t *testing.T, ctx context.Context, m *manifest.Manifest) mcp.Transport {
	t.Helper()
	if r.transport == "http" {
		server := mock.New(m, mock.Options{})
		web := mcpserver.NewHTTPServer(func() mcpserver.Handler { return server.Session() })
		srv := httptest.NewServer(web)
		t.Cleanup(func() {
			srv.CloseClientConnections()
			web.Close()
			srv.Close()
			server.Close()
		})
		return &mcp.StreamableClientTransport{Endpoint: srv.URL, HTTPClient: srv.Client()}
	}
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = mock.New(m, mock.Options{}).ServeStdio(ctx, inR, outW)
		outW.Close()
		inR.Close()
	}()
	t.Cleanup(func() {
		inW.Close()
		<-done
		outR.Close()
	})
	return &mcp.IOTransport{Reader: outR, Writer: inW}
}

// connectSDK connects the SDK's client over stdio with the newest protocol version.
func connectSDK(t *testing.T, m *manifest.Manifest) *sdk {
	t.Helper()
	return road{"stdio", protocol.Versions()[0]}.dial(t, m)
}

// connect opens a session of exactly the revision.
func (r road) connect(t *testing.T, m *manifest.Manifest) *sdk {
	t.Helper()
	s := r.dial(t, m)
	if got := s.InitializeResult().ProtocolVersion; got != r.revision {
		t.Fatalf("the SDK speaks %s", got)
	}
	return s
}

func (r road) dial(t *testing.T, m *manifest.Manifest) *sdk {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	s := &sdk{ctx: ctx}
	transport := r.open(t, ctx, m)
	client := mcp.NewClient(&mcp.Implementation{Name: "sdk", Version: "1"}, s.options())
	client.AddRoots(&mcp.Root{URI: "file:///r", Name: "r"})
	session, err := client.Connect(ctx, transport, &mcp.ClientSessionOptions{ProtocolVersion: r.revision})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	s.ClientSession = session
	return s
}

func (s *sdk) options() *mcp.ClientOptions {
	return &mcp.ClientOptions{
		LoggingMessageHandler: func(_ context.Context, r *mcp.LoggingMessageRequest) {
			s.note(func() { s.logs = append(s.logs, fmt.Sprintf("%s %v", r.Params.Level, r.Params.Data)) })
		},
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			s.note(func() { s.progress = append(s.progress, r.Params.Progress) })
		},
		ResourceUpdatedHandler: func(_ context.Context, r *mcp.ResourceUpdatedNotificationRequest) {
			s.note(func() { s.updated = append(s.updated, r.Params.URI) })
		},
		CreateMessageHandler: func(_ context.Context, r *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
			prompt := r.Params.Messages[0].Content.(*mcp.TextContent).Text
			return &mcp.CreateMessageResult{Role: "assistant", Model: "m", Content: &mcp.TextContent{Text: "about " + prompt}}, nil
		},
		ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			schema, _ := json.Marshal(r.Params.RequestedSchema)
			s.note(func() { s.asked = append(s.asked, r.Params.Message+" "+string(schema)) })
			content := map[string]any{}
			for part, given := range map[string]map[string]any{
				`"untitledSingle"`: {"untitledSingle": "option1"},
				`"username"`:       {"username": "ada", "email": "a@b.c"},
				`{"name":{"type"`:  {"name": "Alice"},
				`"color"`:          {"color": "blue"},
				`"context"`:        {"context": "tests"},
				`"ok"`:             {"ok": true},
			} {
				if strings.Contains(string(schema), part) && !strings.Contains(string(schema), "default") {
					content = given
				}
			}
			return &mcp.ElicitResult{Action: "accept", Content: content}, nil
		},
	}
}

func preset(t *testing.T, name string) *manifest.Manifest {
	t.Helper()
	m, err := manifest.Preset(name)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// call calls a tool and returns its result: kinds and texts of the content.
func (s *sdk) call(t *testing.T, name string, args map[string]any) string {
	t.Helper()
	p := &mcp.CallToolParams{Name: name, Arguments: args}
	p.SetProgressToken("p")
	res, err := s.CallTool(s.ctx, p)
	if err != nil {
		return "error: " + err.Error()
	}
	var parts []string
	if res.IsError {
		parts = append(parts, "failed")
	}
	for _, c := range res.Content {
		switch c := c.(type) {
		case *mcp.TextContent:
			parts = append(parts, "text "+c.Text)
		case *mcp.ImageContent:
			parts = append(parts, fmt.Sprintf("image %s %d", c.MIMEType, len(c.Data)))
		case *mcp.AudioContent:
			parts = append(parts, fmt.Sprintf("audio %s %d", c.MIMEType, len(c.Data)))
		case *mcp.EmbeddedResource:
			parts = append(parts, "resource "+c.Resource.URI+" "+c.Resource.Text)
		case *mcp.ResourceLink:
			parts = append(parts, "link "+c.URI)
		}
	}
	if res.StructuredContent != nil {
		b, _ := json.Marshal(res.StructuredContent)
		parts = append(parts, "structured "+string(b))
	}
	return strings.Join(parts, "; ")
}

func TestEchoPreset(t *testing.T) {
	t.Parallel()
	s := connectSDK(t, preset(t, "echo"))
	for _, c := range []struct {
		tool string
		args map[string]any
		want string
	}{
		{"echo", map[string]any{"message": "hi"}, "text hi"},
		{"echo", map[string]any{"message": 1, "more": 2}, `failed; text Invalid arguments for tool echo: message: expected type string, got number 1; more: unexpected property "more"`},
		{"add", map[string]any{"a": 1.5, "b": -2}, `text {"sum":-0.5}; structured {"sum":-0.5}`},
		{"fail", nil, "failed; text it failed"},
		{"refuse", nil, `error: calling "tools/call": refused`},
		{"slow", map[string]any{"ms": 1}, "text done"},
		{"structured", nil, `text {"name":"widget","tags":["small","green"],"size":3}; structured {"name":"widget","size":3,"tags":["small","green"]}`},
		{"count", nil, `text {"count":1}; structured {"count":1}`},
		{"count", nil, `text {"count":2}; structured {"count":2}`},
		{"flaky", nil, "failed; text not this time"},
		{"flaky", nil, "text ok"},
		{"flaky", nil, "failed; text not this time"},
	} {
		if got := s.call(t, c.tool, c.args); got != c.want {
			t.Errorf("%s: got %s\nwant %s", c.tool, got, c.want)
		}
	}
}

func TestPagesAreFollowed(t *testing.T) {
	t.Parallel()
	s := connectSDK(t, load(t, shelf))
	var names []string
	for tool, err := range s.Tools(s.ctx, nil) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, tool.Name)
	}
	for r, err := range s.Resources(s.ctx, nil) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, r.URI)
	}
	same(t, "names", strings.Join(names, " "), "free typed unchecked touch a://one a://two a://three a://four")
}
