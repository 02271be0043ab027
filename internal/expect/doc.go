// Package expect says what is expected of an answer and judges it: targets
// (what to look at), matchers (what it must be), assertions, assert-sets,
// scores, thresholds and derived metrics.
//
// The way through it:
//
//	*source.Node → CompileExpect, CompileMetrics → Merge → *Tree → Check
//	                                      Observation → Tree.Evaluate → Verdict
//
// Compiling is the only place where mistakes of the suite's author show: bad
// paths, unknown matchers, regular expressions, JSON Schemas, weights and
// references are all found there, with a column, as [source.Diagnostic]s.
// [Tree.Evaluate] never fails: everything it finds is data in a [Verdict].
//
// Invariants:
//
//   - Pure but for [Env]: without Env.Exec no program is run, and nothing
//     here reads files, clocks or networks. Schemas in other files are read
//     through [Compiler].LoadSchema or not at all.
//   - Every item is always evaluated; an early failure hides no later one.
//   - Absent is not null. A missing target fails every matcher but absent,
//     also behind not: what could not be judged never passes by negation.
//   - Everything shown is bounded in size, regardless of the server.
//   - A compiled Tree is immutable and may be used by several goroutines; an
//     [Observation] belongs to one.
//   - The matchers are rows of one sorted table, [Matchers]; documentation,
//     the suite's schema and did-you-mean all read it. A new matcher is one
//     row in its family's file and one line in table.go.
//
// Start reading at tree.go, then target.go and table.go.
package expect
