package compat

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"mcptest/internal/base/display"
)

// Check applies rules to the lists of one or several servers. today determines which
// observed rules have expired.
func Check(ctx context.Context, lists []List, rules Rules, today time.Time) (Report, error) {
	rep := Report{listed: len(lists) > 0}
	counted := map[string]bool{}
	rep.noteEmpty(lists, rules)
	for i := range lists {
		l := lists[i]
		l.others = nil
		for _, o := range lists {
			if o.Server != l.Server {
				l.others = append(l.others, o)
			}
		}
		if !counted[l.Server] {
			counted[l.Server] = true
			rep.Tools += len(l.Tools)
			if l.Bundle != nil && l.Tools == nil {
				rep.bundles++
			}
		}
		if err := rep.applyRules(ctx, l, rules, today); err != nil {
			return rep, err
		}
	}
	rep.Servers, rep.servers = len(counted), counted
	rep.sort()
	rep.combine(rules)
	return rep, nil
}

// noteEmpty says which servers list no tools, so that a verdict without findings means little.
func (r *Report) noteEmpty(lists []List, rules Rules) {
	if len(rules.Rules) == 0 || len(lists) == 0 {
		return
	}
	r.Unexamined = true
	for _, l := range lists {
		isArchive := l.Bundle != nil && l.Tools == nil
		if len(l.Tools) > 0 || len(l.Others) > 0 || isArchive {
			r.Unexamined = false
		}
		if len(l.Tools) > 0 || isArchive {
			continue
		}
		note := "the server lists no tools"
		if len(lists) > 1 {
			note = l.Server + ": " + note
		}
		if len(l.Others) > 0 {
			note += ": only " + listSubjects(l.Others) + " were examined"
		} else {
			note += ": nothing was examined"
		}
		if !slices.Contains(r.Notes, note) {
			r.Notes = append(r.Notes, note)
		}
	}
}

// listSubjects says of which kinds definitions are: "its prompts and instructions".
func listSubjects(definitions []Definition) string {
	var kinds []string
	for _, d := range definitions {
		kind := strings.TrimSuffix(strings.SplitN(d.Subject, " ", 2)[0], "s") + "s"
		if !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	return "its " + display.Alternatives(kinds, "and")
}

// applyRules applies the rules to one list.
func (r *Report) applyRules(ctx context.Context, l List, rules Rules, today time.Time) error {
	chosen := map[string][]place{} // by selector
	for i := range rules.Rules {
		rule := &rules.Rules[i]
		profile, _ := rules.findProfile(rule.Profile)
		if l.Profiles != nil && profile.isChosenByFor() && !slices.Contains(l.Profiles, profile.Name) {
			continue // the client gets another list
		}
		if rule.On == "qualified_name" {
			if err := r.addQualified(ctx, rule, profile, l, today); err != nil {
				return fmt.Errorf("rule %s: %w", rule.ID, err)
			}
			continue
		}
		hits, err := rule.apply(ctx, l, profile, chosen)
		if err != nil {
			return fmt.Errorf("rule %s: %w", rule.ID, err)
		}
		r.places = append(r.places, rule.describePlaces(hits, l, today)...)
	}
	return nil
}
