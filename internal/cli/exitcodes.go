package cli

import (
	"mcptest/internal/aql"
	"mcptest/internal/gen"
)

// exitCodes is the table of mcptest's exit codes, for explain and the
// reference.
var exitCodes = []gen.ExitCode{
	{Code: exitPassed, Doc: "everything passed; an empty shard of a selection that is not empty, too"},
	{Code: exitFailed, Doc: "a test failed, or a server could not be started or tested"},
	{Code: exitInvalid, Doc: "an invalid suite, flag or environment, or a failed setup; with an invalid suite nothing was started"},
	{Code: exitReady, Doc: "a server was waited for (--wait-for-ready, wait_for_ready) in vain, and nothing else failed"},
	{Code: exitInternal, Doc: "a failure of the program itself, or a report that could not be written"},
	{Code: exitPolicy, Doc: "refused by policy"},
	{Code: 6, Doc: "reserved"},
	{Code: exitNothing, Doc: "no test was selected"},
	{Code: 129, Doc: "ended by SIGHUP, after every process was stopped and the report was written"},
	{Code: 130, Doc: "interrupted (SIGINT, Ctrl-C), after every process was stopped and the report was written"},
	{Code: 131, Doc: "ended by SIGQUIT (Ctrl-\\), at once: every process was killed, and no report was written"},
	{Code: 143, Doc: "ended by SIGTERM, after every process was stopped and the report was written"},
}

const exitNote = "Where several hold, the first of these wins: a signal (128 and its number), 2, 1, 3, 4, 7."

// aqlExitCodes is the same for mcpaql-conformance.
var aqlExitCodes = []gen.ExitCode{
	{Code: aql.ExitPassed, Doc: "conformant at the level asked for"},
	{Code: aql.ExitFailed, Doc: "a MUST category failed; for diff and verify-fixtures, a difference"},
	{Code: aql.ExitWarned, Doc: "a SHOULD category warned"},
	{Code: aql.ExitConfig, Doc: "a mistake in the command line or in a file"},
}
