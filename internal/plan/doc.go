// Package plan turns suites into a frozen list of cases: everything that can
// be resolved, merged, split or compiled before the run is, so this is the
// last place where a user's mistake can be found.
//
// Compile is the entry point. A Plan holds templates, not cases: a test with
// 100,000 rows of `cases:` costs one template and its rows, and Plan.Case
// builds a case when it is wanted, from any goroutine.
//
// Invariants:
//   - a Plan without error diagnostics can be run: no mistake of the author
//     shows up later, but for values that only a flow's steps produce, which
//     are compiled with samples of every type (flow.go);
//   - cases are in file order: file by file, block by block, row by row,
//     server by server;
//   - a placeholder is replaced once, from what was written: what a value
//     holds is never looked at again;
//   - nothing is started, connected to or written here.
//
// What parses although nothing executes it yet is one list, in notyet.go.
package plan
