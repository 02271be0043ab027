// Package suite is the suite language as it is written: it reads a suite
// file with its imports, .env and variables, and decodes everything but the
// tests into structs that still know where they came from.
//
// Load is the entry point. Tests stay nodes (Entry) until package plan
// expands and decodes them with DecodeTest, because a value of a `cases:` row
// may appear anywhere inside a test.
//
//	bytes ─ source.Parse ─▶ nodes ─ imports, variables ─▶ Suite ─▶ plan
//
// Invariants:
//   - every mistake is a diagnostic with a position; Load never stops at the
//     first one, and never runs or connects to anything;
//   - the structs hold what was written: defaults and compiled forms are
//     the business of package plan.
package suite
