package compat

import (
	"strings"
	"testing"

	"mcptest/internal/base/jsonv"
)

// Lists that broke clients, rebuilt from the public reports of the incidents:
// each is predicted for the client that it broke, with the effect it had.
func TestIncidents(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		report, tools, profile string
		effect                 Effect
		rule                   string
	}{
		{
			"makenotion/notion-mcp-server#341", `{"name":"create_page","inputSchema":{"type":"object","properties":{},"anyOf":[{"required":["a"]},{"required":["b"]}]}}`,
			"claude", SessionLost, "claude-top-level-combinator",
		},
		{
			"opentokenz/mcpx#28", `{"name":"stats","inputSchema":{"type":"object"},"outputSchema":{"anyOf":[{"type":"object"},{"type":"null"}]}}`,
			"ts-sdk", SessionLost, "ts-sdk-output-type",
		},
		{
			"github/copilot-cli#4623", `{"name":"run","inputSchema":{"type":"object","properties":{"args":{"type":"array","items":{"type":["object","null"]}}}}}`,
			"gemini", SessionLost, "gemini-items-union",
		},
		{
			"anthropics/claude-code#19882", `{"name":"` + strings.Repeat("x", 60) + `","inputSchema":{"type":"object","properties":{}}}`,
			"claude", SessionLost, "claude-qualified-name",
		},
		{
			"anthropics/claude-code#77296", `{"name":"save","inputSchema":{"type":"object","description":"` + strings.Repeat("x", 16384) + `"}}`,
			"claude", ToolLost, "claude-input-size",
		},
		{
			"openai/codex#8174", `{"name":"calendar.respondToEvent","inputSchema":{"type":"object","properties":{}}}`,
			"openai", SessionLost, "openai-tool-name",
		},
		{
			"n8n-io/n8n#36361", `{"name":"get","inputSchema":{"type":"object"},"outputSchema":{"$schema":"http://json-schema.org/draft-07/schema#","type":"object"}}`,
			"claude", ToolLost, "claude-output-dialect",
		},
		{
			"PostHog/posthog#51483", `{"name":"warehouse-saved-queries-revert-materialization-create","inputSchema":{"type":"object","properties":{}}}`,
			"cursor", ToolLost, "cursor-combined-name",
		},
		{
			"twilio-labs/mcp#56", `{"name":"ListCall","inputSchema":{"type":"object","properties":{"StartTime<":{"type":"string"}}}}`,
			"claude", SessionLost, "claude-property-name",
		},
	} {
		tool, err := jsonv.Parse([]byte(tc.tools))
		if err != nil {
			t.Fatal(err)
		}
		rep, err := Check(t.Context(), []List{{Installed: "posthog", Tools: []jsonv.Value{tool}}}, builtinRules(t), today)
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, f := range rep.Findings {
			found = found || f.Rule == tc.rule && f.Profile == tc.profile && f.Effect == tc.effect
		}
		if !found {
			t.Errorf("%s: no %s for %s with effect %s", tc.report, tc.rule, tc.profile, tc.effect)
		}
	}
}

// A check of 100 tools is quick enough to run on every commit.
func BenchmarkHundredTools(b *testing.B) {
	tool := mustParse(b, `{"name":"get_item","title":"Get","description":"Gets an item by its id, with all its parts.","inputSchema":{"type":"object",
		"properties":{"id":{"type":"string","description":"The id."},"depth":{"type":"integer","minimum":0,"maximum":9,"default":1},
		"fields":{"type":"array","items":{"type":"string","enum":["a","b","c"]}}},"required":["id"]},"annotations":{"readOnlyHint":true}}`)
	l := List{Server: "s"}
	for range 100 {
		l.Tools = append(l.Tools, tool)
	}
	rules, err := Builtin()
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := Check(b.Context(), []List{l}, rules, today); err != nil {
			b.Fatal(err)
		}
	}
}

func mustParse(tb testing.TB, text string) jsonv.Value {
	tb.Helper()
	v, err := jsonv.Parse([]byte(text))
	if err != nil {
		tb.Fatal(err)
	}
	return v
}
