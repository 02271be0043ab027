// Package explain describes why a run or a test failed, with the same words in every
// format. Formats that write lines call its functions with their printer (Case,
// Phase); formats that embed text use an Explainer.
//
//   - Case, Phase: a failed test, hook or step in full; Reason and Location are its
//     message and its line; Wording and FormatAssertionReason describe one assertion
//   - Causes: failures with a common cause, so that it is explained once
//   - ListPseudoTests: failures that belong to no test, for formats that only have tests;
//     Folded and Warnings: findings and warnings without duplicates
//   - Sections, WalkSections: the cases of a run under their suites, with totals
//   - Summary, Verdict: the outcome of the run in one line and in one word
//
// Invariants:
//   - nothing of a case is kept after its function returns, except in Causes, which
//     keeps a name and a few messages for each cause;
//   - text for people is escaped; data is returned as recorded.
package explain
