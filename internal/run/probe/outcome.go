package probe

import "fmt"

// outcome is the result of one provocation.
type outcome struct {
	verdict  Verdict
	why      string
	evidence []Evidence
	once     bool   // it must not be repeated
	note     string // information that decides nothing
}

// held says that the server did what a rule requires.
func held() outcome { return outcome{verdict: Pass} }

// broken says how the server broke a rule.
func broken(evidence Evidence, format string, args ...any) outcome {
	return outcome{verdict: Fail, why: fmt.Sprintf(format, args...), evidence: []Evidence{evidence}}
}

// unverified says why a rule that applies could not be provoked.
func unverified(format string, args ...any) outcome {
	return outcome{verdict: NotVerified, why: fmt.Sprintf(format, args...)}
}

// inapplicable says why a rule does not concern the server.
func inapplicable(format string, args ...any) outcome {
	return outcome{verdict: NotApplicable, why: fmt.Sprintf(format, args...)}
}

// bad is what is wrong, "" if nothing is.
func (o outcome) bad() string {
	if o.verdict != Fail {
		return ""
	}
	return o.why
}
