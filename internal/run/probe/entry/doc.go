// Package entry runs an entry of `probe:` in a suite, and puts the verdicts into the form of
// a test: an assertion for each rule that was verified, evidence as exchanges.
//
// Entry point: [Env.Run]. It decides what fails the test; package probe decides what a rule
// says.
package entry
