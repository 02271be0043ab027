// Package history stores what a run needs to know about earlier ones: test durations, by
// which shards are balanced (Costs, Stopwatch), the tests that failed (Failed), and the
// detected eras of servers (Eras). The files are in the folder .mcptest next to the suites,
// except for the baseline, which the user writes.
//
// Verdicts applies the flags that change the outcome of a run after its tests: known
// failures of a baseline become skips, and flaky tests or stale entries of the baseline
// make the run fail.
//
// Invariants:
//   - a file that is missing, damaged or of another version counts as empty and never makes
//     a run fail;
//   - a file is replaced as a whole, and only if its content changes;
//   - a test name that contains a secret is stored as a hash.
package history
