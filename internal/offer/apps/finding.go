package apps

import (
	"cmp"
	"fmt"

	"mcptest/internal/base/jsonv"
)

// A Finding is a violation of a rule.
type Finding struct {
	Rule    string
	Level   Level
	Tool    string // that has the view
	Subject string // "resource ui://…", if it is no tool; both empty: the server
	Pointer string // in the definition of the tool or resource
	Message string
	Fix     string
}

// maxPlaces bounds the findings of one rule about one tool or resource.
const maxPlaces = 5

// place is where something was found.
type place struct{ tool, subject, pointer string }

// judge collects findings. What several lists have in common is reported once.
type judge struct {
	server Server
	rules  map[string]Rule
	opened map[string]bool         // URIs that tools name as views
	listed map[viewKey]jsonv.Value // resources
	pages  map[string]servedPage   // that were judged, by URI
	found  []Finding
	notes  []string
	known  map[Finding]bool
	groups map[Finding]*group // by rule, level and what it is about
}

// servedPage is the page of a view with its policy.
type servedPage struct {
	page string
	csp  jsonv.Value
}

// viewKey is one view in one revision.
type viewKey struct{ revision, uri string }

// group is the findings of one rule in one tool or resource.
type group struct {
	first   int // its index
	shown   int
	omitted int
}

// maxKnown bounds the findings that are compared with later ones.
const maxKnown = 20000

// newJudge prepares what is looked up.
func newJudge(s Server) *judge {
	j := &judge{
		server: s,
		rules:  map[string]Rule{},
		opened: map[string]bool{},
		listed: map[viewKey]jsonv.Value{},
		pages:  map[string]servedPage{},
		known:  map[Finding]bool{},
		groups: map[Finding]*group{},
	}
	for _, r := range Rules() {
		j.rules[r.ID] = r
	}
	for _, l := range s.Listings {
		for _, tool := range l.Tools {
			j.opened[readView(tool).uri] = true
		}
		for _, resource := range l.Resources {
			key := viewKey{l.Revision, resource.Lookup("uri").Text()}
			if _, known := j.listed[key]; !known || l.Declared {
				j.listed[key] = resource
			}
		}
	}
	return j
}

// report reports a finding of the level of its rule.
func (j *judge) report(rule string, at place, format string, args ...any) {
	j.reportAs(j.rules[rule].Level, rule, at, format, args...)
}

// reportAs reports a finding of a level.
func (j *judge) reportAs(level Level, rule string, at place, format string, args ...any) {
	j.add(level, rule, at, "", fmt.Sprintf(format, args...))
}

// add adds a finding, unless it is known or one of too many.
func (j *judge) add(level Level, rule string, at place, fix, message string) {
	f := Finding{
		Rule:    rule,
		Level:   level,
		Tool:    shortenTo(nameLength, at.tool),
		Subject: shortenTo(nameLength, at.subject),
		Pointer: at.pointer,
		Message: message,
		Fix:     cmp.Or(fix, j.rules[rule].Fix),
	}
	if j.known[f] {
		return
	}
	if len(j.known) < maxKnown {
		j.known[f] = true
	}
	key := Finding{Rule: f.Rule, Level: f.Level, Tool: f.Tool, Subject: f.Subject}
	g := j.groups[key]
	if g == nil {
		g = &group{first: len(j.found)}
		j.groups[key] = g
	}
	if g.shown == maxPlaces {
		g.omitted++
		return
	}
	g.shown++
	j.found = append(j.found, f)
}

// note says what was not judged.
func (j *judge) note(format string, args ...any) {
	j.notes = append(j.notes, fmt.Sprintf(format, args...))
}
