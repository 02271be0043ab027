// Package contain decides whether one JSON Schema accepts everything that another one
// accepts, and otherwise finds a value that proves the contrary.
//
// Compile reads a schema; Check compares two. A ⊆ B holds exactly if no value satisfies A
// and not B. The solver searches for such a value: it splits the keywords of both schemas
// into atoms, resolves alternatives one after the other, and constructs a value for each
// remaining type. If every alternative is contradictory, containment is proved.
//
// Invariants:
//   - Contained is only returned with a proof. Keywords that the solver does not support
//     (unevaluated properties next to others, dynamic references, comparisons of two
//     patterns) lead to Undecided, never to Contained.
//   - Escapes comes with a witness that the validator accepts for A and rejects for B,
//     with exact numbers and with those of double precision (double.go).
//   - The search is bounded in steps and depth, also for recursive schemas and patterns.
//
// Files: compile.go and keywords.go read schemas into the atoms of atom.go, solve.go and
// branch.go resolve alternatives, and scalar.go, text.go, array.go and object.go construct
// values. eval.go evaluates atoms for a given value.
package contain
