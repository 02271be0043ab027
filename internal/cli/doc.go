// Package cli is the command line of mcptest; Main is its entry point. It turns
// arguments into calls of the other packages, and their outcomes into text and
// exit codes; it decides nothing about suites, verdicts or reports itself.
//
// Each command is in a file of its own. A command gets everything it touches
// through Streams, so tests run it in process.
//
// Invariants:
//   - only Main decides exit codes, by the table in main.go;
//   - text from files and servers is escaped before it reaches a terminal;
//   - standard output holds the result of the command, everything else goes to
//     standard error.
package cli
