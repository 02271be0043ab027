// Package report is the table of report formats (Formats) and the files that
// reports are written to (Spec, Sink). A format is a pure function of a
// result.Run, so a report made at the end of a run and one made later from a
// saved record are the same bytes.
//
// The formats are in packages of their own: pretty (text for people and
// agents, and the live view), ci (formats of CI systems and other tools) and
// html. They share render (options, lines, numbers) and explain (why a test
// failed). compare compares two records.
//
// Start reading at Formats (report.go). To add a format, write its function in
// the package of its family and add a row to Formats.
//
// Invariants:
//   - a total, rate or mean that the record has is never computed again; sums
//     of a suite or a server, which it does not have, are;
//   - text from a server, a hook or a suite goes through the escaping function
//     of its format before it is written, without exception;
//   - color and cursor movement are written only to a terminal;
//   - a file is written whole or not at all, except for the live event log.
package report
