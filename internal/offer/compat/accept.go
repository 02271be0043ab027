package compat

import (
	"cmp"
	"fmt"

	"mcptest/internal/report/gate"
)

// Accept removes the findings that a baseline accepts. Entries that match none become
// findings themselves, so that the baseline shrinks with the problems.
func (r Report) Accept(b *gate.Baseline, rules Rules) Report {
	places := make([]gate.Place, len(r.places))
	for i, f := range r.places {
		places[i] = gate.Place{Rule: f.Rule, Server: f.Server, Tool: f.Tool, Subject: f.Subject, Path: f.Pointer}
		if f.Tool == "" && f.Subject == "" {
			places[i].Subject = wholeList
		}
	}
	accepted, stale := b.Split(places)
	kept := r.places[:0:0]
	for i, f := range r.places {
		if !accepted[i] {
			kept = append(kept, f)
		}
	}
	r.places = kept
	r.combine(rules)
	for _, e := range stale {
		_, isApplied := rules.Rule(e.Rule)
		isChecked := e.Server == "" || r.servers[e.Server]
		if !isApplied || !isChecked || !r.isJudged(e.Rule) {
			continue // nothing is known
		}
		where := cmp.Or(e.Tool, e.Subject)
		if e.Path != "" {
			where += " " + e.Path
		}
		r.Findings = append(r.Findings, Finding{
			Rule:     gate.StaleBaseline,
			Profile:  "baseline",
			Effect:   Advice,
			Level:    LevelError,
			Server:   e.Server,
			Tool:     e.Tool,
			Subject:  e.Subject,
			Pointer:  e.Path,
			Message:  fmt.Sprintf("line %d of the baseline accepts %s in %s, which is no longer found", e.Pos.Line, e.Rule, where),
			Fix:      "remove the entry",
			Evidence: e.Pos.String(),
			File:     e.Pos.File.Name,
			Line:     e.Pos.Line,
		})
	}
	return r
}

// wholeList is the subject of findings about a list as a whole in baselines.
const wholeList = "server"

// isJudged reports whether a rule was applied, as far as it needs a server.
func (r Report) isJudged(id string) bool {
	switch {
	case isOpening(id):
		return r.Openings != nil
	case isApp(id):
		return r.appsJudged
	case isResult(id):
		return r.hasResults
	}
	return true
}
