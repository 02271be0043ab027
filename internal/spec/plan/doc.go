// Package plan compiles suites into a list of cases. It resolves, merges,
// splits and compiles everything that is known before the run, so it is the
// last step that can find a mistake of the user.
//
// Compile is the entry point. A Plan contains templates, not cases: a test with
// 100,000 rows of `cases:` costs one template and its rows. Plan.Case builds a
// case on demand, from any goroutine.
//
// Invariants:
//   - a Plan without error diagnostics can be run: no later step reports a
//     mistake of the user, except for values that only the steps of a flow
//     produce, which are compiled with samples of every type (flow.go);
//   - cases are in file order: by file, block, row and server;
//   - a placeholder is replaced once; placeholders inside values are not;
//   - the package starts, connects to and writes nothing.
package plan
