// Package argument makes the arguments that a probe calls tools with: those that a schema
// describes, and some at its edges ([Generator]), and those that models get wrong or that
// are hostile ([Hostile], [Textual]).
//
// Invariants: nothing is sent here; equal seeds and schemas give equal values.
package argument
