// Package shown writes values of servers and nodes of suites into the messages of
// assertions: shortened, with their kind, so that a message stays small regardless of
// the server.
//
// Entry points: [Value], [Got], [Shape], [Keys].
package shown
