package result

// FindingKind describes a kind of finding.
type FindingKind struct{ Name, Doc string }

// AllSkipped is the kind of the finding about a run that tested nothing.
const AllSkipped = "all-skipped"

// UncleanEnd is the kind of the finding about a server's process that did not end as it
// should.
const UncleanEnd = "unclean-end"

// OfResult is the kind of the findings about results that clients do not hand to the model as
// the server meant them.
const OfResult = "result"

// FindingKinds are the kinds other than protocol violations, in the order of the
// documentation.
var FindingKinds = []FindingKind{
	{"unused-recording", "a cassette contains requests that no test of a replayed run sent (run --replay). The message names the first of them. Or a recording of an upstream has exchanges of a test that no longer exists: a warning"},
	{"other-server", "a cassette was replayed that was recorded from another command or URL than the configured one (run --replay): a warning"},
	{"replayed-times", "tests of a replayed run examine how long calls took: the replay was measured, not the server (run --replay): a warning that names them"},
	{"unnoticed-damage", "a test passes although the contents of the responses to its calls were changed (run --replay with --damage): its assertions examine none of them, or only their types"},
	{"leftover-process", "a process was still running at the end and was stopped. The message names it and, if known, the hook, step or server that started it: a warning"},
	{"forced-stop", "a background step did not exit when it was asked to, or had no time left after a signal, and was killed: a warning"},
	{UncleanEnd, "a server did not exit when its input was closed, exited with an error, or left processes behind. Clients that only close the input leak it: for information, or a failure of the run with strict_exit: true. Exit at the end of the input. Node: process.stdin.on(\"close\", () => process.exit(0)), and end child processes there. Python: return from main after mcp.run(), and start threads with daemon=True. Go: return from main when the server's Run returns, and cancel the context of what it started"},
	{"background-ended", "a background step exited before the tests that needed it: a warning"},
	{"server-restarted", "a server crashed or hung and was restarted: a warning; if no test was waiting for it, a crash is also reported as server-crashed"},
	{"handshake", "the result of the handshake has a member that the schema of the protocol forbids, but that keeps no widely used client from connecting: a warning"},
	{"session-lost", "a server over HTTP no longer knew the session, which was opened again: a warning"},
	{"tool-list", "the list of tools could not be read, so results are not compared with their outputSchema: a warning"},
	{"tool-header", "a tool was dropped from the list, because a client must ignore tools with an invalid x-mcp-header: a warning"},
	{"teardown", "a teardown step failed: a warning that does not change the exit code"},
	{"afterAll", "an afterAll hook failed: a warning that does not change the exit code"},
	{"hand-over", "the environment of --setup-only could not be left running and was stopped"},
	{"internal-error", "an internal error of mcptest; cleanup was still done"},
	{AllSkipped, "every selected test was skipped, so the run tested nothing: a warning"},
	{"warnings", "there are warnings, with --fail-on-warnings"},
	{"flaky", "tests passed only after a retry, with --fail-on-flaky"},
	{CoverageFinding, "the tests examine less of what a server offers than the suite's coverage requires; if nothing else failed, the exit code is 6"},
	{"unmatched-upstream-request", "an upstream got a request that no route matches, and that belongs to no single test; a warning with unmatched: 404"},
	{"missing-request-value", "the response of a route needs a value that the request does not have, and the request belongs to no single test"},
	{"unused-upstream", "an upstream got no request in the whole run: the server takes the address from another place, or ignores proxies: a warning"},
	{"undeclared-host", "a server tried to connect to a host or port that is not declared as an upstream; the proxy responded with 502"},
	{"upstream-not-reached", "a request without a route could not be passed on to the real API, or its response broke off (--record-upstream, --upstream-mode live)"},
	{"recording-not-written", "a recording was not written, because requests could not be passed on to the API, or the API refused with 401 or 403 requests that it accepted before"},
	{"untrusted-certificate", "a server refused the certificate of the proxy, because it pins another one or does not read the variables that name trusted authorities: a warning"},
	{"unsupported-protocol", "a server requested something other than HTTP/1.1 from the proxy, such as HTTP/2 or a WebSocket: a warning"},
	{"network-isolated", "a server with isolate: network could reach its upstreams only: for information"},
	{"network-not-isolated", "isolate: network has no effect, because this system or its settings have no network namespaces: a warning"},
	{OfResult, "the result of a tool is not handed to a model as the server meant it: a known client writes it to a file, shortens it, or drops its text or image. rule, tool, test and level say which: for information, it changes no exit code"},
	{"stale-baseline", "an entry of the baseline no longer fails or no longer exists"},
}
