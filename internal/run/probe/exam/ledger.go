package exam

import (
	"cmp"
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

// result returns the verdict of a rule. What failed decides, then what failed but not when
// it was repeated, then what held.
func (l ledger) result(r ruleset.Rule, c ruleset.Claim, revision string) verdict.Result {
	x := verdict.Result{Rule: r.ID, Family: r.Family, Level: c.Level, Revision: revision, Clause: c.URL(revision), Sentence: c.Sentence}
	once, reasons := "", map[verdict.Verdict]string{}
	for _, e := range l[r.ID] {
		if e.Verdict == verdict.Fail && !slices.ContainsFunc(x.Failures, func(f verdict.Failure) bool { return f.Subject == e.subject }) {
			x.Failures = append(x.Failures, verdict.Failure{Subject: e.subject, Message: e.Why, Evidence: e.Evidence})
		}
		if e.Note != "" && !slices.Contains(x.Notes, e.Note) {
			x.Notes = append(x.Notes, e.Note)
		}
		if e.Verdict == verdict.NotVerified && strings.HasPrefix(e.Why, "not repeatable") {
			once = cmp.Or(once, e.Why)
		}
		if _, known := reasons[e.Verdict]; !known {
			reasons[e.Verdict] = e.Why
		}
	}
	x.Verdict, x.Reason = verdict.NotVerified, cmp.Or(once, "nothing that the server offers provokes it")
	for _, v := range []verdict.Verdict{verdict.NotApplicable, verdict.NotVerified, verdict.Pass} {
		if why, ok := reasons[v]; ok && once == "" {
			x.Verdict, x.Reason = v, why
		}
	}
	if len(x.Failures) > 0 {
		x.Verdict, x.Reason = verdict.Fail, ""
	}
	return x
}
