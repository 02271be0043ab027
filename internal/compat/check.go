package compat

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"mcptest/internal/display"
	"mcptest/internal/jsonv"
)

// A Finding is a violation of a rule by a list. All violations in one tool are one
// finding.
type Finding struct {
	Rule    string `json:"rule"`
	Profile string `json:"profile"`
	Effect  Effect `json:"effect"`
	Level   Level  `json:"level"`
	Server  string `json:"server,omitempty"` // if several were checked
	Tool    string `json:"tool,omitempty"`
	Pointer string `json:"pointer,omitempty"` // the first place, in the definition of the tool
	Message string `json:"message"`
	Fix     string `json:"fix"`
	Basis   string `json:"basis,omitempty"`  // documented or observed
	Source  string `json:"source,omitempty"` // where the fact is documented
	Seen    string `json:"seen,omitempty"`   // the day on which it was last confirmed

	Evidence string `json:"-"` // how the fact is known
	File     string `json:"-"` // where the tool or its server is defined
	Line     int    `json:"-"`

	declared Level // of a directory that was not chosen: the finding fails no check
}

// A Verdict is the worst effect of the findings of a client or a directory.
type Verdict struct {
	Profile string
	Group   string // of the profile
	Effect  string // "ok" or an Effect
}

// Report is the result of a check.
type Report struct {
	Servers  int
	Tools    int
	Verdicts []Verdict // in the order of the profiles; clients and stores only
	Findings []Finding // worst first
	Notes    []string  // what was not checked
}

// Check applies rules to the lists of one or several servers. today determines which
// observed rules have expired.
func Check(ctx context.Context, lists []List, rules Rules, today time.Time) (Report, error) {
	var rep Report
	counted := map[string]bool{}
	for i := range lists {
		l := lists[i]
		l.others = slices.DeleteFunc(slices.Clone(lists), func(o List) bool { return o.Server == l.Server })
		if !counted[l.Server] {
			counted[l.Server] = true
			rep.Tools += len(l.Tools)
		}
		if err := rep.add(ctx, l, rules, today); err != nil {
			return rep, err
		}
	}
	for _, l := range lists {
		note, err := uncheckedNames(ctx, l, rules)
		if err != nil {
			return rep, err
		}
		if note != "" && !slices.Contains(rep.Notes, note) {
			rep.Notes = append(rep.Notes, note)
		}
	}
	rep.Servers = len(counted)
	rep.sort()
	if rep.Servers == 1 {
		for i := range rep.Findings {
			rep.Findings[i].Server = ""
		}
	}
	rep.Verdicts = verdicts(rules.Profiles, rep.Findings)
	return rep, nil
}

// unknownServer is the shortest possible name of a server: a name that is too long
// with it is too long with any server. assumedServer has the length of a typical
// name.
const unknownServer, assumedServer = "?", "sixteen-letters-"

// uncheckedNames returns a note that limits on prefixed names were not checked
// because the name of the server is unknown, if a typical name makes a tool's name
// too long.
func uncheckedNames(ctx context.Context, l List, rules Rules) (string, error) {
	if l.Server != "" {
		return "", nil
	}
	l.Server = assumedServer
	var clients, tools []string
	for i := range rules.Rules {
		rule := &rules.Rules[i]
		p, _ := rules.profile(rule.Profile)
		if rule.On != "qualified_name" {
			continue
		}
		hits, err := rule.apply(ctx, l, p, map[string][]place{})
		if err != nil {
			return "", fmt.Errorf("rule %s: %w", rule.ID, err)
		}
		for _, at := range hits {
			clients, tools = append(clients, p.Name), append(tools, at.tool)
		}
	}
	if len(tools) == 0 {
		return "", nil
	}
	slices.Sort(tools)
	tools = slices.Compact(tools)
	first := tools[0]
	if l.Mask != nil {
		first = l.Mask(first)
	}
	return fmt.Sprintf("the limits on prefixed names were not checked without the server's name (--name): if it has %d characters, %s would be too long for %s, for example %q",
		len(assumedServer), display.Count(len(tools), "name"), strings.Join(slices.Compact(clients), " and "), display.Truncate(first, 80)), nil
}

