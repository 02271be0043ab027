package probe

import (
	"cmp"
	"slices"
	"strings"

	"mcptest/internal/report/gate"
)

// A Verdict is the result of a rule.
type Verdict string

// The verdicts.
const (
	Pass          Verdict = "pass"
	Fail          Verdict = "fail"
	NotApplicable Verdict = "not applicable"
	NotVerified   Verdict = "not verified"
)

// Evidence is one request and its response.
type Evidence struct {
	Sent     string `json:"sent"`
	Received string `json:"received"`

	status int // of HTTP
}

// A Failure is one subject that breaks a rule.
type Failure struct {
	Subject  string     `json:"subject,omitempty"` // "tool echo"; empty: the server as a whole
	Message  string     `json:"message"`
	Evidence []Evidence `json:"evidence,omitempty"`
	Accepted string     `json:"accepted,omitempty"` // the reason in the baseline
}

// A Result is the verdict of one rule in one revision.
type Result struct {
	Rule     string    `json:"rule"`
	Family   string    `json:"family"`
	Level    Level     `json:"level"`
	Revision string    `json:"revision"`
	Verdict  Verdict   `json:"verdict"`
	Reason   string    `json:"reason,omitempty"` // of a rule that was not verified or does not apply
	Clause   string    `json:"clause,omitempty"`
	Sentence string    `json:"sentence,omitempty"`
	Failures []Failure `json:"failures,omitempty"`
	Notes    []string  `json:"notes,omitempty"` // information that decides nothing
	// Reproduce is the command that repeats the rule; set by the caller.
	Reproduce string `json:"reproduce,omitempty"`
}

// Tally counts the rules of one revision, or of several.
type Tally struct {
	Passed     int `json:"passed"` // rules of level must
	Failed     int `json:"failed"`
	Should     int `json:"should_passed"`
	ShouldNot  int `json:"should_failed"`
	Applicable int `json:"applicable"` // of level must and should
	Verified   int `json:"verified"`
}

// Score is the share of rules of level must that hold, in percent, rounded down; -1
// without any.
func (t Tally) Score() int { return percent(t.Passed, t.Passed+t.Failed) }

// Coverage is the share of applicable rules that were verified, in percent.
func (t Tally) Coverage() int { return percent(t.Verified, t.Applicable) }

func percent(part, all int) int {
	if all == 0 {
		return -1
	}
	return part * 100 / all
}

// Grade is a letter, or "" with a coverage below 60 %.
func (t Tally) Grade() string {
	switch should := t.Should + t.ShouldNot; {
	case t.Coverage() < 60:
		return ""
	case t.Failed == 0 && t.Should*100 >= should*95:
		return "A"
	case t.Failed == 0:
		return "B"
	case t.Score() >= 90:
		return "C"
	default:
		return "D"
	}
}

// A Report is the result of a probe.
type Report struct {
	Server    string         // name and version that the server reports
	Seed      uint64         //
	Revisions []string       // that were examined, newest first
	Absent    []string       // eras that the server does not speak, with the reason
	Results   []Result       // in the order of the rules, by revision
	Calls     map[string]int // of tools
}

// Tally counts the results of a revision, or all with "".
func (r Report) Tally(revision string) (t Tally) {
	for _, x := range r.Results {
		if x.Level == Practice || x.Verdict == NotApplicable || revision != "" && x.Revision != revision {
			continue
		}
		t.Applicable++
		switch failed := x.Verdict == Fail; {
		case x.Verdict == NotVerified:
			continue
		case x.Level == Must && failed:
			t.Failed++
		case x.Level == Must:
			t.Passed++
		case failed:
			t.ShouldNot++
		default:
			t.Should++
		}
		t.Verified++
	}
	return t
}

// Open reports whether a failure is not accepted by the baseline.
func (x Result) Open() bool {
	return slices.ContainsFunc(x.Failures, func(f Failure) bool { return f.Accepted == "" })
}

// Fails reports whether a failed rule decides: of level must, or with should also the others.
func (r Report) Fails(on Level) bool {
	return slices.ContainsFunc(r.Results, func(x Result) bool {
		return x.Verdict == Fail && x.Open() && (x.Level == Must || on == Should)
	})
}

