// Package run executes a plan: it starts servers when they are first needed,
// leases their sessions to cases, runs hooks and fixtures around them, and
// sends what happened as events.
//
// Run is the entry point.
//
//	Run ── file by file ──▶ beforeAll ▶ setup ▶ lanes ▶ teardown ▶ afterAll
//	                                     │
//	         one lane a server, n workers each, cases in file order
//	                                     │
//	         case: lease ▶ beforeEach ▶ setup_per_test ▶ calls ▶ judge ▶ afterEach ▶ release
//
// Invariants:
//   - every planned case ends in exactly one CaseFinished, also after an
//     interruption, a failed setup or fail-fast;
//   - a bracket that was opened is closed: afterEach runs when beforeEach
//     began, teardown when setup began, afterAll when the file was begun; also
//     after a fault of ours, which ends the hook, step or case it is in;
//   - clean-up never runs under a cancelled context; after a signal all of it
//     shares one deadline, and nothing may use more than half of what is left;
//   - a case with a bracket holds its sessions alone;
//   - when Run returns, every process it started has ended.
package run
