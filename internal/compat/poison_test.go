package compat

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"mcptest/internal/jsonv"
)

// The security rules find the descriptions of testdata/poisoned.txt: all with
// hidden characters, and at least 95 of 100 in total.
func TestPoisonedDescriptions(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/poisoned.txt")
	if err != nil {
		t.Fatal(err)
	}
	rules := builtinRules(t).Only(nil, []string{GroupSecurity})
	others := []jsonv.Value{}
	for _, name := range []string{"send_mail", "pay_invoice"} {
		others = append(others, jsonv.Object(jsonv.Member{Key: "name", Value: jsonv.String(name)}))
	}
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
		tool := jsonv.Object(jsonv.Member{Key: "name", Value: jsonv.String("tool")}, jsonv.Member{Key: "description", Value: jsonv.String(text)})
		rep, err := Check(t.Context(), []List{{Tools: append([]jsonv.Value{tool}, others...)}}, rules, today)
		if err != nil {
			t.Fatal(err)
		}
		total++
		if len(rep.Findings) == 0 {
			missed++
			t.Logf("missed: %s", line)
			if strings.Contains(line, `\`) {
				t.Errorf("hidden characters were not found: %s", line)
			}
		}
	}
	if total < 150 || missed*20 > total {
		t.Errorf("%d of %d descriptions were missed, at most 1 in 20 is allowed", missed, total)
	}
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
