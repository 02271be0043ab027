package verdict

import (
	"cmp"
	"slices"
	"strings"

	"mcptest/internal/offer/ruleset"
	"mcptest/internal/report/gate"
)

// Accept marks the failures that a baseline accepts, and adds a failure for each of its
// entries that accepts none although its rule was examined.
func (r *Report) Accept(b *gate.Baseline) {
	var places []gate.Place
	var failures []*Failure
	for i := range r.Results {
		x := &r.Results[i]
		for k := range x.Failures {
			places = append(places, placeOf(*x, x.Failures[k]))
			failures = append(failures, &x.Failures[k])
		}
	}
	accepted, stale := b.Split(places)
	for i, ok := range accepted {
		if ok {
			failures[i].Accepted = "baseline"
		}
	}
	for _, entry := range stale {
		if only := r.findOnlyExchange(entry); len(only) > 0 {
			for _, f := range only {
				f.Accepted = "baseline"
			}
		} else if r.hasExamined(entry) {
			r.Results = append(r.Results, newStaleResult(entry))
		}
	}
}

// placeOf is the place of a failure as a baseline names it.
func placeOf(x Result, f Failure) gate.Place {
	place := gate.Place{Rule: x.Rule, Revision: x.Revision}
	if tool, ok := strings.CutPrefix(f.Subject, "tool "); ok {
		place.Tool = tool
	} else {
		place.Subject = cmp.Or(f.Subject, "server")
	}
	return place
}

// findOnlyExchange returns the failures that an entry of an older version accepts. Then every
// failure that was seen in the exchanges of requests had the subject server; today it has
// the request, such as tools/list. Such an entry names the failures of one request. If
// there are those of several requests, it is not known which of them it was.
func (r *Report) findOnlyExchange(e gate.Accepted) (out []*Failure) {
	if e.Subject != "server" || e.Revision != "" {
		return nil
	}
	subject := ""
	for i := range r.Results {
		x := &r.Results[i]
		for k := range x.Failures {
			f := &x.Failures[k]
			if x.Rule != e.Rule || !isExchange(f.Subject) {
				continue
			}
			if subject != "" && subject != f.Subject {
				return nil
			}
			subject, out = f.Subject, append(out, f)
		}
	}
	return out
}

// isExchange reports whether a subject is a request, such as "tools/list" or "tools/call
// echo".
func isExchange(subject string) bool {
	method, _, _ := strings.Cut(subject, " ")
	return strings.Contains(method, "/") || method == "initialize" || method == "ping"
}

// hasExamined reports whether the rule of an entry was examined, in its revision if it has
// one. Of a rule that was not selected or not verified nothing is known.
func (r *Report) hasExamined(e gate.Accepted) bool {
	about := func(x Result) bool { return x.Rule == e.Rule && (e.Revision == "" || e.Revision == x.Revision) }
	unknown := func(x Result) bool { return about(x) && x.Verdict == NotVerified }
	return slices.ContainsFunc(r.Results, about) && !slices.ContainsFunc(r.Results, unknown)
}

func newStaleResult(e gate.Accepted) Result {
	what := e.Rule
	if where := cmp.Or(e.Tool, e.Subject); where != "server" {
		what += " (" + where + ")"
	}
	if e.Revision != "" {
		what += " in " + e.Revision
	}
	message := "the entry for " + what + " in the baseline accepts nothing: remove it (" + e.Reason + ")"
	return Result{Rule: gate.StaleBaseline, Level: ruleset.Must, Verdict: Fail, Failures: []Failure{{Message: message}}}
}
