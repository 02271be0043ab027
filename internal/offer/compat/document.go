package compat

import (
	"fmt"
	"strings"

	"mcptest/internal/base/lists"
	"mcptest/internal/base/term"
	"mcptest/internal/report/gate"
)

// Document returns a report in every format.
func Document(r Report, rules Rules, p term.Palette, version string) gate.Document {
	return gate.Document{
		Title: "mcptest check:", Version: version, Rules: listGateRules(rules), Findings: r.listGateFindings(),
		Text: func(b *strings.Builder) { r.writeText(b, p) }, Markdown: r.writeMarkdown, JSON: r.writeJSON,
		Page: r.makePage,
	}
}

// listGateRules returns the rules for SARIF.
func listGateRules(rules Rules) []gate.Rule {
	return lists.Map(rules.All(), func(r Rule) gate.Rule {
		url := r.Source
		if isOpening(r.ID) || isResult(r.ID) {
			url = "" // it names threads and captures
		}
		return gate.Rule{ID: r.ID, Text: r.Profile + ": " + r.Message, Help: r.Fix, URL: url}
	})
}

// listGateFindings returns the findings for SARIF and GitHub.
func (r Report) listGateFindings() (out []gate.Finding) {
	for _, f := range r.Findings {
		level := string(f.Level)
		if f.Level == LevelAdvice {
			level = "note"
		}
		subject := f.describePlace()
		if f.Tool != "" {
			subject = "tool " + f.describePlace()
		}
		out = append(out, gate.Finding{
			Rule: f.Rule, Level: level, Subject: subject, Pointer: f.Pointer, File: f.File, Line: f.Line,
			Message: fmt.Sprintf("%s (%s: %s). Fix: %s", f.Message, f.Profile, f.Effect, f.Fix),
		})
	}
	return out
}
