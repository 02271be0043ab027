package compat

import (
	"cmp"
	"slices"
	"strings"

	"mcptest/internal/offer/apps"
	"mcptest/internal/offer/opening"
)

// isOpening reports whether the name of a rule is that of an opening.
func isOpening(id string) bool { return strings.HasPrefix(id, "opening-") }

// All returns the rules, with those about MCP Apps and about results, and with one for each client and transport
// of the openings.
func (r Rules) All() []Rule {
	out := slices.Concat(r.Rules, r.listAppRules(), r.listResultRules())
	for _, s := range r.Openings {
		if slices.ContainsFunc(out, func(rule Rule) bool { return rule.ID == s.Rule() }) {
			continue
		}
		out = append(out, Rule{
			ID:      s.Rule(),
			Profile: opening.Family(s.Client),
			Effect:  SessionLost,
			Level:   Level(cmp.Or(s.Level, string(LevelError))),
			Evidence: Evidence{
				Basis:    observed,
				Source:   s.Source,
				Seen:     s.Seen,
				Versions: s.Versions,
				Expires:  s.Expires(),
			},
			Message: s.Title + " over " + s.Transport + " does not get in",
			Fix:     "depends on the answer that ends the opening",
		})
	}
	return out
}

// listAppRules returns the rules about MCP Apps in the form of the others.
func (r Rules) listAppRules() (out []Rule) {
	for _, rule := range r.Apps {
		out = append(out, Rule{
			ID:       rule.ID,
			Profile:  GroupApps,
			Effect:   Effect(rule.Effect),
			Level:    Level(rule.Level),
			Evidence: Evidence{Basis: documented, Source: rule.Source, Seen: apps.Seen},
			Message:  strings.TrimSuffix(rule.Text, "."),
			Fix:      rule.Fix,
		})
	}
	return out
}

// isApp reports whether a rule is about MCP Apps.
func isApp(id string) bool {
	_, known := apps.RuleOf(id)
	return known
}

// listResultRules returns the rules about results in the form of the others.
func (r Rules) listResultRules() (out []Rule) {
	for _, rule := range r.Results {
		out = append(out, Rule{
			ID:       rule.ID,
			Profile:  GroupResults,
			Effect:   Degraded,
			Level:    LevelWarning,
			Evidence: Evidence{Basis: observed, Source: rule.Source, Seen: rule.Seen},
			Message:  rule.Says,
			Fix:      rule.Fix,
		})
	}
	return out
}

// isResult reports whether a rule is about results.
func isResult(id string) bool { return strings.HasPrefix(id, "result-") }
