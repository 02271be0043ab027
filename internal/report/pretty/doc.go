// Package pretty writes the reports that are read as text: pretty (Write), the
// list of tests while a run goes on (Live), minimal, matrix (tests by servers)
// and agent (few tokens for a program that reads text).
//
// Invariants:
//   - the last line is the verdict, except in agent, where it is the first;
//   - the number of failures and lines shown is limited unless output is
//     verbose, and what is left out is counted.
package pretty
