package probe

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mcptest/internal/client/protocol"
	"mcptest/internal/offer/ruleset"
)

// Each rule has an id of its own, a known family, and a sentence if it is binding.
func TestRulesAreComplete(t *testing.T) {
	rules, err := ruleset.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, r := range rules.Rules {
		if seen[r.ID] {
			t.Errorf("rule %s is listed twice", r.ID)
		}
		seen[r.ID] = true
		if !slices.ContainsFunc(rules.Families, func(f ruleset.Family) bool { return f.Name == r.Family }) {
			t.Errorf("rule %s: unknown family %q", r.ID, r.Family)
		}
		revisions := map[string]bool{}
		for _, c := range r.In {
			if c.Level != ruleset.Practice && (c.Sentence == "" || c.Clause == "") {
				t.Errorf("rule %s is %s without a clause or sentence", r.ID, c.Level)
			}
			for _, revision := range c.Revisions {
				if !protocol.VersionOf(revision).Known() || revisions[revision] {
					t.Errorf("rule %s: revision %q is unknown or listed twice", r.ID, revision)
				}
				revisions[revision] = true
			}
		}
	}
}

// Code and table name the same rules.
func TestRulesHaveCode(t *testing.T) {
	rules, err := ruleset.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var code strings.Builder
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		code.Write(data)
	}
	for _, r := range rules.Rules {
		if !strings.Contains(code.String(), `"`+r.ID+`"`) && !strings.HasPrefix(r.ID, "capability-") {
			t.Errorf("no code examines rule %s", r.ID)
		}
	}
	for _, m := range regexp.MustCompile(`(?:check\(ctx, |enter\()"([a-z0-9-]+)"`).FindAllStringSubmatch(code.String(), -1) {
		if _, ok := rules.Rule(m[1]); !ok && m[1] != "capability-" {
			t.Errorf("rule %s is examined, but not in the table", m[1])
		}
	}
}
