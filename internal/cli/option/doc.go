// Package option contains what the commands of mcptest share: exit codes, the flags
// that select suites and servers, limits, and the connection to a server.
// TargetFlags.With is the entry point of a command that connects to a server,
// SuiteFlags.Load of one that reads suites.
//
// Invariants:
//   - an ExitError contains the exit code; only cli.Main ends the process;
//   - text from files and servers is masked and escaped before it is printed;
//   - flags are resolved before anything starts.
package option
