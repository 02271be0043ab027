// Package cli is the command line of mcptest; Main is its entry point. It converts
// arguments to calls of the other packages, and their results to text and exit codes;
// suites, verdicts and reports are the task of other packages.
//
// Each command has its own file. Commands access their environment only through
// Streams, so that tests can run them in process.
//
// Invariants:
//   - only Main determines exit codes, by the table in main.go;
//   - text from files and servers is escaped before it reaches a terminal;
//   - standard output contains the result of the command, and standard error
//     everything else.
package cli
