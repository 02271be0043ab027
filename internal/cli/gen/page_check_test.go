package gen

import (
	"strings"

	"mcptest/internal/offer/compat"
)

// checkRulesPage lists the rules of `mcptest check` by profile.
func checkRulesPage() []byte {
	rules, err := compat.Builtin()
	if err != nil {
		panic(err) // the embedded rules are tested
	}
	p := newPage("Rules of mcptest check", "What clients and app directories do with tool definitions. `mcptest check --explain RULE` shows a rule in full.\n"+
		"*Observed* facts expire a year after the day in the last column; then a finding says that it was not confirmed since.")
	for _, profile := range rules.Profiles {
		p.printf("\n## %s: %s\n\n", profile.Name, profile.Title)
		p.row("rule", "level", "effect", "finding", "evidence")
		p.row("---", "---", "---", "---", "---")
		for _, r := range rules.Rules {
			if r.Profile == profile.Name {
				p.row("`"+r.ID+"`", string(r.Level), string(r.Effect), strings.ReplaceAll(r.Message, "|", "\\|"), "["+r.Basis+" "+r.Seen+"]("+r.Source+")")
			}
		}
	}
	return p.bytes()
}
