// Command conformance runs the official MCP conformance suite against this program:
// against mcptest as a client (with the protocol version pinned, and detected) and against
// its mock as a server. `make conformance` runs it; releases do not contain it.
//
//	go run ./internal/dev/conformance             run the suite, print passed and required scenarios
//	conformance client URL                    the client that the suite starts:
//	                                          writes a suite for the scenario, runs mcptest
//
// Invariants:
//   - The conformance suite itself lists the required scenarios of a protocol version.
//     Those in gaps (judge.go) are allowed to fail; one that passes is an error too,
//     because it must be removed from the list.
//   - Scenarios in beyond (judge.go) are not required, but pass and must continue to.
//   - A scenario passes if at least one check succeeded and none failed. A run or a
//     scenario without checks is a failure.
package main
