package verdict

import (
	"strings"

	"mcptest/internal/base/term"
	"mcptest/internal/offer/ruleset"
	"mcptest/internal/report/gate"
	"mcptest/internal/report/html"
)

// Document returns the report in every format.
func (r Report) Document(rules ruleset.Rules, on ruleset.Level, p term.Palette, version string) gate.Document {
	d := gate.Document{
		Title:    "mcptest probe:",
		Version:  version,
		Findings: r.listFindings(on),
		Text:     func(b *strings.Builder) { r.writeText(b, rules, p) },
		Markdown: func(b *strings.Builder) { r.writeMarkdown(b, rules) },
		JSON:     r.writeJSON,
		Page:     func() html.Sheet { return r.makePage(rules) },
	}
	for _, rule := range rules.Rules {
		d.Rules = append(d.Rules, gate.Rule{
			ID:   rule.ID,
			Text: rule.Text,
			Help: rule.Fix,
			URL:  rule.In[0].URL(rule.In[0].Revisions[len(rule.In[0].Revisions)-1]),
		})
	}
	return d
}

// listFindings returns the failures that no baseline accepts.
func (r Report) listFindings(on ruleset.Level) (out []gate.Finding) {
	for _, x := range r.listFailed() {
		level := "warning"
		switch {
		case x.Counts(on):
			level = "error"
		case x.Level == ruleset.Practice:
			level = "note"
		}
		for _, f := range x.Failures {
			if f.Accepted == "" {
				out = append(out, gate.Finding{
					Rule:    x.Rule,
					Level:   level,
					Subject: f.Subject,
					Message: x.Revision + ": " + f.Message,
					File:    r.File,
					Line:    r.Line,
				})
			}
		}
	}
	return out
}
