// Package suite reads the suite language: a suite file with its imports, .env and
// variables. It decodes everything except the tests into structs that keep their
// source positions.
//
// Load is the entry point. Tests remain nodes (Entry) until package plan expands
// and decodes them with DecodeTest, because a value of a `cases:` row may appear
// anywhere inside a test.
//
//	bytes ─ source.Parse ─▶ nodes ─ imports, variables ─▶ Suite ─▶ plan
//
// Invariants:
//   - every mistake is a diagnostic with a position; Load continues after a
//     mistake, and never runs or connects to anything;
//   - the structs hold the values as written: package plan adds defaults and
//     compiles them.
package suite
