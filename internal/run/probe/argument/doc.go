// Package argument makes the arguments that a probe calls tools with, from valid ones:
// those that models get wrong or that are hostile ([Hostile], [Textual]), and smaller ones
// ([Reductions]).
//
// Invariants: nothing is sent here; equal arguments give equal ones.
package argument
