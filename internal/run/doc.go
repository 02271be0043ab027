// Package run executes a plan: it leases sessions to cases, runs hooks and fixtures around
// them, and sends the results as events.
//
// Run is the entry point.
//
//	Run ── file by file ──▶ beforeAll ▶ setup ▶ queues ▶ teardown ▶ runAfterAll
//	                                     │
//	         one queue per server, n workers each, cases in file order
//	                                     │
//	         case: retries, repeats or trials of a walk (package line)
//
// Package line walks a case once; package pool manages servers and sessions; package fixture
// runs hooks and steps.
//
// Invariants:
//   - every planned case ends in exactly one CaseFinished, also after an interruption, a
//     failed setup or fail-fast;
//   - cleanup always runs: afterEach if beforeEach began, teardown if setup began,
//     runAfterAll if the file began; also after a panic, which ends only the hook, step or case
//     in which it occurs;
//   - a case with per-test hooks or fixtures does not share its sessions;
//   - when Run returns, every process it started has ended, unless it was detached.
package run
