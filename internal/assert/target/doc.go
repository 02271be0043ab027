// Package target compiles targets, the paths to the value that an assertion examines,
// and selects this value in an [Observation] of a call.
//
//	text → Parse → *Target;  Observation → Target.Subject → Subject (a value, or a Miss)
//
// Invariants:
//
//   - Absent is not null: a [Subject] has a value or a [Miss], which says what exists
//     instead.
//   - A [Target] is immutable and safe for concurrent use; an Observation caches derived
//     values and belongs to one goroutine.
//   - The roots are rows of one table, [Roots], which the documentation and suggestions
//     use.
//
// Start reading at target.go, then roots.go and eval.go.
package target
