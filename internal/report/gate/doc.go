// Package gate writes the findings of a quality gate (a check of definitions, a
// comparison of two lists) in the formats of other programs: SARIF 2.1.0 and the
// workflow commands of GitHub Actions.
//
// Entry points: WriteSARIF and WriteGitHub. Both are pure functions of their
// arguments. Text is data: it is escaped for the format and for people.
package gate
