package compat

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"mcptest/internal/base/jsonv"
)

// The security rules find at least 95 of 100 descriptions that instruct the model, in
// each file, and all with hidden characters.
func TestPoisonedDescriptions(t *testing.T) {
	t.Parallel()
	for file, atLeast := range map[string]int{"poisoned.txt": 150, "poisoned-seen.txt": 90, "poisoned-held.txt": 90} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile("testdata/" + file)
			if err != nil {
				t.Fatal(err)
			}
			rules := builtinRules(t).Only(nil, []string{GroupSecurity})
			total, missed := 0, 0
			for line := range strings.Lines(string(data)) {
				line = strings.TrimSuffix(line, "\n")
				if strings.HasPrefix(line, "#") {
					continue
				}
				text, err := strconv.Unquote(`"` + strings.ReplaceAll(line, `"`, `\"`) + `"`)
				if err != nil {
					t.Fatalf("%s: %v", line, err)
				}
				total++
				if !poisoned(t, rules, text) {
					missed++
					t.Logf("missed: %s", line)
					if strings.Contains(line, `\`) {
						t.Errorf("hidden characters were not found: %s", line)
					}
				}
			}
			if total < atLeast || missed*20 > total {
				t.Errorf("%d of %d descriptions were missed, at most 1 in 20 is allowed", missed, total)
			}
		})
	}
}

// poisoned reports whether a security rule finds something in a description.
func poisoned(t *testing.T, rules Rules, description string) bool {
	t.Helper()
	tools := []jsonv.Value{jsonv.ObjectOf("name", "tool", "description", description), jsonv.ObjectOf("name", "send_mail"), jsonv.ObjectOf("name", "pay_invoice")}
	rep, err := Check(t.Context(), []List{{Tools: tools}}, rules, today)
	if err != nil {
		t.Fatal(err)
	}
	return len(rep.Findings) > 0
}

// Descriptions that resemble attacks are not reported.
func TestHarmlessDescriptions(t *testing.T) {
	t.Parallel()
	rules := builtinRules(t).Only(nil, []string{GroupSecurity})
	for _, text := range []string{
		"ℹ️ Reads a page. ⚠️ Costs credits. 1️⃣ First step.",
		"Plans a request. The assistant MUST NOT proceed to another task without the user's approval.",
		"Never publish a draft without the user's permission.",
		"Deletes a token. The token must not be used afterwards.",
		"Call list_items before this tool to learn the ids.",
		"Sends a mail. Do not include the password in the body.",
		"Shows instructions for the previous order.",
		"[IMPORTANT] The server has to be running. Lists the routes.",
		"Silently skips files that cannot be read and counts them.",
		"The password will not be shown in the response.",
		"Shows <name> and the system prompt of an agent.",
		"Proceed only after the user has confirmed. Do not skip the user's approval step.",
		"Replaces all firewall rules. Every variable that is not in the request is deleted.",
		"Runs a command. Its stdout is not visible to the user.",
		"Creates a key. The secret is never shown to the user again.",
		"Images are not shown to the user automatically; use Markdown to show them.",
		"Creates a share link and returns its secret to the user.",
		"The tool never reveals secrets to the user.",
		"Writes a note. It isn't visible to the user.",
		"Use this tool as a fallback when none of the other tools fits.",
		"Commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08.",
	} {
		tool := jsonv.Object(jsonv.Member{Key: "name", Value: jsonv.String("tool")}, jsonv.Member{Key: "description", Value: jsonv.String(text)})
		rep, err := Check(t.Context(), []List{{Tools: []jsonv.Value{tool}}}, rules, today)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range rep.Findings {
			t.Errorf("%s: %s", text, f.Rule)
		}
	}
}
