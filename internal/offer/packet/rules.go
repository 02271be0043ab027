package packet

import (
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/offer/compat"
)

// countBrokenRules counts the rules of the directory of some level that the server breaks.
func (p *page) countBrokenRules(level compat.Level) (n int) {
	for _, rule := range p.listDirectoryRules() {
		if len(p.listFindings(rule.ID)) > 0 && rule.Level == level {
			n++
		}
	}
	return n
}

// listDirectoryRules returns the rules about the directory.
func (p *page) listDirectoryRules() (rules []compat.Rule) {
	for _, rule := range p.Rules.Rules {
		if rule.Profile == p.form.Directory {
			rules = append(rules, rule)
		}
	}
	return rules
}

// listFindings returns those of one rule.
func (p *page) listFindings(rule string) (found []compat.Finding) {
	for _, f := range p.Report.Findings {
		if f.Rule == rule {
			found = append(found, f)
		}
	}
	return found
}

// maxPlaces bounds the places that break a rule.
const maxPlaces = 10

// writeRules writes which limits of the directory are kept, and what else a reviewer may see.
func (p *page) writeRules() {
	p.printf("\n## Limits of the directory\n\n| rule | | where | fix |\n|---|---|---|---|\n")
	for _, rule := range p.listDirectoryRules() {
		found := p.listFindings(rule.ID)
		if len(found) == 0 {
			p.printf("| [%s](<%s>) | ✓ kept | | |\n", p.text(rule.ID), rule.Source)
			continue
		}
		mark := "✗ broken"
		if rule.Level != compat.LevelError {
			mark = "! " + string(rule.Level)
		}
		p.printf("| [%s](<%s>) | %s |", p.text(rule.ID), rule.Source, mark)
		p.printf(" %s | %s |\n", p.joinPlaces(found), p.text(rule.Fix))
	}
	var others []compat.Finding
	for _, f := range p.Report.Findings {
		if f.Profile != p.form.Directory && f.Level != compat.LevelAdvice {
			others = append(others, f)
		}
	}
	if len(others) == 0 {
		return
	}
	p.printf("\nWhat else `mcptest check` found, which a reviewer may ask about:\n\n")
	for _, f := range others[:min(len(others), maxNames)] {
		place := f.Tool
		if place == "" {
			place = f.Subject
		}
		p.printf("- %s (%s, %s): %s\n", p.quoteCode(place), f.Level, p.text(f.Rule), p.text(f.Message))
	}
}

// joinPlaces names the tools of findings.
func (p *page) joinPlaces(found []compat.Finding) string {
	names := []string{}
	for _, f := range found[:min(len(found), maxPlaces)] {
		name := f.Tool
		if name == "" {
			name = f.Subject
		}
		names = append(names, p.cell(name))
	}
	if more := len(found) - len(names); more > 0 {
		names = append(names, "and "+display.Count(more, "more place"))
	}
	return strings.Join(names, ", ")
}
