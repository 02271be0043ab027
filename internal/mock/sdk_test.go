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

	wiremcp "mcptest/internal/mcp"
	"mcptest/internal/mock"
)

// sdk is the official Go client against a manifest, with what it was sent.
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

// waitFor looks until the notifications have come; the SDK hands them out on
// its own time.
func (s *sdk) waitFor(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for range 500 {
		s.mu.Lock()
		done := ok()
		s.mu.Unlock()
		if done {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%s did not come: %+v %+v %+v", what, s.logs, s.progress, s.updated)
}

// road is a way to a server: how the bytes go, and the revision the client asks for.
type road struct{ transport, revision string }

// stateless reports whether the revision has no sessions.
func (r road) stateless() bool { return !slices.Contains(wiremcp.SessionRevisions(), r.revision) }

// everyRoad runs a test over each transport at each revision.
func everyRoad(t *testing.T, test func(t *testing.T, r road)) {
	t.Parallel()
	for _, transport := range []string{"stdio", "http"} {
		for _, revision := range wiremcp.Revisions() {
			t.Run(transport+"/"+revision, func(t *testing.T) {
				t.Parallel()
				test(t, road{transport, revision})
			})
		}
	}
}

// open serves a manifest and returns the SDK's way to it.
func (r road) open(t *testing.T, ctx context.Context, m *mock.Manifest) mcp.Transport {
	t.Helper()
	if r.transport == "http" {
		server := mock.New(m, mock.Options{})
		web := wiremcp.NewHTTPServer(func() wiremcp.Handler { return server.Session() })
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

// connectSDK is the SDK's client at the newest revision over stdio.
func connectSDK(t *testing.T, m *mock.Manifest) *sdk {
	t.Helper()
	return road{"stdio", wiremcp.Revisions()[0]}.dial(t, m)
}

// connect opens a session of exactly the revision.
func (r road) connect(t *testing.T, m *mock.Manifest) *sdk {
	t.Helper()
	s := r.dial(t, m)
	if got := s.InitializeResult().ProtocolVersion; got != r.revision {
		t.Fatalf("the SDK speaks %s", got)
	}
	return s
}

func (r road) dial(t *testing.T, m *mock.Manifest) *sdk {
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

func preset(t *testing.T, name string) *mock.Manifest {
	t.Helper()
	m, err := mock.Preset(name)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// call calls a tool and shows its result: kinds and texts of the content.
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

func TestEverythingTools(t *testing.T) { everyRoad(t, everythingTools) }

func everythingTools(t *testing.T, r road) {
	s := r.connect(t, preset(t, "everything"))
	for _, c := range []struct {
		tool string
		args map[string]any
		want string
	}{
		{"test_simple_text", nil, "text This is a simple text response for testing."},
		{"test_image_content", nil, "image image/png 69"},
		{"test_audio_content", nil, "audio audio/wav 52"},
		{"test_embedded_resource", nil, "resource test://embedded-resource This is an embedded resource content."},
		{"test_resource_link", nil, "link test://static-text"},
		{"test_multiple_content_types", nil, `text Multiple content types test:; image image/png 69; resource test://mixed-content-resource {"test":"data","value":123}`},
		{"test_structured_content", map[string]any{"city": "Bern"}, `text {"city":"Bern","temperature":21.5,"conditions":"sunny"}; structured {"city":"Bern","conditions":"sunny","temperature":21.5}`},
		{"test_error_handling", nil, "failed; text This tool intentionally returns an error for testing"},
		{"test_protocol_error", nil, `error: calling "tools/call": This tool intentionally fails`},
		{"test_sampling", map[string]any{"prompt": "tea"}, "text LLM response: about tea"},
		{"test_sampling", nil, `failed; text Invalid arguments for tool test_sampling: missing property "prompt"`},
		{"test_elicitation", map[string]any{"message": "who?"}, `text User response: action=accept, content={"email":"a@b.c","username":"ada"}`},
		{"test_elicitation_sep1034_defaults", nil, `text Elicitation completed: action=accept, content={"age":30,"name":"John Doe","score":95.5,"status":"active","verified":true}`},
		{"test_elicitation_sep1330_enums", nil, `text Elicitation completed: action=accept, content={"untitledSingle":"option1"}`},
		{"test_roots", nil, `text [{"name":"r","uri":"file:///r"}]`},
		{"test_input_required_result_elicitation", nil, "text Hello, Alice!"},
		{"test_input_required_result_sampling", nil, "text about What is the capital of France?"},
		{"test_input_required_result_list_roots", nil, `text [{"name":"r","uri":"file:///r"}]`},
		{"test_input_required_result_request_state", nil, "text state-ok: accept"},
		{"test_input_required_result_multiple_inputs", nil, `text about Generate a greeting Alice, [{"name":"r","uri":"file:///r"}]`},
		{"test_input_required_result_multi_round", nil, "text Alice likes blue"},
		{"test_streaming_elicitation", nil, "text confirmed: true"},
		{"add_numbers", map[string]any{"a": 5, "b": 3}, "text The sum of 5 and 3 is 8"},
		{"counter", nil, `text {"counter":1}; structured {"counter":1}`},
		{"counter", map[string]any{"by": 5}, `text {"counter":6}; structured {"counter":6}`},
		{"note_read", map[string]any{"name": "a"}, "failed; text there is no note a"},
		{"note_save", map[string]any{"name": "a", "text": "hi"}, `text {"name":"a","uri":"test://notes/a"}; structured {"name":"a","uri":"test://notes/a"}`},
		{"note_read", map[string]any{"name": "a"}, `text {"name":"a","text":"hi"}; structured {"name":"a","text":"hi"}`},
		{"json_schema_2020_12_tool", map[string]any{"contactMethod": "phone"}, `failed; text Invalid arguments for tool json_schema_2020_12_tool: fits none of the 2 alternatives: missing property "phone"; or missing property "email"; missing property "phone"`},
	} {
		if got := s.call(t, c.tool, c.args); got != c.want {
			t.Errorf("%s: got %s\nwant %s", c.tool, got, c.want)
		}
	}
}

func TestEverythingDuringCalls(t *testing.T) { everyRoad(t, everythingDuringCalls) }

func everythingDuringCalls(t *testing.T, r road) {
	s := r.connect(t, preset(t, "everything"))
	if r.stateless() {
		p := &mcp.CallToolParams{Name: "test_tool_with_logging"}
		p.Meta = mcp.Meta{mcp.MetaKeyLogLevel: "info"}
		if _, err := s.CallTool(s.ctx, p); err != nil {
			t.Fatal(err)
		}
	} else {
		if err := s.SetLoggingLevel(s.ctx, &mcp.SetLoggingLevelParams{Level: "info"}); err != nil {
			t.Fatal(err)
		}
		s.call(t, "test_tool_with_logging", nil)
	}
	s.waitFor(t, "the log", func() bool {
		return slices.Equal(s.logs, []string{"info Tool execution started", "info Tool processing data", "info Tool execution completed"})
	})
	s.call(t, "test_tool_with_progress", nil)
	s.waitFor(t, "the progress", func() bool { return slices.Equal(s.progress, []float64{0, 50, 100}) })

	if err := s.Subscribe(s.ctx, &mcp.SubscribeParams{URI: "test://watched-resource"}); err != nil {
		t.Fatal(err)
	}
	if got := s.call(t, "test_touch_resource", nil); got != "text changed 1 times" {
		t.Error(got)
	}
	s.waitFor(t, "the update", func() bool { return slices.Equal(s.updated, []string{"test://watched-resource"}) })
}

func TestEverythingResourcesAndPrompts(t *testing.T) { everyRoad(t, everythingResourcesAndPrompts) }

func everythingResourcesAndPrompts(t *testing.T, r road) {
	s := r.connect(t, preset(t, "everything"))
	for uri, want := range map[string]string{
		"test://static-text":       "text/plain This is the content of the static text resource.",
		"test://template/123/data": `application/json {"id":"123","templateTest":true,"data":"Data for ID: 123"}`,
		"test://watched-resource":  "text/plain Watched resource content, changed 0 times",
	} {
		res, err := s.ReadResource(s.ctx, &mcp.ReadResourceParams{URI: uri})
		if err != nil {
			t.Errorf("%s: %v", uri, err)
		} else if got := res.Contents[0].MIMEType + " " + res.Contents[0].Text; got != want || res.Contents[0].URI != uri {
			t.Errorf("%s: got %q of %s, want %q", uri, got, res.Contents[0].URI, want)
		}
	}
	if res, err := s.ReadResource(s.ctx, &mcp.ReadResourceParams{URI: "test://static-binary"}); err != nil || !strings.HasPrefix(string(res.Contents[0].Blob), "\x89PNG") {
		t.Errorf("binary: %v %v", res, err)
	}
	for _, uri := range []string{"test://none", "test://notes/none"} {
		if _, err := s.ReadResource(s.ctx, &mcp.ReadResourceParams{URI: uri}); err == nil || !strings.Contains(err.Error(), "not found") {
			t.Errorf("%s: %v", uri, err)
		}
	}
	for _, c := range []struct {
		name string
		args map[string]string
		want string
	}{
		{"test_simple_prompt", nil, "user This is a simple prompt for testing."},
		{"test_prompt_with_arguments", map[string]string{"arg1": "hello", "arg2": "world"}, "user Prompt with arguments: arg1='hello', arg2='world'"},
		{"test_prompt_with_embedded_resource", map[string]string{"resourceUri": "test://x"}, "user resource test://x; user Please process the embedded resource above."},
		{"test_prompt_with_image", nil, "user image image/png; user Please analyze the image above."},
		{"test_input_required_result_prompt", nil, "user Use this context: tests"},
		{"test_conversation", nil, "user Tell me about tea.; assistant What would you like to know?; user Everything."},
	} {
		res, err := s.GetPrompt(s.ctx, &mcp.GetPromptParams{Name: c.name, Arguments: c.args})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var got []string
		for _, m := range res.Messages {
			switch content := m.Content.(type) {
			case *mcp.TextContent:
				got = append(got, string(m.Role)+" "+content.Text)
			case *mcp.ImageContent:
				got = append(got, string(m.Role)+" image "+content.MIMEType)
			case *mcp.EmbeddedResource:
				got = append(got, string(m.Role)+" resource "+content.Resource.URI)
			}
		}
		same(t, c.name, strings.Join(got, "; "), c.want)
	}
	res, err := s.Complete(s.ctx, &mcp.CompleteParams{
		Ref:      &mcp.CompleteReference{Type: "ref/prompt", Name: "test_prompt_with_arguments"},
		Argument: mcp.CompleteParamsArgument{Name: "arg1", Value: "par"},
	})
	if err != nil || !slices.Equal(res.Completion.Values, []string{"paris", "park", "party"}) {
		t.Errorf("completion: %v %v", res, err)
	}
}

// The names that the official conformance suite for servers relies on.
func TestEverythingHasTheFixtures(t *testing.T) {
	t.Parallel()
	s := connectSDK(t, preset(t, "everything"))
	have := map[string]bool{}
	for tool, err := range s.Tools(s.ctx, nil) {
		if err != nil {
			t.Fatal(err)
		}
		have[tool.Name] = true
		if tool.Description == "" {
			t.Errorf("tool %s has no description", tool.Name)
		}
		if tool.Name == "json_schema_2020_12_tool" {
			schema := tool.InputSchema.(map[string]any)
			for _, key := range []string{"$schema", "$defs", "additionalProperties", "allOf", "if", "then", "else"} {
				if _, ok := schema[key]; !ok {
					t.Errorf("%s: %s is missing", tool.Name, key)
				}
			}
		}
	}
	for r, err := range s.Resources(s.ctx, nil) {
		have[r.URI] = err == nil && r.Description != "" && r.MIMEType != ""
	}
	for r, err := range s.ResourceTemplates(s.ctx, nil) {
		have[r.URITemplate] = err == nil && r.Description != ""
	}
	for p, err := range s.Prompts(s.ctx, nil) {
		have[p.Name] = err == nil && p.Description != ""
	}
	for _, name := range []string{
		"test_simple_text", "test_image_content", "test_audio_content", "test_embedded_resource", "test_multiple_content_types",
		"test_tool_with_logging", "test_tool_with_progress", "test_error_handling", "test_sampling", "test_elicitation",
		"test_elicitation_sep1034_defaults", "test_elicitation_sep1330_enums", "json_schema_2020_12_tool", "test_reconnection",
		"test://static-text", "test://static-binary", "test://watched-resource", "test://template/{id}/data",
		"test_simple_prompt", "test_prompt_with_arguments", "test_prompt_with_embedded_resource", "test_prompt_with_image",
	} {
		if !have[name] {
			t.Errorf("%s is missing, or lacks a description or media type", name)
		}
	}
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
		{"echo", map[string]any{"message": 1, "more": 2}, `failed; text Invalid arguments for tool echo: message: want type string, got number 1; more: unexpected property "more"`},
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
