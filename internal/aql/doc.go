// Package aql judges MCP-AQL adapters by evidence.
//
// Evidence is what an adapter was seen to do: its introspection answers, the
// parameters it accepted, its refusals, what it read back. It is read from a
// bundle (ReadEvidence) or built in code, and Evaluate, a pure function,
// turns it into a Report: one row per test, rolled up into categories, a
// conformance level and an exit code.
//
// There are two rule sets. Reference gives the verdicts of the
// specification's own prototype runner, so that bundles written for it keep
// their results. Strict tells the truth where the prototype passes on
// absence or on a coincidence of text. Both come from one table (Rules):
// every rule has an id, the requirement it stands for, the section that says
// so, a hint how to fix what breaks it, and its weight in each rule set. The
// report's findings, `explain` and the reference documentation are made from
// that table.
//
// Start reading at Evidence, Evaluate and Rules.
//
// Invariants:
//   - a bundle's skeleton (what its author wrote) is typed, and a wrong type
//     is a diagnostic with line, column and JSON pointer; a payload (what the
//     adapter answered) may be any JSON, and only ever changes a verdict;
//   - every problem of a bundle is reported at once;
//   - a report has the rows of the specification for its level and tier,
//     whatever the evidence holds; a row that only live runs have, and that
//     does not apply, is named beside them;
//   - under Strict, taking away the evidence that a row rests on never turns
//     its FAIL into a PASS.
//
// The rules are written from the MCP-AQL specification's documents
// (CC BY 4.0, https://mcpaql.com). This is an independent implementation: it
// holds no schema file, fixture or program text of the specification.
package aql
