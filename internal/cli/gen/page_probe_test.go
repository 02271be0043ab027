package gen

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
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
		p.row("rule", "a correct server", "level", "revisions and their clauses", "sentence")
		p.row("---", "---", "---", "---", "---")
		for _, r := range rules.Rules {
			if r.Family != family.Name {
				continue
			}
			for _, c := range r.In {
				p.row("`"+r.ID+"`", r.Text, string(c.Level), linkClauses(c), cmp.Or(c.Sentence, "–"))
			}
		}
	}
	writeRevisions(p, rules)
	return p.bytes()
}

// linkClauses lists the revisions of a claim, each with a link to the page that says it.
func linkClauses(c ruleset.Claim) string {
	links := make([]string, len(c.Revisions))
	for i, revision := range c.Revisions {
		links[i] = revision
		if address := c.URL(revision); address != "" {
			links[i] = "[" + revision + "](" + address + ")"
		}
	}
	return strings.Join(links, ", ")
}

// writeRevisions shows which rules hold in which revision.
func writeRevisions(p *page, rules ruleset.Rules) {
	revisions := rules.Revisions()
	p.printf("\n## The rules of each revision\n\n")
	p.row(append([]string{"rule"}, revisions...)...)
	p.row(slices.Repeat([]string{"---"}, len(revisions)+1)...)
	counts := make([]int, len(revisions))
	for _, r := range rules.Rules {
		cells := []string{"`" + r.ID + "`"}
		for i, revision := range revisions {
			c, ok := r.Claim(revision)
			if !ok {
				cells = append(cells, "–")
				continue
			}
			counts[i]++
			cells = append(cells, string(c.Level))
		}
		p.row(cells...)
	}
	total := []string{"rules"}
	for _, n := range counts {
		total = append(total, strconv.Itoa(n))
	}
	p.row(total...)
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
