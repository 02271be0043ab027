package compat

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/offer/opening"
	"mcptest/internal/report/gate"
)

// A Finding is a violation of a rule by a list.
type Finding struct {
	Rule    string `json:"rule"`
	Profile string `json:"profile"`
	Client  string `json:"client,omitempty"` // of an opening
	Effect  Effect `json:"effect"`
	Level   Level  `json:"level"`
	Server  string `json:"server,omitempty"` // if several were checked
	Tool    string `json:"tool,omitempty"`
	Subject string `json:"subject,omitempty"` // if it is no tool: "prompt greet", "instructions"
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
	single   bool  // it is not combined with others about the same thing
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
	Findings []Finding // worst first; those of a rule in one definition are one
	Notes    []string  // what was not checked
	Openings []Opening // that were replayed; nil if none was

	bundles int             // that were checked without their server
	places  []Finding       // one for each place, with the server
	listed  bool            // lists were checked
	servers map[string]bool // that were checked

	appsJudged bool // MCP Apps were, too
	hasResults bool // results of tools were
	results    int  // that were judged

	// Unexamined is set if no list has a definition that the rules could have examined.
	Unexamined bool
}

// Check applies rules to the lists of one or several servers. today determines which
// observed rules have expired.
func Check(ctx context.Context, lists []List, rules Rules, today time.Time) (Report, error) {
	rep := Report{listed: len(lists) > 0}
	counted := map[string]bool{}
	rep.noteEmpty(lists, rules)
	for i := range lists {
		l := lists[i]
		l.others = slices.DeleteFunc(slices.Clone(lists), func(o List) bool { return o.Server == l.Server })
		if !counted[l.Server] {
			counted[l.Server] = true
			rep.Tools += len(l.Tools)
			if l.Bundle != nil && l.Tools == nil {
				rep.bundles++
			}
		}
		if err := rep.add(ctx, l, rules, today); err != nil {
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

// add applies the rules to one list.
func (r *Report) add(ctx context.Context, l List, rules Rules, today time.Time) error {
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

// sort orders the places, worst first. A place that several lists of a server have in
// common is reported once.
func (r *Report) sort() {
	slices.SortStableFunc(r.places, func(a, b Finding) int {
		return cmp.Or(
			cmp.Compare(slices.Index(Levels(), a.Level), slices.Index(Levels(), b.Level)),
			cmp.Compare(slices.Index(Effects(), a.Effect), slices.Index(Effects(), b.Effect)),
			cmp.Compare(a.Rule, b.Rule),
			cmp.Compare(a.Server, b.Server),
			cmp.Compare(a.Subject, b.Subject),
			cmp.Compare(a.Tool, b.Tool),
		)
	})
	known := map[Finding]bool{}
	r.places = slices.DeleteFunc(r.places, func(f Finding) bool {
		twice := known[f]
		known[f] = true
		return twice
	})
}

// combine makes one finding of the places in a definition that break the same rule.
func (r *Report) combine(rules Rules) {
	r.Findings = nil
	for i := 0; i < len(r.places); {
		f := r.places[i]
		end := i + 1
		for end < len(r.places) && r.places[end].isSameThing(f) {
			end++
		}
		if more := end - i - 1; more > 0 {
			f.Message += fmt.Sprintf(" (and in %s)", display.Count(more, "more place"))
		}
		if r.Servers == 1 {
			f.Server = ""
		}
		r.Findings = append(r.Findings, f)
		i = end
	}
	r.Verdicts = r.addWithoutEntry(judgeProfiles(rules.Profiles, r.Findings))
}

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
		_, applied := rules.Rule(e.Rule)
		if !applied || !r.isJudged(e.Rule) || e.Server != "" && !r.servers[e.Server] {
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

// apply returns the places that violate the rule.
func (r *Rule) apply(ctx context.Context, l List, p Profile, chosen map[string][]place) ([]place, error) {
	if r.Detect == "" {
		return r.findViolations(ctx, l, p, chosen)
	}
	found := detectors[r.Detect](l)
	if r.On == "" {
		return found, nil
	}
	more, err := r.findViolations(ctx, l, p, chosen)
	for _, at := range more {
		seen := func(other place) bool { return other.tool == at.tool && other.pointer == at.pointer }
		if !slices.ContainsFunc(found, seen) {
			found = append(found, at)
		}
	}
	return found, err
}

// findViolations returns the places that violate Must.
func (r *Rule) findViolations(ctx context.Context, l List, p Profile, chosen map[string][]place) ([]place, error) {
	places, ok := chosen[r.On]
	if !ok {
		places = selectors[r.On](l, p)
		chosen[r.On] = places
	}
	if len(r.Words) > 0 {
		places = slices.DeleteFunc(slices.Clone(places), func(at place) bool {
			return !slices.ContainsFunc(r.Words, func(w string) bool { return strings.Contains(at.value.Text(), w) })
		})
	}
	if r.forbids() {
		places = splitLong(places)
	}
	known := map[string]int{} // texts, of which many occur more than once
	index, values := make([]int, len(places)), []jsonv.Value{}
	for i, at := range places {
		index[i] = len(values)
		if at.value.Kind() == jsonv.KindString {
			if j, ok := known[at.value.Text()]; ok {
				index[i] = j
				continue
			}
			known[at.value.Text()] = len(values)
		}
		values = append(values, at.value)
	}
	if len(values) == 0 {
		return nil, nil
	}
	schema, err := r.schema()
	if err != nil {
		return nil, err
	}
	fits := make([]bool, 0, len(values))
	for some := range slices.Chunk(values, 500) {
		more, err := schema.Matches(ctx, some)
		if err != nil {
			return nil, err
		}
		fits = append(fits, more...)
	}
	var hits []place
	for i, at := range places {
		last := len(hits) - 1
		if !fits[index[i]] && (last < 0 || !r.forbids() || hits[last].pointer != at.pointer || hits[last].tool != at.tool || hits[last].subject != at.subject) {
			hits = append(hits, at)
		}
	}
	return hits, nil
}

// forbids reports whether the rule is about texts, and a text breaks it if a part does.
func (r *Rule) forbids() bool {
	_, not := r.Must.Get("not")
	return not && r.Must.Len() == 1 && (r.On == "texts" || r.On == "lower_texts")
}

// A text is examined in parts of maxPart bytes, which share up to commonPart bytes,
// because the time for some patterns grows with the square of the length.
const maxPart, commonPart = 16 << 10, 2 << 10

// splitLong divides long texts, after a sentence if possible: words such as "never"
// before a phrase are looked for in the same sentence.
func splitLong(places []place) []place {
	var out []place
	for _, at := range places {
		text := at.value.Text()
		for len(text) > maxPart {
			end := maxPart
			for end > 0 && !utf8.RuneStart(text[end]) {
				end--
			}
			out = append(out, place{at.tool, at.subject, at.pointer, jsonv.String(text[:end]), at.line})
			common, next := text[end-commonPart:end], 0
			if i := strings.Index(common, ". "); i >= 0 {
				next = i + 2
			} else if i := strings.IndexByte(common, ' '); i >= 0 {
				next = i + 1
			} else {
				for !utf8.RuneStart(common[next]) {
					next++
				}
			}
			text = text[end-commonPart+next:]
		}
		at.value = jsonv.String(text)
		out = append(out, at)
	}
	return out
}

// describePlaces describes the places.
func (r *Rule) describePlaces(hits []place, l List, today time.Time) []Finding {
	var out []Finding
	for _, at := range hits {
		f := Finding{
			Rule:     r.ID,
			Profile:  r.Profile,
			Effect:   r.Effect,
			Level:    r.Level,
			Server:   l.Server,
			Tool:     at.tool,
			Subject:  at.subject,
			Pointer:  at.pointer,
			Message:  r.fill(r.Message, at, l),
			Fix:      r.fill(r.Fix, at, l),
			Basis:    r.Basis,
			Source:   r.Source,
			Seen:     r.Seen,
			Evidence: r.describeEvidence(today),
			File:     l.File,
			Line:     cmp.Or(l.Lines[at.tool], l.Line),
			declared: r.declared,
		}
		if at.line > 0 {
			f.File, f.Line, f.single = l.Bundle.Name+"/manifest.json", at.line, true
		}
		if l.Mask != nil {
			for _, text := range []*string{&f.Tool, &f.Subject, &f.Pointer, &f.Message, &f.Fix} {
				*text = l.Mask(*text)
			}
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
	return strings.NewReplacer(
		"{value}", shown,
		"{text}", plain,
		"{length}", strconv.Itoa(length),
		"{server}", l.Installed,
		"{tools}", strconv.Itoa(len(l.Tools)),
	).Replace(text)
}

// describeEvidence describes how the fact is known, and whether it is still fresh.
func (r *Rule) describeEvidence(today time.Time) string {
	s := r.Basis + " " + r.Seen + describeVersions(r.Versions)
	if r.Expires != "" && today.Format(time.DateOnly) > r.Expires {
		s += "; not confirmed since"
	}
	return s + ": " + r.Source
}

// judgeProfiles returns the worst effect for each client and store. A warning concerns
// some versions or programs: it counts as degraded. Advice does not count. The errors
// of a directory that was not chosen are errors in its verdict.
func judgeProfiles(profiles []Profile, findings []Finding) []Verdict {
	var out []Verdict
	for _, p := range profiles {
		if p.Group != GroupClients && p.Group != GroupStores {
			continue
		}
		worst := len(Effects())
		for _, f := range findings {
			level := cmp.Or(f.declared, f.Level)
			if f.Profile == p.Name && level != LevelAdvice && f.Client == "" {
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

// isSameThing reports whether two findings are about one definition, by the same rule and of
// the same level. Those about MCP Apps say more than where: which host is not declared.
func (f Finding) isSameThing(o Finding) bool {
	if f.single || f.Profile == GroupApps && f.Message != o.Message {
		return false
	}
	return f.Rule == o.Rule && f.Level == o.Level && f.Server == o.Server && f.Tool == o.Tool && f.Subject == o.Subject
}

// An Opening is what replaying one script with one server showed.
type Opening struct {
	Server  string // the name of a server of a suite, or its own
	File    string // where the server is defined
	Line    int
	Verdict opening.Verdict
}

// addWithoutEntry adds to verdicts the clients that do not get in: a profile is lost if every
// client that it stands for is, and degraded if some are.
func (r *Report) addWithoutEntry(all []Verdict) []Verdict {
	for i := range all {
		v := &all[i]
		judged, lost := 0, 0
		for _, o := range r.Openings {
			if opening.Family(o.Verdict.Script.Client) != v.Profile || o.Verdict.Unjudged != "" {
				continue
			}
			judged++
			isOurs := func(f Finding) bool { return f.Rule == o.Verdict.Script.Rule() }
			accepted := !slices.ContainsFunc(r.Findings, isOurs)
			if !o.Verdict.Connected && !accepted {
				lost++
			}
		}
		switch {
		case lost == 0:
		case lost == judged:
			v.Effect = string(SessionLost)
		case v.Effect == "ok":
			v.Effect = string(Degraded)
		}
	}
	return all
}

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
