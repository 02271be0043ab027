package exam

import (
	"cmp"
	"slices"
	"strings"

	"mcptest/internal/offer/ruleset"
	"mcptest/internal/run/probe/verdict"
)

// entry collects what was found out about one rule in one revision.
type entry struct {
	held       bool
	once       string // seen, but not when it was repeated
	failures   []verdict.Failure
	notes      []string
	unverified string
	outside    string // why it does not apply
}

// ledger collects the verdicts of one revision, by rule.
type ledger map[string]*entry

func (l ledger) of(rule string) *entry {
	if l[rule] == nil {
		l[rule] = &entry{}
	}
	return l[rule]
}

// Add enters the outcome of one check.
func (l ledger) Add(rule, subject string, o Outcome) {
	e := l.of(rule)
	switch o.Verdict {
	case verdict.Pass:
		e.held = true
	case verdict.Fail:
		same := slices.ContainsFunc(e.failures, func(f verdict.Failure) bool { return f.Subject == subject })
		if !same {
			e.failures = append(e.failures, verdict.Failure{Subject: subject, Message: o.Why, Evidence: o.Evidence})
		}
	case verdict.NotVerified:
		if strings.HasPrefix(o.Why, "not repeatable") {
			e.once = cmp.Or(e.once, o.Why)
		}
		e.unverified = cmp.Or(e.unverified, o.Why)
	case verdict.NotApplicable:
		e.outside = cmp.Or(e.outside, o.Why)
	}
	if o.Note != "" && !slices.Contains(e.notes, o.Note) {
		e.notes = append(e.notes, o.Note)
	}
}

// result returns the verdict of a rule.
func (l ledger) result(r ruleset.Rule, c ruleset.Claim, revision string) verdict.Result {
	e := l.of(r.ID)
	x := verdict.Result{
		Rule: r.ID, Family: r.Family, Level: c.Level, Revision: revision, Clause: c.URL(revision), Sentence: c.Sentence, Notes: e.notes,
		Verdict: verdict.NotVerified,
	}
	switch {
	case len(e.failures) > 0:
		x.Verdict, x.Failures = verdict.Fail, e.failures
	case e.once != "":
		x.Reason = e.once
	case e.held:
		x.Verdict = verdict.Pass
	case e.unverified != "":
		x.Reason = e.unverified
	case e.outside != "":
		x.Verdict, x.Reason = verdict.NotApplicable, e.outside
	default:
		x.Reason = "nothing that the server offers provokes it"
	}
	return x
}