// entry collects what was found out about one rule in one revision.
type entry struct {
	held       bool
	once       string // seen, but not when it was repeated
	failures   []Failure
	notes      []string
	unverified string
	outside    string // why it does not apply
}

// ledger collects the verdicts of one revision.
type ledger struct {
	entries map[string]*entry
}

func (l *ledger) of(rule string) *entry {
	if l.entries == nil {
		l.entries = map[string]*entry{}
	}
	e := l.entries[rule]
	if e == nil {
		e = &entry{}
		l.entries[rule] = e
	}
	return e
}

// add enters the outcome of one check.
func (l *ledger) add(rule, subject string, o outcome) {
	e := l.of(rule)
	switch o.verdict {
	case Pass:
		e.held = true
	case Fail:
		same := slices.ContainsFunc(e.failures, func(f Failure) bool { return f.Subject == subject })
		if !same {
			e.failures = append(e.failures, Failure{Subject: subject, Message: o.why, Evidence: o.evidence})
		}
	case NotVerified:
		if strings.HasPrefix(o.why, "not repeatable") {
			e.once = cmp.Or(e.once, o.why)
		}
		e.unverified = cmp.Or(e.unverified, o.why)
	case NotApplicable:
		e.outside = cmp.Or(e.outside, o.why)
	}
	if o.note != "" && !slices.Contains(e.notes, o.note) {
		e.notes = append(e.notes, o.note)
	}
}

// result returns the verdict of a rule.
func (l *ledger) result(r Rule, c Claim, revision string) Result {
	e := l.of(r.ID)
	x := Result{Rule: r.ID, Family: r.Family, Level: c.Level, Revision: revision, Clause: c.URL(revision), Sentence: c.Sentence, Notes: e.notes}
	switch {
	case len(e.failures) > 0:
		x.Verdict, x.Failures = Fail, e.failures
	case e.once != "":
		x.Verdict, x.Reason = NotVerified, e.once
	case e.held:
		x.Verdict = Pass
	case e.unverified != "":
		x.Verdict, x.Reason = NotVerified, e.unverified
	case e.outside != "":
		x.Verdict, x.Reason = NotApplicable, e.outside
	default:
		x.Verdict, x.Reason = NotVerified, "nothing that the server offers provokes it"
	}
	return x
}

// Accept marks the failures that a baseline accepts, and adds a failure for each of its
// entries that accepts none.
func (r *Report) Accept(b *gate.Baseline) {
	var places []gate.Place
	var failures []*Failure
	for i := range r.Results {
		for k := range r.Results[i].Failures {
			f := &r.Results[i].Failures[k]
			place := gate.Place{Rule: r.Results[i].Rule, Subject: cmp.Or(f.Subject, "server")}
			if tool, ok := strings.CutPrefix(f.Subject, "tool "); ok {
				place.Tool, place.Subject = tool, ""
			}
			places, failures = append(places, place), append(failures, f)
		}
	}
	accepted, stale := b.Split(places)
	for i, ok := range accepted {
		if ok {
			failures[i].Accepted = "baseline"
		}
	}
	for _, entry := range stale {
		r.Results = append(r.Results, Result{
			Rule: gate.StaleBaseline, Level: Must, Verdict: Fail,
			Failures: []Failure{{Message: "the entry for " + entry.Rule + " in the baseline accepts nothing: remove it (" + entry.Reason + ")"}},
		})
	}
}

// Reproduce sets the command that repeats each failed rule, with the rule for %s, and
// masks what the server and its client sent.
func (r *Report) Reproduce(command string, mask func(string) string) {
	for i := range r.Results {
		x := &r.Results[i]
		if x.Verdict == Fail {
			x.Reproduce = strings.Replace(command, "%s", x.Rule, 1)
		}
		x.Reason = mask(x.Reason)
		for k := range x.Failures {
			f := &x.Failures[k]
			f.Subject, f.Message = mask(f.Subject), mask(f.Message)
			for j := range f.Evidence {
				f.Evidence[j].Sent, f.Evidence[j].Received = mask(f.Evidence[j].Sent), mask(f.Evidence[j].Received)
			}
		}
	}
}
