// Package report defines the table of report formats (Formats) and the files that
// reports are written to (Spec, Sink). A format is a pure function of a result.Run,
// so a report made at the end of a run and one made later from a saved record are
// identical.
//
// The formats are in separate packages: pretty (text for people and agents, and the
// live view), ci (formats of CI systems and other tools) and html. They share render
// (options, lines, numbers) and explain (why a test failed). compare compares two
// records.
//
// Start reading at Formats (report.go). To add a format, write its function in the
// package of its family and add a row to Formats.
//
// Invariants:
//   - totals, rates and means are taken from the record; only sums of a suite or a
//     server, which it lacks, are computed;
//   - text from a server, a hook or a suite always goes through the escaping function
//     of its format;
//   - colors and cursor movements are only written to a terminal;
//   - a file is written completely or not at all, except for the live event log.
package report
