// Package ci writes the reports that other programs read: JUnit, TAP, Markdown for
// step summaries, GitHub annotations, GitLab Code Quality, SARIF and OpenTelemetry
// spans.
//
// Invariants:
//   - a report contains a failure if the run failed: run-level failures are entries
//     too;
//   - cases are written one by one, so a long run is never in memory as a whole;
//   - paths are relative to the repository if the format is for a code host.
package ci
