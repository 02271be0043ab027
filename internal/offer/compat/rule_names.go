package compat

import (
	"fmt"
	"slices"

	"mcptest/internal/base/source"
	"mcptest/internal/offer/opening"
)

func (r Rules) findProfile(name string) (Profile, bool) {
	i := slices.IndexFunc(r.Profiles, func(p Profile) bool { return p.Name == name })
	if i < 0 {
		return Profile{}, false
	}
	return r.Profiles[i], true
}

// Rule returns the rule with an id.
func (r Rules) Rule(id string) (Rule, bool) {
	all := r.All()
	i := slices.IndexFunc(all, func(rule Rule) bool { return rule.ID == id })
	if i < 0 {
		return Rule{}, false
	}
	return all[i], true
}

// Unknown returns a message if no rule has the id, or "".
func (r Rules) Unknown(id string) string {
	if _, ok := r.Rule(id); ok {
		return ""
	}
	return r.NoRule(id)
}

// NoRule returns the message for an unknown id.
func (r Rules) NoRule(id string) string {
	ids := []string{}
	for _, rule := range r.All() {
		ids = append(ids, rule.ID)
	}
	near := source.Parenthesis(source.DidYouMean(id, ids))
	return fmt.Sprintf("unknown rule %q%s; mcptest check --list prints all", id, near)
}

// Clients returns the names of the clients and directories.
func (r Rules) Clients() (names []string) {
	for _, p := range r.Profiles {
		if p.isChosenByFor() {
			names = append(names, p.Name)
		}
	}
	return names
}

// Known returns the names that --for takes: those of clients and directories, and of the
// clients whose openings are known.
func (r Rules) Known() []string {
	names := r.Clients()
	for _, s := range r.Openings {
		if !slices.Contains(names, s.Client) {
			names = append(names, s.Client)
		}
	}
	return names
}

// Families returns the profiles that stand for clients.
func (r Rules) Families(names []string) []string {
	out := slices.Clone(names)
	for i, name := range out {
		if _, known := r.findProfile(name); !known {
			out[i] = opening.Family(name)
		}
	}
	return out
}

// opens reports whether there is an opening of a client or its family.
func (r Rules) opens(name string) bool {
	return slices.ContainsFunc(r.Openings, func(s opening.Script) bool {
		return s.Client == name || opening.Family(s.Client) == name
	})
}

// isTaken reports whether a rule of a user can't have a name.
func (r Rules) isTaken(id string) bool {
	_, known := r.Rule(id)
	return known || isOpening(id) || isResult(id)
}
