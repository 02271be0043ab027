// Package expect compiles the expectations of a test and evaluates them: targets
// (which value to examine), matchers (what the value must be), assertions,
// assert-sets, scores, thresholds and derived metrics.
//
//	*source.Node → CompileExpect, CompileMetrics → Merge → *Tree → Check
//	                                      Observation → Tree.Evaluate → Verdict
//
// Compiling reports the mistakes of the suite's author: invalid paths, unknown
// matchers, regular expressions, JSON Schemas, weights and references, each as a
// [source.Diagnostic] with a column. [Tree.Evaluate] never fails: its findings are
// data in a [Verdict].
//
// Invariants:
//
//   - The package has no side effects except through [Env]: only Env.Exec runs
//     programs, and nothing reads files, clocks or networks. [Compiler].LoadSchema
//     reads schemas in other files.
//   - Every item is always evaluated; a failure does not hide later ones.
//   - Absent is not null. A missing target fails every matcher but absent, even if
//     the matcher is negated: a value that could not be evaluated never passes.
//   - The size of everything shown is bounded, regardless of the server.
//   - A compiled Tree is immutable and safe for concurrent use; an [Observation]
//     belongs to one goroutine.
//   - The matchers are rows of one sorted table, [Matchers], which the documentation,
//     the suite's schema and suggestions use. A new matcher is one row in its family's
//     file and one line in table.go.
//
// Start reading at tree.go, then target.go and table.go.
package expect
