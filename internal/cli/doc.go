// Package cli holds the command lines of both programs: mcptest (Main) and
// mcpaql-conformance (AQLMain). It turns arguments into calls of the other
// packages, and their outcomes into text and exit codes; it decides nothing
// about suites, verdicts or reports itself.
//
// Each command stands in a file of its own. A command gets everything it
// touches through Streams, so tests run it in process.
//
// Invariants:
//   - only Main and AQLMain decide exit codes, by the tables in main.go and
//     the aql files;
//   - what comes from files and servers is escaped before it reaches a
//     terminal;
//   - standard output holds what was asked for, everything else goes to
//     standard error.
package cli
