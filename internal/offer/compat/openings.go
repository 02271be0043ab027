package compat

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"mcptest/internal/offer/opening"
)

const uncountedNote = "openings are predictions: " +
	"they count for the exit code with --only openings, and where --for names the client"

// AddOpenings adds what replays showed, as findings, too.
func (r *Report) AddOpenings(all []Opening, notes []string, rules Rules, today time.Time) {
	r.Openings = append([]Opening{}, all...)
	r.Notes = append(r.Notes, notes...)
	if r.servers == nil {
		r.servers = map[string]bool{}
	}
	uncounted := false
	for i, o := range all {
		r.servers[o.Server] = true
		if o.Verdict.Connected || o.Verdict.Unjudged != "" {
			continue
		}
		f := r.makeOpeningFinding(all, i, today)
		if !rules.counted {
			f.declared = f.Level
			uncounted = true
		}
		r.places = append(r.places, f)
	}
	r.Servers = len(r.servers)
	if uncounted {
		r.Notes = append(r.Notes, uncountedNote)
	}
	r.Notes = append(r.Notes, explainUnjudged(all)...)
	r.sort()
	r.combine(rules)
}

// makeOpeningFinding returns the finding of a client that does not get in: an error if none of its
// scripts over this transport does.
func (r *Report) makeOpeningFinding(all []Opening, i int, today time.Time) Finding {
	o := all[i]
	v, s := o.Verdict, o.Verdict.Script
	level := Level(cmp.Or(s.Level, string(LevelError)))
	for _, other := range all {
		if other.Server == o.Server && other.Verdict.Script.Rule() == s.Rule() && other.Verdict.Connected {
			level = LevelWarning
		}
	}
	evidence := "observed " + s.Seen + describeVersions(s.Versions)
	if s.Expired(today) {
		level = LevelWarning
		evidence += "; not confirmed since"
	}
	message := v.Sentence("")
	if s.Name != "initialize" || level == LevelWarning {
		message += " (script " + s.Name + ")"
	}
	return Finding{
		Rule: s.Rule(), Profile: opening.Family(s.Client), Client: s.Client, Effect: SessionLost, Level: level,
		Server: o.Server, Subject: "opening " + s.Name, Message: message, Fix: v.Fix,
		Basis: observed, Source: s.Source, Seen: s.Seen, Evidence: evidence + ": " + s.Source,
		File: o.File, Line: o.Line,
	}
}

// explainUnjudged says once for each reason why openings were not judged.
func explainUnjudged(all []Opening) (notes []string) {
	byReason := map[string][]string{}
	var reasons []string
	for _, o := range all {
		why := o.Verdict.Unjudged
		if why == "" {
			continue
		}
		if byReason[why] == nil {
			reasons = append(reasons, why)
		}
		name := o.Verdict.Script.Title
		if !slices.Contains(byReason[why], name) {
			byReason[why] = append(byReason[why], name)
		}
	}
	for _, why := range reasons {
		notes = append(notes, "openings not judged ("+strings.Join(byReason[why], ", ")+"): "+why)
	}
	return notes
}

// MaskOpenings masks what servers said.
func MaskOpenings(all []Opening, mask func(string) string) {
	for i := range all {
		v := &all[i].Verdict
		for _, text := range []*string{&v.Says, &v.Unjudged, &v.Doubt, &v.Revision} {
			*text = mask(*text)
		}
	}
}

// An Opening is what replaying one script with one server showed.
type Opening struct {
	Server  string // the name of a server of a suite, or its own
	File    string // where the server is defined
	Line    int
	Verdict opening.Verdict
}

// countLostClients worsens the verdicts of profiles whose clients do not get in: a profile is
// lost if every client that it stands for is, and degraded if some are.
func (r *Report) countLostClients() {
	for i := range r.Verdicts {
		v := &r.Verdicts[i]
		judged, lost := 0, 0
		for _, o := range r.Openings {
			if opening.Family(o.Verdict.Script.Client) != v.Profile || o.Verdict.Unjudged != "" {
				continue
			}
			judged++
			isOurs := func(f Finding) bool { return f.Rule == o.Verdict.Script.Rule() }
			isAccepted := !slices.ContainsFunc(r.Findings, isOurs) // by a baseline
			if !o.Verdict.Connected && !isAccepted {
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
}
