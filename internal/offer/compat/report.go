package compat

import (
	"cmp"
	"fmt"
	"slices"

	"mcptest/internal/base/display"
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

// Failed reports whether a finding has this level or a worse one; those of
// directories that were not chosen do not count.
func (r Report) Failed(level Level) bool {
	return slices.ContainsFunc(r.Findings, func(f Finding) bool {
		return f.declared == "" && slices.Index(Levels(), f.Level) <= slices.Index(Levels(), level)
	})
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
	r.Verdicts = judgeProfiles(rules.Profiles, r.Findings)
	r.countLostClients()
}

// isSameThing reports whether two findings are about one definition, by the same rule and of
// the same level. Those about MCP Apps say more than where: which host is not declared.
func (f Finding) isSameThing(o Finding) bool {
	if f.single || f.Profile == GroupApps && f.Message != o.Message {
		return false
	}
	return f.Rule == o.Rule && f.Level == o.Level && f.Server == o.Server && f.Tool == o.Tool && f.Subject == o.Subject
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
			isOpening := f.Client != "" // judged by countLostClients
			if f.Profile != p.Name || level == LevelAdvice || isOpening {
				continue
			}
			effect := slices.Index(Effects(), f.Effect)
			if level == LevelWarning {
				effect = max(effect, slices.Index(Effects(), Degraded))
			}
			worst = min(worst, effect)
		}
		v := Verdict{Profile: p.Name, Group: p.Group, Effect: "ok"}
		if worst < len(Effects()) && Effects()[worst] != Advice {
			v.Effect = string(Effects()[worst])
		}
		out = append(out, v)
	}
	return out
}
