// Package promote makes tests of the recorded calls of a cassette.
//
// Invariants:
//   - equal requests are one test, which expects what all their responses share;
//     but calls of a tool with other calls of tools between them stay separate;
//   - each recorded session has its own server entry;
//   - a request that a test cannot make again is named in Omitted of the suite;
//   - no masked secret is in a test.
package promote
