// Package demo is an MCP-AQL adapter for a small library: books, shelves and
// as many further collections as requested. It conforms at level 2, serves
// semantic endpoints, the single endpoint or both, and has a table of
// defects that can be switched on one by one.
//
// It serves to try out mcpaql-conformance and to test its live runs: every
// defect names the rows of a report that it must change, and no other row
// may change.
//
// Start reading at New and Defects; library.json holds the collections, operations
// and types. An Adapter is an mcpserver.Handler.
//
// Invariants:
//   - without a defect every answer is a result in the sense of D 5.1;
//   - every call is written to Options.Log before it has an effect, with the
//     category of its operation, so that a log proves what a caller did;
//   - the same calls get the same answers, except where a defect differs.
package demo
