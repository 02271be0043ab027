package compat

import (
	"fmt"
	"io"

	"mcptest/internal/base/display"
	"mcptest/internal/client/toolresult"
)

// Results are the findings about results of tools that a file holds.
type Results struct {
	File    string
	IsLines bool // where a result was seen is a line of the file
	Servers []string
	Found   []toolresult.Seen
	Judged  int
	Notes   []string
	Mask    func(string) string // hides secrets; nil: there are none
}

// AddResults adds what was found about results.
func (r *Report) AddResults(all Results, rules Rules) {
	r.hasResults, r.results = true, all.Judged
	r.Unexamined = r.Unexamined && all.Judged == 0
	if r.servers == nil {
		r.servers = map[string]bool{}
	}
	for _, server := range all.Servers {
		r.servers[server] = true
	}
	for _, s := range all.Found {
		r.places = append(r.places, all.makeFinding(s))
	}
	r.Notes = append(r.Notes, all.Notes...)
	r.Servers = len(r.servers)
	r.sort()
	r.combine(rules)
}

// makeFinding returns a note in the form of a report.
func (a Results) makeFinding(s toolresult.Seen) Finding {
	rule, _ := toolresult.RuleOf(s.Rule)
	out := Finding{
		Rule:     s.Rule,
		Profile:  GroupResults,
		Effect:   Degraded,
		Level:    Level(s.Level),
		Server:   s.Server,
		Tool:     s.Tool,
		Message:  s.Message,
		Fix:      rule.Fix,
		Basis:    observed,
		Source:   rule.Source,
		Seen:     rule.Seen,
		Evidence: "observed " + rule.Seen + ": " + rule.Source,
		File:     a.File,
	}
	if out.Level == LevelAdvice {
		out.Effect = Advice
	}
	switch {
	case s.Test != "":
		out.Message += " (test " + s.Test + ")"
	case a.IsLines:
		out.Message += fmt.Sprintf(" (line %d)", s.At)
		out.Line = s.At
	}
	if a.Mask != nil {
		for _, text := range []*string{&out.Tool, &out.Message} {
			*text = a.Mask(*text)
		}
	}
	return out
}

// writeResult explains a rule about results.
func writeResult(w io.Writer, r Rule) error {
	rule, _ := toolresult.RuleOf(r.ID)
	_, err := fmt.Fprintf(w, "%s (%s, effect: %s)\n\n%s\n%s\nfix: %s\n\nobserved on %s: %s\n\n%s\n",
		r.ID, r.Level, r.Effect,
		display.Sentence(rule.Says), display.Sentence(rule.Client), rule.Fix,
		rule.Seen, rule.Source,
		"judged in a record (mcptest run -r json=FILE) and in a cassette; a run names it at its end.")
	return err
}
