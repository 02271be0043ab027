package compat

import (
	"fmt"
	"slices"
	"strings"

	"mcptest/internal/offer/apps"
	"mcptest/internal/offer/opening"
)

// Choose is like Only, but reports an error if the choice excludes requested rules.
// lock reports whether there is a lock file to compare with.
func (r Rules) Choose(profiles, groups []string, lock bool) (Rules, error) {
	out := r.Only(profiles, groups)
	about := func(name string) bool {
		return slices.ContainsFunc(out.Rules, func(rule Rule) bool { return rule.Profile == name })
	}
	for _, name := range profiles {
		p, known := r.findProfile(name)
		switch {
		case out.opens(name):
		case known && len(groups) > 0 && !slices.Contains(groups, p.Group):
			return out, fmt.Errorf("%q is in the group %s, which is not among the chosen groups (%s)", name, p.Group, strings.Join(groups, ", "))
		case known && !about(name):
			return out, fmt.Errorf("no rule is about %q", name)
		}
	}
	switch {
	case len(out.Rules) == 0 && len(out.Openings) == 0 && len(out.Apps) == 0 && len(out.Results) == 0:
		return out, fmt.Errorf("the groups %s contain no rules", strings.Join(groups, ", "))
	case lock && !slices.ContainsFunc(out.Rules, func(rule Rule) bool { return rule.Detect == "lock_drift" }):
		return out, fmt.Errorf("the lock file is compared by the group %s, which is not among the chosen groups (%s)", GroupSecurity, strings.Join(groups, ", "))
	}
	return out, nil
}

// Only returns the rules of some profiles (or of all, with the name "all") and
// groups; an empty list means all. Directories that were not chosen fail no check,
// and their errors become warnings.
func (r Rules) Only(profiles, groups []string) Rules {
	if slices.Contains(profiles, "all") {
		profiles = r.Clients()
	}
	out := r.chooseOpenings(profiles, groups)
	out.Apps = r.chooseApps(groups)
	if len(groups) == 0 || slices.Contains(groups, GroupResults) {
		out.Results = r.Results
	}
	profiles = r.Families(profiles)
	for _, p := range r.Profiles {
		named := len(profiles) == 0 || slices.Contains(profiles, p.Name) || !p.isChosenByFor()
		if named && (len(groups) == 0 || slices.Contains(groups, p.Group)) {
			out.Profiles = append(out.Profiles, p)
		}
	}
	for _, rule := range r.Rules {
		p, ok := out.findProfile(rule.Profile)
		if ok && p.Group == GroupStores && len(profiles) == 0 && len(groups) == 0 {
			rule.declared = rule.Level
			if rule.Level == LevelError {
				rule.Level = LevelWarning
			}
		}
		if ok {
			out.Rules = append(out.Rules, rule)
		}
	}
	return out
}

// chooseOpenings returns rules that only have the openings of a choice.
func (r Rules) chooseOpenings(clients, groups []string) Rules {
	out := Rules{counted: len(clients) > 0 || slices.Contains(groups, GroupOpenings)}
	if len(groups) > 0 && !slices.Contains(groups, GroupOpenings) {
		return out
	}
	for _, s := range r.Openings {
		named := slices.Contains(clients, s.Client) || slices.Contains(clients, opening.Family(s.Client))
		if len(clients) == 0 || named {
			out.Openings = append(out.Openings, s)
		}
	}
	return out
}

// chooseApps returns the rules about MCP Apps that some groups choose; no group chooses all.
func (r Rules) chooseApps(groups []string) []apps.Rule {
	if len(groups) > 0 && !slices.Contains(groups, GroupApps) {
		return nil
	}
	return r.Apps
}
