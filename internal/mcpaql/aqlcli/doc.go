// Package aqlcli is the command line of mcpaql-conformance; Main is its entry
// point. It turns arguments into calls of package aql, and their outcomes into
// text and exit codes; the rules of MCP-AQL are in package aql.
//
// Invariants:
//   - only Main and the commands decide exit codes, by the table in
//     main.go;
//   - all wrong values of a command line are reported, not only the first one;
//   - standard output holds the result of the command, everything else goes to
//     standard error;
//   - a file is written completely or not at all.
package aqlcli
