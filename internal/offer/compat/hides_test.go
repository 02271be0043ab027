package compat

import (
	"os"
	"slices"
	"strings"
	"testing"

	"mcptest/internal/base/jsonv"
)

// security-hides finds at least 95 of 100 texts that hide something from the user, and of 100
// texts that it accuses at least 95 do.
func TestHiddenFromTheUser(t *testing.T) {
	t.Parallel()
	rules := builtinRules(t).Only(nil, []string{GroupSecurity})
	rules.Rules = slices.DeleteFunc(rules.Rules, func(r Rule) bool { return r.ID != "security-hides" })
	if len(rules.Rules) != 1 {
		t.Fatal("no rule")
	}
	accused := func(file string) (n, total int) {
		data, err := os.ReadFile("testdata/" + file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			line = strings.TrimSpace(line)
			if strings.HasPrefix(line, "#") {
				continue
			}
			total++
			tool := jsonv.ObjectOf("name", "tool", "description", line)
			rep, err := Check(t.Context(), []List{{Tools: []jsonv.Value{tool}}}, rules, today)
			if err != nil {
				t.Fatal(err)
			}
			found := len(rep.Findings) > 0
			if found {
				n++
			}
			if found != (file == "hides.txt") {
				t.Logf("%s, accused %v: %s", file, found, line)
			}
		}
		return n, total
	}
	found, hiding := accused("hides.txt")
	wrong, harmless := accused("spared.txt")
	t.Logf("%d of %d found, %d of %d accused wrongly", found, hiding, wrong, harmless)
	if hiding < 200 || harmless < 200 {
		t.Errorf("%d and %d texts, expected 200 of each", hiding, harmless)
	}
	if recall := float64(found) / float64(hiding); recall < 0.95 {
		t.Errorf("the recall is %.3f", recall)
	}
	if precision := float64(found) / float64(found+wrong); precision < 0.95 {
		t.Errorf("the precision is %.3f", precision)
	}
}