// add applies the rules to one list.
func (r *Report) add(ctx context.Context, l List, rules Rules, today time.Time) error {
	chosen := map[string][]place{} // by selector and profile
	for i := range rules.Rules {
		rule := &rules.Rules[i]
		profile, _ := rules.profile(rule.Profile)
		if l.Profiles != nil && profile.chosenByFor() && !slices.Contains(l.Profiles, profile.Name) {
			continue // the client gets another list
		}
		hits, err := rule.apply(ctx, l, profile, chosen)
		if err != nil {
			return fmt.Errorf("rule %s: %w", rule.ID, err)
		}
		r.Findings = append(r.Findings, rule.findings(hits, l, today)...)
	}
	return nil
}

// sort orders the findings, worst first. A finding that several lists of a server
// have in common is reported once.
func (r *Report) sort() {
	slices.SortStableFunc(r.Findings, func(a, b Finding) int {
		return cmp.Or(
			cmp.Compare(slices.Index(Levels(), a.Level), slices.Index(Levels(), b.Level)),
			cmp.Compare(slices.Index(Effects(), a.Effect), slices.Index(Effects(), b.Effect)),
			cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Server, b.Server), cmp.Compare(a.Tool, b.Tool))
	})
	r.Findings = slices.Compact(r.Findings)
}

// apply returns the places that violate the rule.
func (r *Rule) apply(ctx context.Context, l List, p Profile, chosen map[string][]place) ([]place, error) {
	if r.Detect != "" {
		return detectors[r.Detect](l), nil
	}
	if r.On == "qualified_name" && p.Qualified == "" {
		return nil, nil
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

// findings combines the places in each tool into one finding.
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
		f := Finding{
			Rule: r.ID, Profile: r.Profile, Effect: r.Effect, Level: r.Level, Server: l.Server, Tool: at.tool, Pointer: at.pointer,
			Message: msg, Fix: r.fill(r.Fix, at, l), Basis: r.Basis, Source: r.Source, Seen: r.Seen,
			Evidence: r.evidence(today), File: l.File, Line: cmp.Or(l.Lines[at.tool], l.Line), declared: r.declared,
		}
		if l.Mask != nil {
			f.Tool, f.Pointer, f.Message, f.Fix = l.Mask(f.Tool), l.Mask(f.Pointer), l.Mask(f.Message), l.Mask(f.Fix)
		}
		out = append(out, f)
	}
	return out
}

// fill replaces {value}, {text} (without quotes), {length}, {server} and {tools}
// in a text of a rule.
func (r *Rule) fill(text string, at place, l List) string {
	if !strings.Contains(text, "{") {
		return text
	}
	shown, plain := at.value.Short(80), ""
	length := at.value.Len()
	if at.value.Kind() == jsonv.KindString {
		plain = display.Truncate(at.value.Text(), 200)
		shown = strconv.Quote(at.value.Text())
		if runes := []rune(at.value.Text()); len(runes) > 80 {
			shown = strconv.Quote(string(runes[:79])) + "…"
		}
		length = len([]rune(at.value.Text()))
	}
	return strings.NewReplacer("{value}", shown, "{text}", plain, "{length}", strconv.Itoa(length), "{server}", l.name(), "{tools}", strconv.Itoa(len(l.Tools))).Replace(text)
}

// evidence describes how the fact is known, and whether it is still fresh.
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

// verdicts returns the worst effect for each client and store. A warning concerns
// some versions or programs: it counts as degraded. Advice does not count. The errors
// of a directory that was not chosen are errors in its verdict.
func verdicts(profiles []Profile, findings []Finding) []Verdict {
	var out []Verdict
	for _, p := range profiles {
		if p.Group != GroupClients && p.Group != GroupStores {
			continue
		}
		worst := len(Effects())
		for _, f := range findings {
			if level := cmp.Or(f.declared, f.Level); f.Profile == p.Name && level != LevelAdvice {
				effect := slices.Index(Effects(), f.Effect)
				if level == LevelWarning {
					effect = max(effect, slices.Index(Effects(), Degraded))
				}
				worst = min(worst, effect)
			}
		}
		v := Verdict{Profile: p.Name, Group: p.Group, Effect: "ok"}
		if worst < len(Effects()) && Effects()[worst] != Advice {
			v.Effect = string(Effects()[worst])
		}
		out = append(out, v)
	}
	return out
}

// Failed reports whether a finding has this level or a worse one; those of
// directories that were not chosen do not count.
func (r Report) Failed(level Level) bool {
	return slices.ContainsFunc(r.Findings, func(f Finding) bool {
		return f.declared == "" && slices.Index(Levels(), f.Level) <= slices.Index(Levels(), level)
	})
}
