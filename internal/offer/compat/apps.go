package compat

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"mcptest/internal/offer/apps"
)

// Apps are the findings about the MCP Apps of one server.
type Apps struct {
	Server   string
	File     string // where the server is defined
	Line     int
	Lines    map[string]int // of the tools, by name
	Findings []apps.Finding
	Notes    []string
	Mask     func(string) string // hides secrets; nil: there are none
}

// AddApps adds what was found about MCP Apps.
func (r *Report) AddApps(all []Apps, rules Rules) {
	r.appsJudged = true
	if r.servers == nil {
		r.servers = map[string]bool{}
	}
	for _, one := range all {
		r.servers[one.Server] = true
		for _, f := range one.Findings {
			r.places = append(r.places, one.makeFinding(f))
		}
		for _, note := range one.Notes {
			if !slices.Contains(r.Notes, note) {
				r.Notes = append(r.Notes, note)
			}
		}
	}
	r.Servers = len(r.servers)
	r.sort()
	r.combine(rules)
}

// makeFinding returns a finding in the form of a report.
func (a Apps) makeFinding(f apps.Finding) Finding {
	rule, _ := apps.RuleOf(f.Rule)
	out := Finding{
		Rule:     f.Rule,
		Profile:  GroupApps,
		Effect:   Effect(rule.Effect),
		Level:    Level(f.Level),
		Server:   a.Server,
		Tool:     f.Tool,
		Subject:  f.Subject,
		Pointer:  f.Pointer,
		Message:  f.Message,
		Fix:      f.Fix,
		Basis:    documented,
		Source:   rule.Source,
		Seen:     apps.Seen,
		Evidence: "documented " + apps.Seen + ": " + rule.Source,
		File:     a.File,
		Line:     cmp.Or(a.Lines[f.Tool], a.Line),
	}
	if f.Level == apps.LevelAdvice {
		out.Effect = Advice
	}
	if a.Mask != nil {
		for _, text := range []*string{&out.Tool, &out.Subject, &out.Pointer, &out.Message, &out.Fix} {
			*text = a.Mask(*text)
		}
	}
	return out
}

// writeApp explains a rule about MCP Apps.
func writeApp(w io.Writer, r Rule) error {
	origin := "what hosts do"
	if rule, _ := apps.RuleOf(r.ID); rule.Must {
		origin = "asked for by the specification: mcptest probe --only " + r.ID + " shows the sentence"
	}
	_, err := fmt.Fprintf(w, "%s (%s, effect: %s)\n\n%s.\nfix: %s\n\n%s\n%s on %s\n%s\n\n%s\n%s\n",
		r.ID, r.Level, r.Effect, r.Message, r.Fix, origin, r.Basis, r.Seen, r.Source,
		"judged with a server: its lists are read as a client with views and another one get them,",
		"in each era that it speaks, and each view is read. A file is judged as far as its list of tools goes.")
	return err
}
