// Package promote converts the recorded calls of a cassette into tests.
//
// Invariants:
//   - equal requests become one test, which expects what all their responses have in common;
//     but calls of a tool with calls of other tools between them stay separate;
//   - each recorded session has its own server entry;
//   - a request that a test cannot repeat is named in Omitted of the suite;
//   - a test contains no masked secret.
package promote
