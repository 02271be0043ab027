package verdict

import "mcptest/internal/mcpaql/rule"

// FailOns lists the choices of --fail-on, the strictest first.
func FailOns() []string {
	return []string{string(FailOnIncomplete), string(FailOnWarn), string(FailOnFail)}
}

// Exit returns the exit code of the report.
func (r *Report) Exit(on FailOn, incomplete bool) int {
	code := ExitCode(r.Categories)
	if code == ExitFailed || len(r.Changed) > 0 {
		return ExitFailed
	}
	if r.warns(on, code, incomplete) {
		return ExitWarned
	}
	return ExitPassed
}

// warns reports whether a report in which nothing failed is one with warnings.
func (r *Report) warns(on FailOn, code int, incomplete bool) bool {
	if on == FailOnFail {
		return false
	}
	if code == ExitWarned {
		return true
	}
	switch on {
	case FailOnWarn:
		return r.HasWarnings()
	case FailOnIncomplete:
		return incomplete && (r.Rules != rule.Strict || len(r.NotProved) > 0)
	case "":
		return len(r.NotProved) > 0
	}
	return false
}

// ExitCode returns the exit code for the results of the categories.
func ExitCode(cs []CategoryResult) int {
	code := ExitPassed
	for _, c := range cs {
		switch {
		case c.Required && c.Result == Failed:
			return ExitFailed
		case !c.Required && c.Result == Warned:
			code = ExitWarned
		}
	}
	return code
}

// The exit codes of the command line (S 7.4).
const (
	ExitPassed = 0
	ExitFailed = 1 // a MUST category is FAIL, or a live run changed data that it did not create
	ExitWarned = 2 // a SHOULD category is WARN
	ExitConfig = 3 // an invalid command line or file

	ExitRefused = 5 // refused by policy: no recording in CI
)
