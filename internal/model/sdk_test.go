package model_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/model"
)

// compiler returns the TypeScript compiler of testdata/consumers, and the folder of its
// packages. Without them the test is skipped; with MCPTEST_REQUIRE_SERVERS it fails.
func compiler(t *testing.T) (tsc, modules string) {
	t.Helper()
	modules, _ = filepath.Abs(filepath.Join("..", "..", "testdata", "consumers", "node_modules"))
	missing := ""
	if _, err := exec.LookPath("node"); err != nil {
		missing = "node is not installed"
	}
	for _, name := range []string{"openai", "@anthropic-ai/sdk", "typescript"} {
		if _, err := os.Stat(filepath.Join(modules, name)); err != nil {
			missing = "the packages of testdata/consumers are not installed: make servers"
		}
	}
	switch {
	case missing == "":
	case os.Getenv("MCPTEST_REQUIRE_SERVERS") != "":
		t.Fatal(missing)
	default:
		t.Skip(missing)
	}
	return filepath.Join(modules, "typescript", "bin", "tsc"), modules
}

// requestsOf returns the bodies that a client sends in one form: a conversation with all
// that it may have, the smallest one, one of a judge, and one to an endpoint that refuses
// parameters.
func requestsOf(t *testing.T, api string) []jsonv.Value {
	t.Helper()
	schema, _ := jsonv.Parse([]byte(`{"type":"object","properties":{"number":{"type":"integer"},"labels":{"type":"array","items":{"type":"string"}}},"required":["number"],"additionalProperties":false}`))
	args, _ := jsonv.Parse([]byte(`{"number":42,"labels":["bug"]}`))
	tools := []model.Tool{{Name: "get_issue", Description: "Reads an issue.", Schema: schema}, {Name: "get_me", Schema: jsonv.ObjectOf("type", "object")}}
	turns := []model.Message{
		{Role: "user", Text: "Show me issue 42."},
		{Role: "assistant", Text: "I look it up.", Calls: []model.Call{{ID: "a", Name: "get_issue", Arguments: args}, {ID: "b", Name: "get_me"}}},
		{Role: "tool", ID: "a", Text: "no such issue", IsError: true},
		{Role: "tool", ID: "b", Text: "ada"},
		{Role: "assistant", Calls: []model.Call{{ID: "c", Name: "get_me"}}},
		{Role: "tool", ID: "c", Text: ""},
	}
	ctx, zero := context.Background(), 0.0
	refuse := ""
	c, e := serve(t, model.Options{API: api, Temperature: &zero, AnswerTokens: 100}, func(_ int, w http.ResponseWriter, body jsonv.Value) {
		for _, name := range strings.Fields(refuse) {
			if !body.Lookup(name).IsAbsent() {
				http.Error(w, `{"error":{"message":"unsupported: `+name+`"}}`, http.StatusBadRequest)
				return
			}
		}
		if text := `{\"score\": 1, \"reason\": \"r\", \"quote\": \"It is #42.\"}`; api == model.Anthropic {
			fmt.Fprintf(w, `{"content":[{"type":"text","text":"%s"}],"stop_reason":"end_turn"}`, text)
		} else {
			fmt.Fprintf(w, `{"choices":[{"message":{"content":"%s"},"finish_reason":"stop"}]}`, text)
		}
	})
	ask := func(system string, turns []model.Message, tools []model.Tool) {
		t.Helper()
		if _, err := c.Answer(ctx, system, turns, tools); err != nil {
			t.Fatal(err)
		}
	}
	ask("You maintain repositories.", turns, tools)
	ask("", turns[:1], nil)
	if _, err := c.Grade(ctx, "It names an issue.", "It is #42.", 3); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Chat(ctx, "", turns[:4], tools); err != nil {
		t.Fatal(err)
	}
	if refuse = "temperature"; api == model.OpenAI {
		refuse += " seed max_tokens"
	}
	ask("You maintain repositories.", turns, tools)
	return e.bodies
}

// The official packages of both providers accept the requests: each body is a value of
// the type that their own method takes, with no member that it does not know. That of
// Anthropic knows no temperature since its version 1: bodies with one are examined apart
// from it. The compiler refuses bodies that are slightly wrong, so it does examine them.
func TestRequestsFitTheTypesOfTheSDKs(t *testing.T) {
	t.Parallel()
	tsc, modules := compiler(t)
	dir := t.TempDir()
	if err := os.Symlink(modules, filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	var right, wrong strings.Builder
	right.WriteString(`import type { ChatCompletionCreateParamsNonStreaming as OpenAI } from "openai/resources/chat/completions";
import type { MessageCreateParamsNonStreaming as Anthropic } from "@anthropic-ai/sdk/resources/messages";
`)
	n, faults := 0, 0
	for _, form := range []struct {
		api, kind string
		faults    [][2]string
	}{
		{model.OpenAI, "OpenAI", [][2]string{
			{`"role":"tool"`, `"role":"tools"`}, {`"max_completion_tokens"`, `"max_token"`}, {`"arguments":"`, `"argument":"`}, {`"tool_call_id":`, `"tool_use_id":`}, {`"type":"function"`, `"type":"tool"`},
		}},
		{model.Anthropic, "Anthropic", [][2]string{
			{`"type":"tool_result"`, `"type":"tool_results"`}, {`"max_tokens"`, `"max_token"`}, {`"is_error":true`, `"is_error":1`}, {`"input_schema":`, `"parameters":`}, {`"role":"user"`, `"role":"tool"`},
		}},
	} {
		bodies := requestsOf(t, form.api)
		for _, body := range bodies {
			n++
			kind := form.kind
			if form.api == model.Anthropic && !body.Lookup("temperature").IsAbsent() {
				kind += " & {temperature: number}" // sent again without it, if an endpoint refuses it
			}
			fmt.Fprintf(&right, "export const body%d: %s = %s;\n", n, kind, body)
		}
		for _, fault := range form.faults {
			whole := bodies[len(bodies)-1].String() // as the package knows it
			text := strings.Replace(whole, fault[0], fault[1], 1)
			if text == whole {
				t.Fatalf("%s has no %s: %s", form.api, fault[0], text)
			}
			faults++
			fmt.Fprintf(&wrong, "// @ts-expect-error\nexport const wrong%d: %s = %s;\n", faults, form.kind, text)
		}
	}
	for name, text := range map[string]string{
		"requests.ts": right.String() + wrong.String(),
		"tsconfig.json": `{"compilerOptions": {"noEmit": true, "strict": true, "skipLibCheck": true, "types": [], "lib": ["es2022"], "module": "esnext", "moduleResolution": "bundler", "target": "es2022"},
			"files": ["requests.ts"]}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command("node", tsc, "-p", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%d requests fit, %d wrong ones do not", n, faults)
}
