// Package inspect manages one connection to a server that a person examines: it opens the
// session (Conn.Open), reads lists, makes calls and collects protocol violations. It prints
// nothing; its results are neither masked nor escaped.
//
// Invariants:
//   - every response is checked as in a run: a call with the rules of mcp/check, a list with
//     the limits on items and pages;
//   - each violation is passed to Options.Violations once, or else kept for Conn.Seen;
//   - Close ends the process and the session that Start and Open began.
package inspect
