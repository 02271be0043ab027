// Package option holds what the commands of mcptest share: exit codes, the flags
// that select suites and servers, limits, and the connection to one server whose
// responses a command shows. TargetFlags.With is the entry point of a command
// that talks to one server, SuiteFlags.Load of one that reads suites.
//
// Invariants:
//   - an ExitError carries the exit code; only cli.Main ends the process;
//   - text from files and servers is masked and escaped before it is shown;
//   - flags are resolved before anything starts.
package option
