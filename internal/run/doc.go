// Package run executes a plan: it leases sessions to cases, runs hooks and
// fixtures around them, and sends what happened as events.
//
// Run is the entry point.
//
//	Run ── file by file ──▶ beforeAll ▶ setup ▶ queues ▶ teardown ▶ afterAll
//	                                     │
//	         one queue per server, n workers each, cases in file order
//	                                     │
//	         case: lease ▶ beforeEach ▶ setup_per_test ▶ calls ▶ judge ▶ afterEach ▶ release
//
// Servers and sessions are in package pool, hooks and steps in package fixture.
//
// Invariants:
//   - every planned case ends in exactly one CaseFinished, also after an
//     interruption, a failed setup or fail-fast;
//   - a scope that was opened is closed: afterEach runs if beforeEach began,
//     teardown if setup began, afterAll if the file was begun; also after a panic,
//     which ends only the hook, step or case it is in;
//   - a case with a test scope has its sessions for itself;
//   - when Run returns, every process it started has ended, unless it was detached.
package run
