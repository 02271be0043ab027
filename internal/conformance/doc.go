// Command conformance lets the official MCP conformance suite judge this
// program: mcptest as a client (with the revision pinned, and detected), and its mock as a server. It is run by
// `make conformance`, and no part of what is shipped.
//
//	go run ./internal/conformance             judge, and say how many of how many
//	conformance client URL                    what the suite starts as the client:
//	                                          writes a suite for the scenario, runs mcptest
//
// Invariants:
//   - What is required is what the judge itself lists for a revision, without
//     the scenarios named in gaps.go. One of those that passes is an error, too:
//     it must leave the list.
//   - Scenarios that are not required and pass (beyond in gaps.go) have
//     to stay so.
//   - A scenario passes with at least one check that succeeded and none that
//     failed. No checks at all is a failure, of a scenario and of a run.
package main
