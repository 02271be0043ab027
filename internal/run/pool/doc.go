// Package pool keeps the servers of a run and their sessions: it starts a server
// when it is first needed, replaces one that died or hangs once, and ends it.
//
//	Pool ── one Server per definition and capabilities ── n Slots ── a session each
//
// A [Lease] is the right of a case to use the sessions of its servers.
//
// Invariants:
//   - leases are acquired in the order of the servers' names, so that two never
//     wait for each other;
//   - while a lease is exclusive, no other case uses its servers;
//   - an end of a session is reported once, by Report and a ServerDown event;
//   - what a server has of its own accord broken is reported as a finding, never
//     lost, unless a case takes it over.
package pool
