package compat

import (
	"fmt"
	"strings"
	"testing"

	"mcptest/internal/base/source"
)

const ownRule = `profiles:
  - {name: house, group: clients, title: Our gateway}
rules:
  - id: house-prefix
    profile: house
    effect: tool lost
    level: error
    basis: documented
    source: https://example.com/gateway
    seen: 2026-11-22
    on: name
    must: {pattern: "^acme_"}
    message: the name {value} does not begin with acme_
    fix: begin the name with acme_
    fails: {name: get}
    passes: {name: acme_get}
`

// A mistake in a file of rules is reported at its line; no rule of the file is
// applied to its examples before it is known to be complete.
func TestOwnRules(t *testing.T) {
	t.Parallel()
	rules := builtinRules(t)
	for _, c := range []struct{ name, old, new, want string }{
		{"as it is", "", "", ""},
		{"misspelled effect", "effect: tool lost", "effect: tool gone", `6:13: expected "session lost"`},
		{"empty effect", "effect: tool lost", `effect: ""`, `6:13: expected "session lost"`},
		{"no effect", "    effect: tool lost\n", "", `4:5: missing key "effect"`},
		{"misspelled level", "level: error", "level: fatal", `7:12: expected "error"`},
		{"id of a built-in rule", "house-prefix", "claude-tool-name", `4:9: duplicate rule "claude-tool-name"`},
		{"id of the program", "house-prefix", "stale-baseline", `4:9: duplicate rule "stale-baseline"`},
		{"the same id twice", "profiles:", "profiles: []\nrules:", "unused"},
		{"profile all", "name: house", "name: all", `2:12: "all" cannot be the name of a profile`},
		{"profile baseline", "name: house", "name: baseline", `2:12: "baseline" cannot be the name of a profile`},
		{"built-in profile", "name: house", "name: claude", `2:12: duplicate profile "claude"`},
		{"empty profile", "name: house", `name: ""`, `2:12: must not be empty`},
		{"placeholder in message", "{value}", "{valu}", `13:14: unknown placeholder {valu} (did you mean "value"?)`},
		{"placeholder in fix", "with acme_\n    fails", "with {prefix}\n    fails", `14:10: unknown placeholder {prefix}`},
		{"placeholder of the profile", "group: clients", `group: clients, qualified_name: "{srv}_{tool}"`, `unknown placeholder {srv}`},
		{"empty fix", "fix: begin the name with acme_", `fix: " "`, `14:10: must not be empty`},
		{"empty message", "message: the name {value} does not begin with acme_", `message: ""`, `13:14: must not be empty`},
		{"seen in the future", "seen: 2026-11-22", "seen: 2999-01-01", `4:5: rule "house-prefix": seen: 2999-01-01 is in the future`},
		{"source", "https://example.com/gateway", "foo", `9:13: expected a URL that begins with https:// or http://, got "foo"`},
	} {
		text := strings.Replace(ownRule, c.old, c.new, 1)
		if c.want == "unused" {
			_, second, _ := strings.Cut(ownRule, "rules:\n")
			text, c.want = ownRule+second, `17:9: duplicate rule "house-prefix"`
		}
		loaded, ds := rules.Load(&source.File{Name: "own.yml", Data: []byte(text)})
		switch {
		case c.want == "" && (len(ds) > 0 || len(loaded.Rules) != len(rules.Rules)+1):
			t.Errorf("%s: %v", c.name, ds)
		case c.want != "" && (len(ds) == 0 || !strings.Contains(fmt.Sprintf("%d:%d: %s", ds[0].Pos.Line, ds[0].Pos.Col, ds[0].Msg), c.want)):
			t.Errorf("%s: %v, expected %s", c.name, ds, c.want)
		}
	}
}
