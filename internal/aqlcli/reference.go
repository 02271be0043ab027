package aqlcli

import (
	"mcptest/internal/aql/verdict"
	"mcptest/internal/cmdutil"
	"mcptest/internal/gen"
)

// exitCodes is the table of exit codes.
var exitCodes = []gen.ExitCode{
	{Code: verdict.ExitPassed, Doc: "conformant at the requested level"},
	{Code: verdict.ExitFailed, Doc: "a MUST category failed, or live changed data that it did not create; for diff and verify-fixtures, a difference"},
	{Code: verdict.ExitWarned, Doc: "a SHOULD category warned"},
	{Code: verdict.ExitConfig, Doc: "an invalid command line or file"},
	{Code: verdict.ExitRefused, Doc: "live --record is refused because CI is set"},
}

// Program describes the command line, for the reference and the manual page.
func Program() gen.Program {
	p := cmdutil.Describe(newRoot(&call{}))
	p.ExitCodes = exitCodes
	return p
}
