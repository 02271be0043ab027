// Package handshake knows how widely used clients read the results of initialize and
// server/discover.
//
// [Faults] is the entry point. Invariants: it imports nothing of the network, so that a check
// of a file may use it; what it says of a client was observed, and a test asks the clients
// again.
package handshake
