package result

// FindingKind says what a kind of finding means.
type FindingKind struct{ Name, Doc string }

// FindingKinds are the kinds that are no protocol violations, in the order of
// the documentation.
var FindingKinds = []FindingKind{
	{"leftover-process", "a process that somebody left running at the end; it has been ended. The message names it and, where that is known, the hook, step or server it came from: a warning"},
	{"forced-stop", "a server or background step that did not end when it was asked to, or had no time left after a signal, and was killed: a warning"},
	{"background-ended", "a background step that ended before the tests it was started for: a warning"},
	{"server-restarted", "a server that died or hung and was started once more: a warning, or an error when it crashed between two calls"},
	{"teardown", "a teardown step that failed: a warning, it changes no exit code"},
	{"afterAll", "an afterAll hook that failed: a warning, it changes no exit code"},
	{"hand-over", "the world that --setup-only brought up could not be left running, and was ended"},
	{"internal-error", "a fault of mcptest itself; what was begun has been ended all the same"},
	{"flaky", "tests that passed only when they were tried again, with --fail-on-flaky"},
	{"stale-baseline", "an entry of the baseline that no longer fails, or is no test any more"},
}
