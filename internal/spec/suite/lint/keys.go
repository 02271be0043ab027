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
	case "it", "test", "title", "label", "test_name", "testname", "case_name":
		return "name"
	case "snapshot", "tomatchsnapshot":
		return "it is a matcher: expect: [{target: structured, matcher: {snapshot: true}}]"
	case "tests", "script", "post_response":
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
	case "reset_timeout_on_progress", "resettimeoutonprogress", "progress_timeout", "progresstimeout", "inactivity_timeout", "silence_timeout", "idle":
		return "idle_timeout"
	case "max_total_timeout", "maxtotaltimeout", "total_timeout", "max_timeout", "timeout_ms", "timeout_seconds", "timeout-minutes", "timeoutms", "timeoutseconds", "time_limit":
		return "timeout"
	case "needs", "depends_on", "dependson", "concurrent", "parallel":
		return "a test needs no other one: steps: of one test run in order, run_options: {parallel: n} runs tests at once"
	case "todo", "disabled", "ignore":
		return "skip"
	case "mark", "markers", "marks", "labels", "groups", "category":
		return "tags"
	case "xfail", "fails", "expected_failure", "known_failure", "continue-on-error", "allow_failure":
		return "expect_failure"
	case "target", "matcher", "weight", "assert-set":
		return "it belongs to an assertion: expect: [{target: …, matcher: {…}}]"
	case "vars", "variables":
		return "variables: of the suite, or cases: for rows of one test, whose columns are ${case.NAME}"
	}
	return ""
}

// ServerKey returns the key of a server that corresponds to a key of client
// configuration files and of containers, or a hint if there is none.
func ServerKey(key string) string {
	switch strings.ToLower(key) {
	case "image", "container":
		return "start the container: command: [docker, run, -i, --rm, IMAGE], with -e, NAME=VALUE before IMAGE for each variable; if it serves HTTP, start it yourself (-p 8080:8080) and write url: http://127.0.0.1:8080/mcp"
	case "ports", "port", "expose":
		return "leave it out: a server with command speaks over its standard input and output, one over HTTP has url: http://127.0.0.1:PORT/mcp"
	case "verify", "verify_ssl", "ssl", "insecure", "rejectunauthorized":
		return "write tls: {insecure: true}, or tls: {ca_file: FILE}"
	case "volumes":
		return "write them in the command: [docker, run, -i, --rm, -v, 'HERE:THERE', IMAGE]"
	case "type":
		return "leave it out: a server with command speaks stdio, one with url speaks HTTP (transport says which)"
	case "disabled":
		return "leave it out; run --server chooses among servers, skip: leaves out tests"
	case "workingdir", "workingdirectory", "working-directory", "working_dir", "working_directory", "workdir", "dir":
		return "cwd"
	case "environment", "envs":
		return "write env: {NAME: VALUE}; for a container, -e, NAME=VALUE in its command, before the image"
	case "serverurl", "server_url", "baseurl", "base_url", "endpoint", "address", "uri", "host":
		return "url"
	case "envfile", "env_file":
		return "write env: {NAME: \"${NAME}\"}: the variables of a .env file in the folder of the suite can be used"
	case "cmd", "program", "executable", "run", "exec", "start", "script", "entrypoint":
		return "command"
	case "describe":
		return "it belongs to a variant: variants: {NAME: {describe: FILE}}"
	case "autoapprove", "alwaysallow", "enabled", "trust", "gallery", "icon":
		return "leave it out: it is for clients, and mcptest calls only what a test calls"
	case "bearer", "token", "bearertoken", "apikey", "api_key", "authorization",
		"bearer_token", "bearer_token_env", "oauth":
		return "it belongs to auth: auth: {bearer_token_env: NAME}, or auth: {oauth: …}"
	case "":
		return "write {command: …} or {url: …}"
	}
	return ""
}

// SuiteKey returns the key of a suite that corresponds to a key of another tool's file,
// or a hint if there is none.
func SuiteKey(key string) string {
	switch strings.ToLower(key) {
	case "describe", "description", "suite", "title":
		return "name"
	case "providers", "targets", "mcp_servers", "server":
		return "servers"
	case "mock", "mocks", "stubs":
		return "upstreams: replaces an API behind a server; mcptest mock is a whole server for command:"
	case "defaults", "default", "defaulttest":
		return "defaultTest"
	case "tool":
		return "tools"
	case "workers", "maxworkers", "max_workers", "concurrency", "fullyparallel", "jobs":
		return "it belongs to run_options: run_options: {parallel: 4}"
	case "bail", "maxfailures", "max_failures", "failfast":
		return "it belongs to run_options: run_options: {fail_fast: true}"
	case "reporter", "reporters", "output", "outputpath", "output_path":
		return "reports are flags of a run: mcptest run --reporter html=report.html"
	case "projects", "project", "browsers":
		return "variants: of a server are its configurations, --server chooses among servers"
	case "config", "use", "settings", "options", "evaluateoptions", "commandlineoptions":
		return "how tests run is in run_options: {parallel: 4, timeout: 10s}, what a server needs at the server"
	case "testdir", "testmatch", "include", "exclude", "testpaths":
		return "leave it out: suites are arguments, mcptest run tests/ finds *.mcptest.yaml"
	case "globalsetup", "global_setup", "setupfiles":
		return "setup"
	case "globalteardown", "global_teardown":
		return "teardown"
	case "flows", "flow", "steps", "scenarios":
		return "a flow is a test with steps: tools: [{name: …, steps: [{tool: …}, {tool: …}]}]"
	case "environment":
		return "env: sets variables of the servers' processes, variables: values for ${NAME}"
	case "strategy", "matrix", "parametrize":
		return "cases: of a test are its rows, variants: of a server its configurations"
	case "fixture", "fixtures":
		return "setup: lists steps before all tests, setup_per_test: steps before each"
	case "mcpservers":
		return "rename it to servers: command, args, env, url and headers are the same here (leave out type and disabled)"
	case "derivedmetrics", "expect", "threshold", "tags":
		return "it belongs to a test, or to defaultTest for all tests"
	case "beforeall", "beforeeach", "aftereach", "afterall":
		return "it belongs to the hooks: hooks: {" + key + ": …}"
	}
	return ""
}
