// Package promote makes tests of the recorded calls of a cassette.
//
// Invariants:
//   - equal requests are one test, which expects what all their responses share;
//   - a request that a test cannot make again is named in Omitted of the suite;
//   - no masked secret is in a test.
package promote
