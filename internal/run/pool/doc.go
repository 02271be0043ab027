// Package pool manages the servers of a run and their sessions: it starts a server
// on first use, replaces one that has died or hangs (up to ten times), and ends it.
//
//	Pool ── one Server per definition and capabilities ── n Slots ── a session each
//
// A [Lease] is the right of a case to use the sessions of its servers.
//
// Invariants:
//   - leases are acquired in the order of the servers' names, which prevents
//     deadlocks;
//   - while a lease is exclusive, no other case uses its servers;
//   - the end of a session is reported once, by Report and a ServerDown event;
//   - every violation that no call caused is reported as a finding, unless a case
//     reports it.
package pool
