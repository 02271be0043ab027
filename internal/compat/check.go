package compat

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"mcptest/internal/jsonv"
)

// A Finding is a rule that a list breaks. All the places in one tool where it
// does are one finding.
type Finding struct {
	Rule    string `json:"rule"`
	Profile string `json:"profile"`
	Effect  Effect `json:"effect"`
	Level   Level  `json:"level"`
	Tool    string `json:"tool,omitempty"`
	Pointer string `json:"pointer,omitempty"` // the first place, in the definition of the tool
	Message string `json:"message"`
	Fix     string `json:"fix"`

	Evidence string `json:"-"` // how we know
}

// A Verdict is the worst effect of the findings of a client or a directory.
type Verdict struct {
	Profile string
	Effect  string // "ok" or an Effect
}

// Report is the outcome of a check.
type Report struct {
	Server   string
	Tools    int
	Verdicts []Verdict // in the order of the profiles; clients and stores only
	Findings []Finding // worst first
}

// Check applies rules to a list. The day decides which observed rules have
// expired.
func Check(ctx context.Context, l List, rules Rules, today time.Time) (Report, error) {
	rep := Report{Server: l.Server, Tools: len(l.Tools)}
	chosen := map[string][]place{} // by selector and profile
	for i := range rules.Rules {
		rule := &rules.Rules[i]
		profile, _ := rules.profile(rule.Profile)
		hits, err := rule.apply(ctx, l, profile, chosen)
		if err != nil {
			return rep, fmt.Errorf("rule %s: %w", rule.ID, err)
		}
		rep.Findings = append(rep.Findings, rule.findings(hits, l, today)...)
	}
	slices.SortStableFunc(rep.Findings, func(a, b Finding) int {
		return cmp.Or(
			cmp.Compare(slices.Index(Levels(), a.Level), slices.Index(Levels(), b.Level)),
			cmp.Compare(slices.Index(Effects(), a.Effect), slices.Index(Effects(), b.Effect)),
			cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Tool, b.Tool))
	})
	rep.Verdicts = verdicts(rules.Profiles, rep.Findings)
	return rep, nil
}

// apply returns the places that break the rule.
func (r *Rule) apply(ctx context.Context, l List, p Profile, chosen map[string][]place) ([]place, error) {
	if r.Detect != "" {
		return detectors[r.Detect](l), nil
	}
	if r.On == "qualified_name" && (p.Qualified == "" || l.Server == "") {
		return nil, nil // the names are unknown
	}
	key := r.On
	if key == "qualified_name" {
		key += " " + p.Name
	}
	places, ok := chosen[key]
	if !ok {
		places = selectors[r.On](l, p)
		chosen[key] = places
	}
	if len(r.Words) > 0 {
		places = slices.DeleteFunc(slices.Clone(places), func(at place) bool {
			return !slices.ContainsFunc(r.Words, func(w string) bool { return strings.Contains(at.value.Text(), w) })
		})
	}
	var hits []place
	for some := range slices.Chunk(places, 500) {
		values := make([]jsonv.Value, len(some))
		for i, at := range some {
			values[i] = at.value
		}
		fits, err := r.schema.Matches(ctx, values)
		if err != nil {
			return nil, err
		}
		for i, at := range some {
			if !fits[i] {
				hits = append(hits, at)
			}
		}
	}
	return hits, nil
}

// findings makes one finding of the places in each tool.
func (r *Rule) findings(hits []place, l List, today time.Time) []Finding {
	var out []Finding
	count := map[string]int{}
	for _, at := range hits {
		count[at.tool]++
	}
	done := map[string]bool{}
	for _, at := range hits {
		if done[at.tool] {
			continue
		}
		done[at.tool] = true
		msg := r.fill(r.Message, at, l)
		switch more := count[at.tool] - 1; {
		case more == 1:
			msg += " (and in 1 more place)"
		case more > 1:
			msg += fmt.Sprintf(" (and in %d more places)", more)
		}
		out = append(out, Finding{
			Rule: r.ID, Profile: r.Profile, Effect: r.Effect, Level: r.Level, Tool: at.tool, Pointer: at.pointer,
			Message: msg, Fix: r.fill(r.Fix, at, l), Evidence: r.evidence(today),
		})
	}
	return out
}

// fill replaces {value}, {length}, {server} and {tools} in a text of a rule.
func (r *Rule) fill(text string, at place, l List) string {
	if !strings.Contains(text, "{") {
		return text
	}
	shown := at.value.Short(80)
	length := at.value.Len()
	if at.value.Kind() == jsonv.KindString {
		shown = strconv.Quote(at.value.Text())
		if runes := []rune(at.value.Text()); len(runes) > 80 {
			shown = strconv.Quote(string(runes[:79])) + "…"
		}
		length = len([]rune(at.value.Text()))
	}
	return strings.NewReplacer("{value}", shown, "{length}", strconv.Itoa(length), "{server}", l.Server, "{tools}", strconv.Itoa(len(l.Tools))).Replace(text)
}

// evidence says how we know, and whether that is still fresh.
func (r *Rule) evidence(today time.Time) string {
	s := r.Basis + " " + r.Seen
	if r.Versions != "" {
		s += " (" + r.Versions + ")"
	}
	if r.Expired(today) {
		s += "; not confirmed since"
	}
	return s + ": " + r.Source
}

// Expired reports whether the rule should have been confirmed again by now.
func (r *Rule) Expired(today time.Time) bool {
	return r.Expires != "" && today.Format(time.DateOnly) > r.Expires
}

// verdicts takes the worst effect of each client and store. A warning concerns
// some versions or programs of a client: it counts as degraded. Advice does not
// count.
func verdicts(profiles []Profile, findings []Finding) []Verdict {
	var out []Verdict
	for _, p := range profiles {
		if p.Group != GroupClients && p.Group != GroupStores {
			continue
		}
		worst := len(Effects())
		for _, f := range findings {
			if f.Profile == p.Name && f.Level != LevelAdvice {
				effect := slices.Index(Effects(), f.Effect)
				if f.Level == LevelWarning && p.Group == GroupClients {
					effect = max(effect, slices.Index(Effects(), Degraded))
				}
				worst = min(worst, effect)
			}
		}
		v := Verdict{Profile: p.Name, Effect: "ok"}
		if worst < len(Effects()) && Effects()[worst] != Advice {
			v.Effect = string(Effects()[worst])
		}
		out = append(out, v)
	}
	return out
}

// Failed reports whether a finding has the level or a worse one.
func (r Report) Failed(level Level) bool {
	return slices.ContainsFunc(r.Findings, func(f Finding) bool {
		return slices.Index(Levels(), f.Level) <= slices.Index(Levels(), level)
	})
}

// Mask returns the report with what mask hides in the texts of the server.
func (r Report) Mask(mask func(string) string) Report {
	r.Findings = slices.Clone(r.Findings)
	for i := range r.Findings {
		f := &r.Findings[i]
		f.Tool, f.Pointer, f.Message, f.Fix = mask(f.Tool), mask(f.Pointer), mask(f.Message), mask(f.Fix)
	}
	return r
}
