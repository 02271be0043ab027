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
