package gen

import (
	"strings"

	"mcptest/internal/offer/ruleset"
)

// probeRulesPage lists the rules of `mcptest probe` by family.
func probeRulesPage() []byte {
	rules, err := ruleset.Builtin()
	if err != nil {
		panic(err) // the embedded rules are tested
	}
	p := newPage("Rules of mcptest probe", "What the protocol requires of servers. `mcptest probe --explain RULE` shows a rule in full.\n"+
		"A rule of level *practice* has no clause in the specification; it never changes the score.")
	for _, family := range rules.Families {
		p.printf("\n## %s: %s\n\n", family.Name, family.Text)
		p.row("rule", "a correct server", "level", "revisions", "clause")
		p.row("---", "---", "---", "---", "---")
		for _, r := range rules.Rules {
			if r.Family != family.Name {
				continue
			}
			for _, c := range r.In {
				clause := "–"
				if address := c.URL(c.Revisions[len(c.Revisions)-1]); address != "" {
					clause = "[" + strings.ReplaceAll(strings.TrimPrefix(c.Clause, "https://"), "|", "\\|") + "](" + address + ")"
				}
				p.row("`"+r.ID+"`", strings.ReplaceAll(r.Text, "|", "\\|"), string(c.Level), c.Span(), clause)
			}
		}
	}
	return p.bytes()
}
