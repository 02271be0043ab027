package gen

import (
	"encoding/json"
	"os"
	"path/filepath"
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

// plantedTable is written by a test of the planted servers.
var plantedTable = filepath.Join("..", "..", "run", "probe", "testdata", "planted.json")

// probePlantedPage shows what provokes each rule of `mcptest probe`, and which servers break
// it in the tests.
func probePlantedPage() []byte {
	var rows []struct {
		Rule, Provoked string
		Planted        []string
	}
	data, err := os.ReadFile(plantedTable)
	if err == nil {
		err = json.Unmarshal(data, &rows)
	}
	if err != nil {
		panic(err) // a test compares the file with the servers
	}
	p := newPage("Planted servers of mcptest probe", "What provokes each rule, and the servers of the tests that break it and must be found. The first ones of a rule break it where one looks last.")
	p.printf("\n")
	p.row("rule", "provoked by", "planted")
	p.row("---", "---", "---")
	for _, r := range rows {
		p.row("`"+r.Rule+"`", r.Provoked, strings.ReplaceAll(strings.Join(r.Planted, "<br>"), "|", "\\|"))
	}
	return p.bytes()
}
