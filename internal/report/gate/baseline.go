package gate

import (
	"slices"
	"strings"

	"mcptest/internal/base/source"
)

// StaleBaseline is the rule of findings about a baseline itself.
const StaleBaseline = "stale-baseline"

// A Baseline lists findings that are accepted.
type Baseline struct {
	Accepted []Accepted `yaml:"accepted,required"`
}

// Accepted is an entry: a rule, the place of its findings, and the reason.
type Accepted struct {
	Pos     source.Pos
	Rule    string `yaml:"rule,required"`
	Server  string `yaml:"server"`  // every one if empty
	Tool    string `yaml:"tool"`    // either this
	Subject string `yaml:"subject"` // or this, for anything else: "prompt greet", "server"
	Path    string `yaml:"path"`    // a JSON pointer in the definition; what is below it counts; everything if empty
	// A protocol version, where the findings have one; every one if empty.
	Revision string `yaml:"revision"`
	Reason   string `yaml:"reason,required"`
}

// A Place is what a finding is about. The subject is "server" for the server as a
// whole, and empty for a tool.
type Place struct{ Rule, Server, Tool, Subject, Path, Revision string }

// LoadBaseline reads a baseline. unknown returns the message for a rule that does not
// exist, "" for one that does. revisions are those of the findings; without any an entry
// has none.
func LoadBaseline(f *source.File, unknown func(rule string) string, revisions ...string) (*Baseline, source.Diagnostics) {
	node, ds := source.Parse(f)
	if ds.HasErrors() {
		return nil, ds
	}
	var b Baseline
	var d source.Decoder
	d.Decode(node, "", &b)
	for i, e := range b.Accepted {
		report := func(format string, args ...any) *source.Diagnostic {
			return d.Errorf(node.Get("accepted").Items[i], source.PathIndex("accepted", i), format, args...)
		}
		if e.Rule == "" {
			continue // reported
		}
		if strings.TrimSpace(e.Reason) == "" {
			report("the entry for rule %q must have a reason", e.Rule)
		}
		if (e.Tool == "") == (e.Subject == "") {
			report("the entry for rule %q must have either tool or subject", e.Rule).Hint = "an entry accepts findings in one place: the name of a tool, or the subject that the report prints, such as prompt NAME, instructions, or server for the list as a whole"
		}
		if e.Path != "" && !strings.HasPrefix(e.Path, "/") {
			report("path must be a JSON pointer in the definition, such as /description, not %q", e.Path)
		}
		if msg := unknown(e.Rule); msg != "" {
			report("%s", msg)
		}
		switch {
		case e.Revision == "" || slices.Contains(revisions, e.Revision):
		case len(revisions) == 0:
			report("the entry for rule %q must not have a revision: these findings are not about one", e.Rule)
		default:
			report("there is no revision %q", e.Revision).Hint = source.DidYouMean(e.Revision, revisions)
		}
	}
	ds = append(ds, d.Diagnostics()...)
	ds.Sort()
	return &b, ds
}

// Split returns which of the places are accepted, and the entries that accept none.
func (b *Baseline) Split(places []Place) (accepted []bool, stale []Accepted) {
	accepted = make([]bool, len(places))
	for _, e := range b.Accepted {
		used := false
		for i, p := range places {
			if e.covers(p) {
				accepted[i], used = true, true
			}
		}
		if !used {
			stale = append(stale, e)
		}
	}
	return accepted, stale
}

func (e Accepted) covers(p Place) bool {
	if e.Rule != p.Rule || e.Tool != p.Tool || e.Subject != p.Subject {
		return false
	}
	sameServer := e.Server == "" || e.Server == p.Server
	sameRevision := e.Revision == "" || e.Revision == p.Revision
	isBelow := e.Path == "" || e.Path == p.Path || strings.HasPrefix(p.Path, e.Path+"/")
	return sameServer && sameRevision && isBelow
}
