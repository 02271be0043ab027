// Package expect compiles the expectations of a test and evaluates them: assertions
// (a target and a matcher), assert-sets, scores, thresholds and derived metrics.
//
//	*source.Node → CompileExpect, CompileMetrics → Merge → *Tree → Check
//	                               target.Observation → Tree.Evaluate → Verdict
//
// Compiling reports the mistakes of the suite's author: invalid paths, unknown
// matchers, regular expressions, JSON Schemas, weights and references, each as a
// [source.Diagnostic] with a column. [Tree.Evaluate] never fails: its findings are
// data in a [Verdict].
//
// Invariants:
//
//   - Every item is always evaluated; a failure does not hide later ones.
//   - The size of everything shown is bounded, regardless of the server.
//   - A compiled Tree is immutable and safe for concurrent use.
//
// Start reading at tree.go, then items.go and evaluate.go.
package expect
