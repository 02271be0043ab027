package exam

import (
	"slices"
	"strings"

	"mcptest/internal/offer/ruleset"
	"mcptest/internal/run/probe/verdict"
)

// ledger has the outcomes of one revision, by rule.
type ledger map[string][]entry

// entry is the outcome of one check about a subject.
type entry struct {
	subject string
	Outcome
}

// Add enters the outcome of one check.
func (l ledger) Add(rule, subject string, o Outcome) {
	l[rule] = append(l[rule], entry{subject, o})
}

// decide returns the verdict of a rule. A subject that failed decides; then one that could
// not be verified, because a rule with two subjects of which one is not verified is not
// passed.
func (l ledger) decide(r ruleset.Rule, c ruleset.Claim, revision string) verdict.Result {
	x := verdict.Result{
		Rule: r.ID, Family: r.Family, Level: c.Level, Revision: revision, Decides: r.Decides,
		Clause: c.URL(revision), Sentence: c.Sentence,
		Verdict: verdict.NotVerified, Reason: "nothing that the server offers provokes it",
	}
	bySubject := map[string]Outcome{}
	var subjects []string
	for _, e := range l[r.ID] {
		if e.Note != "" && !slices.Contains(x.Notes, e.Note) {
			x.Notes = append(x.Notes, e.Note)
		}
		if e.Verdict == "" {
			continue // a note only
		}
		before, known := bySubject[e.subject]
		if !known {
			subjects = append(subjects, e.subject)
		}
		if !known || weighWithin(e.Outcome) > weighWithin(before) {
			bySubject[e.subject] = e.Outcome
		}
	}
	decided := 0
	for _, subject := range subjects {
		o := bySubject[subject]
		if o.Verdict == verdict.Fail {
			x.Failures = append(x.Failures, verdict.Failure{Subject: subject, Message: o.Why, Evidence: o.Evidence})
		}
		if w := weighAcross(o); w > decided {
			decided = w
			x.Verdict, x.Reason = o.Verdict, o.Why
		}
	}
	if x.Verdict == verdict.Fail {
		x.Reason = "" // the failures say it
	}
	return x
}

// weighWithin orders the outcomes about one subject: what failed decides, then what failed
// but not when it was repeated, then what held.
func weighWithin(o Outcome) int {
	switch {
	case o.Verdict == verdict.Fail:
		return 5
	case o.Verdict == verdict.NotVerified && strings.HasPrefix(o.Why, notRepeatable):
		return 4
	case o.Verdict == verdict.Pass:
		return 3
	case o.Verdict == verdict.NotVerified:
		return 2
	}
	return 1
}

// weighAcross orders the outcomes about several subjects.
func weighAcross(o Outcome) int {
	switch o.Verdict {
	case verdict.Fail:
		return 4
	case verdict.NotVerified:
		return 3
	case verdict.Pass:
		return 2
	}
	return 1
}

// notRepeatable begins the reason of what was seen once, and not when it was repeated.
const notRepeatable = "not repeatable"
