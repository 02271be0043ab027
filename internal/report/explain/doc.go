// Package explain says why a run or a test failed, in the same words for every
// format. Formats that write lines call its functions with their printer
// (Case, Phase); formats that embed a text use an Explainer.
//
//   - Case, Phase: a failed test, hook or step in full; Reason and Location are
//     its message and its line, Wording and AssertionReason one assertion
//   - Causes: failures that have a cause in common, so that it is explained once
//   - PseudoTests: failures that belong to no test, for formats that know only
//     tests; Folded and Warnings: findings and warnings, equal ones once
//   - Sections, BySection: the cases of a run under their suites, with totals
//   - Summary, Verdict: the outcome of the run in one line and in one word
//
// Invariants:
//   - nothing is kept of a case after its function returns, except in Causes,
//     which keeps a name and a few messages for each cause;
//   - what is returned as text for people is escaped, what is returned as data
//     is as recorded.
package explain
