// Package history is what one run leaves for the next: test durations, by which
// shards are balanced (Costs, Stopwatch), the tests that failed (Failed), and
// the detected eras of servers (Eras). Except for the baseline, which the user
// writes, the files are in the folder .mcptest next to the suites.
//
// Verdicts is how flags change the outcome of a run after its tests: known
// failures of a baseline become skips, and flaky tests or stale entries of the
// baseline make the run fail.
//
// Invariants:
//   - a file that is missing, damaged or of another version is an empty one: it
//     is only a memory, and never the reason that a run fails;
//   - a file is replaced as a whole, and only if its content changes;
//   - a test name that contains a secret is stored as a hash.
package history
