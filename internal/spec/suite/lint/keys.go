package lint

import "strings"

// TestKey returns the key that corresponds to a key of another test tool, or
// a hint if there is none.
func TestKey(key string) string {
	switch strings.ToLower(key) {
	case "arguments", "input", "inputs", "params", "parameters", "with", "arg", "args", "toolarg", "tool_args", "body", "payload":
		return "args"
	case "expect", "assert", "asserts", "assertion", "assertions", "checks", "expectations", "expected":
		return "expect"
	case "test", "tests", "script", "post_response":
		return "assertions are data: expect: [{target: text, matcher: {contains: …}}]"
	case "toolname", "tool_name", "function", "uses":
		return "tool"
	case "expecterror", "expect_error", "shouldfail", "should_fail", "throws", "raises", "rejects":
		return "a test that expects a rejection: expect: [{target: refusal, matcher: {exists: true}}]"
	case "retry":
		return "retries"
	case "setup", "before", "before_each", "beforeeach", "pre_request", "prerequest", "fixture", "fixtures":
		return "steps before each test are listed in setup_per_test: of the suite"
	case "capture", "save", "extract", "store":
		return "a step of a flow captures values: steps: [{tool: …, capture: {name: target}}]"
	case "parametrize", "parameterize", "parameters_from", "data", "rows", "examples", "table", "dataset", "each", "foreach", "matrix", "strategy":
		return "cases"
	case "elicitation", "sampling", "roots":
		return "it belongs to respond: respond: {" + key + ": …}"
	case "if", "when", "condition", "skipif", "skip_if", "only_if":
		return "skip: leaves a test out always, a hook with mode: context decides it at run time"
	case "timeout_ms", "timeout_seconds", "timeout-minutes", "timeoutms", "timeoutseconds", "time_limit":
		return "timeout"
	case "needs", "depends_on", "dependson", "concurrent", "parallel":
		return "a test needs no other one: steps: of one test run in order, run_options: {parallel: n} runs tests at once"
	case "todo", "disabled", "ignore":
		return "skip"
	case "mark", "markers", "marks", "labels", "groups", "category":
		return "tags"
	case "xfail", "fails", "expected_failure", "known_failure", "continue-on-error", "allow_failure":
		return "expect_failure"
	case "vars", "variables":
		return "variables: of the suite, or cases: for rows of one test, whose columns are ${case.NAME}"
	}
	return ""
}
