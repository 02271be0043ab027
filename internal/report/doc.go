// Package report turns a record of a run into the formats people and programs
// read. Formats is the table of them: each row is a pure function of a
// result.Run, so a report made at the end of a run and one made later from a
// saved record are the same bytes. Live shows a run while it goes on.
//
// Start reading at Formats (report.go), then pretty.go, live.go and sink.go.
//
// Invariants:
//   - a total, rate or mean that the record has is never computed again; sums
//     of a suite or a server, which it does not have, are;
//   - text from a server, a hook or a suite goes through the escaping function
//     of its format before it is written, without exception;
//   - colour and cursor movement are written only to a terminal;
//   - a file is written whole or not at all, but for the live event log.
package report
