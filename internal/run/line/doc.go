// Package line walks one test through its stages, once.
//
//	lease ─► scope ─► open ─► exchange ─► observe ─► judge ─► record
//
// Walk is the entry point. It leases the servers of a case, runs the hooks and fixtures
// around it, opens the sessions, makes each call (or does what the kind of test without a
// call does), builds the observation, evaluates the assertions on it, and completes the
// record of the case. What repeats a walk (retries, repeat, trials) is package run; what
// repeats a call within it (steps, until) is steps.go.
//
// Invariants:
//   - A walk changes nothing but its record, the snapshots of its case, and what File and
//     Run hold for all walks, which is safe for concurrent use.
//   - A status is only replaced by a more severe one (outcome).
//   - Everything that a stage began is ended by Walk, also after a panic.
//   - Files use files further down only: walk, scope, calls, steps, again, action, the kinds
//     (converse, outside, surface), call, observe, judge, sessions, and the rest.
//
// A new kind of test without a call is a type with the method observe, and a case in
// action.go that returns it.
package line
