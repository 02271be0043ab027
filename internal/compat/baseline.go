package compat

import (
	"fmt"
	"strings"

	"mcptest/internal/source"
)

// staleBaseline is the rule of findings about the baseline itself.
const staleBaseline = "stale-baseline"

// A Baseline lists findings that are accepted.
type Baseline struct {
	Accepted []Accepted `yaml:"accepted,required"`
}

// Accepted is one entry: a rule, the server and the tool (all if empty), and the
// reason.
type Accepted struct {
	Pos    source.Pos
	Rule   string `yaml:"rule,required"`
	Server string `yaml:"server"`
	Tool   string `yaml:"tool"`
	Reason string `yaml:"reason,required"`
}

// LoadBaseline reads a baseline of findings of the rules.
func LoadBaseline(f *source.File, rules Rules) (*Baseline, source.Diagnostics) {
	node, ds := source.Parse(f)
	if ds.HasErrors() {
		return nil, ds
	}
	var b Baseline
	var d source.Decoder
	d.Decode(node, "", &b)
	for i, e := range b.Accepted {
		if e.Rule != "" && strings.TrimSpace(e.Reason) == "" {
			d.Add(source.Errorf(e.Pos, source.PathIndex("accepted", i), "the entry for rule %q must have a reason", e.Rule))
		}
		if _, ok := rules.Rule(e.Rule); !ok && e.Rule != "" {
			d.Add(source.Errorf(e.Pos, source.PathIndex("accepted", i), "%s", rules.NoRule(e.Rule)))
		}
	}
	ds = append(ds, d.Diagnostics()...)
	ds.Sort()
	return &b, ds
}

// Apply removes the accepted findings from a report. Entries that match no finding
// become findings themselves, so that the baseline shrinks with the problems.
func (b *Baseline) Apply(rep Report, rules Rules) Report {
	kept := rep.Findings[:0:0]
	used := make([]bool, len(b.Accepted))
	for _, f := range rep.Findings {
		accepted := false
		for i, e := range b.Accepted {
			if e.Rule == f.Rule && (e.Tool == "" || e.Tool == f.Tool) && (e.Server == "" || e.Server == f.Server) {
				accepted, used[i] = true, true
			}
		}
		if !accepted {
			kept = append(kept, f)
		}
	}
	rep.Verdicts = verdicts(rules.Profiles, kept)
	for i, e := range b.Accepted {
		if _, applied := rules.Rule(e.Rule); used[i] || !applied {
			continue // the rule was not applied, so nothing is known
		}
		kept = append(kept, Finding{
			Rule: staleBaseline, Profile: "baseline", Effect: Advice, Level: LevelError, Server: e.Server, Tool: e.Tool,
			Message: fmt.Sprintf("line %d of the baseline accepts %s, which is no longer found", e.Pos.Line, e.Rule),
			Fix:     "remove the entry", Evidence: e.Pos.String(), File: e.Pos.File.Name, Line: e.Pos.Line,
		})
	}
	rep.Findings = kept
	return rep
}
