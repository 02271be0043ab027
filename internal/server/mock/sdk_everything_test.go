package mock_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

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
