// Package grading is the argument of the matcher llm-judge: a rubric, and the model that
// grades texts by it.
//
// [Decode] is the entry point. Invariants: neither the rubric nor the name of the model
// comes from the server under test; a grade exists only if the model gave one.
package grading
