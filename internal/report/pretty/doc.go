// Package pretty writes the text reports: pretty (Write), the list of tests during a
// run (Live), minimal, matrix (tests by servers) and agent (few tokens, for a program
// that reads text).
//
// Invariants:
//   - the last line is the verdict, except in agent, where it is the first;
//   - the number of failures and lines shown is limited unless output is verbose, and
//     omitted ones are counted.
package pretty
