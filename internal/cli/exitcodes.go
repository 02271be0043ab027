package cli

import (
	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/cli/option"
)

// Program describes the command line, for the reference and the manual page.
func Program() cmdutil.Program {
	p := cmdutil.Describe(newRoot(cmdutil.Streams{}))
	p.ExitCodes, p.ExitNote = exitCodes, exitNote
	return p
}

// exitCodes is the table of mcptest's exit codes, for explain and the
// reference.
var exitCodes = []cmdutil.ExitCode{
	{Code: option.ExitPassed, Doc: "all tests passed, or the shard is empty although tests were selected"},
	{Code: option.ExitFailed, Doc: "a test failed, a server could not be started or tested, or a finding failed the run, such as warnings with --fail-on-warnings"},
	{Code: option.ExitInvalid, Doc: "an invalid suite, flag or environment, or a failed setup; if a suite is invalid, nothing was started"},
	{Code: option.ExitReady, Doc: "timed out waiting for a server to become ready (--wait-for-ready, wait_for_ready); no other failures"},
	{Code: option.ExitInternal, Doc: "an internal error, or a report could not be written"},
	{Code: option.ExitPolicy, Doc: "refused by policy: a lock file, a table of tools, a snapshot or a recording is not written in CI; or --max-cost was reached"},
	{Code: option.ExitGate, Doc: "a quality gate failed (check, probe, leak, load, the coverage of a run, an inconclusive test), or what a server offers changed (diff, lock --check, tools --check)"},
	{Code: option.ExitNothing, Doc: "no tests were selected, or nothing was compared"},
	{Code: 129, Doc: "ended by SIGHUP, after every process was stopped and the report was written"},
	{Code: 130, Doc: "interrupted (SIGINT, Ctrl-C), after every process was stopped and the report was written"},
	{Code: 131, Doc: "ended by SIGQUIT (Ctrl-\\), immediately: every process was killed, and no report was written"},
	{Code: 143, Doc: "ended by SIGTERM, after every process was stopped and the report was written"},
}

const exitNote = "If several apply, the first of these is used: a signal (128 plus its number), 2, 1, 3, 4, 6, 7."
