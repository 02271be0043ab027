package verdict

import (
	"fmt"
	"slices"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/offer/ruleset"
	"mcptest/internal/report/result"
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

	Status int `json:"-"` // of HTTP
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
	Rule     string        `json:"rule"`
	Family   string        `json:"family"`
	Level    ruleset.Level `json:"level"`
	Revision string        `json:"revision"`
	Verdict  Verdict       `json:"verdict"`
	Reason   string        `json:"reason,omitempty"` // of a rule that was not verified or does not apply
	Clause   string        `json:"clause,omitempty"`
	Sentence string        `json:"sentence,omitempty"`
	Failures []Failure     `json:"failures,omitempty"`
	Notes    []string      `json:"notes,omitempty"`   // information that decides nothing
	Decides  bool          `json:"decides,omitempty"` // a failure counts at every level
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
	Left       int `json:"left_failed"` // failed rules of level practice that count all the same: what a server leaves
}

// Musts is the number of rules of level must that were examined.
func (t Tally) Musts() int { return t.Passed + t.Failed }

// Score is the share of rules of level must that hold, in percent, rounded down; -1
// without any.
func (t Tally) Score() int { return computePercent(t.Passed, t.Passed+t.Failed) }

// Coverage is the share of applicable rules that were verified, in percent.
func (t Tally) Coverage() int { return computePercent(t.Verified, t.Applicable) }

func computePercent(part, all int) int {
	if all == 0 {
		return -1
	}
	return part * 100 / all
}

// Grade is a letter, or "" with a coverage below 60 % or without any rule of level must
// that was examined.
func (t Tally) Grade() string {
	should := t.Should + t.ShouldNot
	switch {
	case t.Musts() == 0 || t.Coverage() < 60:
		return ""
	case t.Failed == 0 && t.Left == 0 && t.Should*100 >= should*95:
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
	Late      string         // why an era was not examined for lack of time; "" if each was
	Results   []Result       // in the order of the rules, by revision
	Calls     map[string]int // of tools

	File string // that declares the server, for annotations; may be empty
	Line int
}

// Tally counts the results of a revision, or all with "".
func (r Report) Tally(revision string) (t Tally) {
	for _, x := range r.Results {
		if revision != "" && x.Revision != revision {
			continue
		}
		if x.Decides && x.Verdict == Fail {
			t.Left++
		}
		if x.Level == ruleset.Practice || x.Verdict == NotApplicable {
			continue
		}
		t.Applicable++
		failed := x.Verdict == Fail
		switch {
		case x.Verdict == NotVerified:
			continue
		case x.Level == ruleset.Must && failed:
			t.Failed++
		case x.Level == ruleset.Must:
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

// Families counts the results of each family in each revision, without those of which no
// rule applied.
func (r Report) Families(rules ruleset.Rules) (out []result.ProbeFamily) {
	for _, revision := range r.Revisions {
		for _, f := range rules.Families {
			n := result.ProbeFamily{Revision: revision, Family: f.Name}
			for _, x := range r.Results {
				if x.Family != f.Name || x.Revision != revision {
					continue
				}
				switch x.Verdict {
				case Pass:
					n.Passed++
				case Fail:
					n.Failed++
				case NotVerified:
					n.Unverified++
					if !slices.Contains(n.Reasons, x.Reason) {
						n.Reasons = append(n.Reasons, x.Reason)
					}
				}
			}
			if n.Passed+n.Failed+n.Unverified > 0 {
				out = append(out, n)
			}
		}
	}
	return out
}

// Open reports whether a failure is not accepted by the baseline.
func (x Result) Open() bool {
	return slices.ContainsFunc(x.Failures, func(f Failure) bool { return f.Accepted == "" })
}

// Fails reports whether a failed rule decides: of level must, or with should also the others.
func (r Report) Fails(on ruleset.Level) bool {
	return slices.ContainsFunc(r.Results, func(x Result) bool {
		return x.Verdict == Fail && x.Open() && x.Counts(on)
	})
}

// Counts reports whether a failure of the rule fails what fails on a level. A rule of
// practice counts only if it is one that decides.
func (x Result) Counts(on ruleset.Level) bool {
	return x.Decides || x.Level == ruleset.Must || x.Level == on && on == ruleset.Should
}

// TimeReason begins the reason of a rule that was not verified because a limit of time was
// reached.
const TimeReason = "time: "

// Undecided says why the report is no verdict: no rule was examined, or a limit of time
// left a rule of level must unexamined. "" is a verdict.
func (r Report) Undecided() string {
	examined, late, limit := 0, 0, ""
	for _, x := range r.Results {
		switch {
		case x.Verdict == Pass || x.Verdict == Fail:
			examined++
		case x.Level == ruleset.Must && x.Verdict == NotVerified && strings.HasPrefix(x.Reason, TimeReason):
			late++
			limit = strings.TrimPrefix(x.Reason, TimeReason)
		}
	}
	switch {
	case examined == 0:
		return "no rule was examined"
	case r.Late != "":
		return r.Late
	case late > 0:
		return fmt.Sprintf("%s of level must not examined: %s", display.Count(late, "rule"), limit)
	}
	return ""
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
				e := &f.Evidence[j]
				e.Sent = mask(e.Sent)
				e.Received = mask(e.Received)
			}
		}
	}
}
