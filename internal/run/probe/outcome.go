package probe

import (
	"fmt"

	"mcptest/internal/client/mcp"
	"mcptest/internal/run/probe/verdict"
)

// outcome is the result of one provocation.
type outcome struct {
	verdict  verdict.Verdict
	why      string
	evidence []verdict.Evidence
	once     bool   // it must not be repeated
	note     string // information that decides nothing
}

// held says that the server did what a rule requires.
func held() outcome { return outcome{verdict: verdict.Pass} }

// broken says how the server broke a rule.
func broken(evidence verdict.Evidence, format string, args ...any) outcome {
	return outcome{verdict: verdict.Fail, why: fmt.Sprintf(format, args...), evidence: []verdict.Evidence{evidence}}
}

// unverified says why a rule that applies could not be provoked.
func unverified(format string, args ...any) outcome {
	return outcome{verdict: verdict.NotVerified, why: fmt.Sprintf(format, args...)}
}

// inapplicable says why a rule does not concern the server.
func inapplicable(format string, args ...any) outcome {
	return outcome{verdict: verdict.NotApplicable, why: fmt.Sprintf(format, args...)}
}

// right says that nothing is wrong with a response, or what is.
func right(wrong string, x *mcp.Exchange) outcome {
	if wrong == "" {
		return held()
	}
	return broken(shown(x), "%s", wrong)
}
