// Package mock is an MCP server that is written down instead of programmed: a
// manifest says which tools, resources and prompts there are and what they
// answer, down to the bytes on the wire.
//
// The way through it:
//
//	Load (or Preset) → *Manifest → New → *Server → Session → mcpserver.Handler
//	                                            └→ ServeStdio
//
// It exists so that suites can be shown, taught and tested with nothing
// installed, and so that the runner has a server whose every fault is known.
//
// Invariants:
//
//   - A Manifest is immutable and shared. What changes while serving (state,
//     call counts, sequences) belongs to the Server; what belongs to one client
//     (its capabilities, log level, subscriptions) belongs to the Session.
//   - The same requests in the same order get the same answers, but for the times
//     of tasks and the states of requests for input: no clock otherwise, no
//     random numbers. Delays take time and change nothing else.
//   - Every mistake in a manifest is found by Load, with its position. A
//     manifest that loads cannot make the server panic, for any message of a client.
//   - A client's mistake is answered as real servers answer it: arguments that
//     do not fit the input schema are a tool error (MCP 2025-11-25, SEP-1303),
//     unknown names and methods are JSON-RPC errors.
//   - What breaks the protocol does so because the manifest says so (raw,
//     write, banner, exit); everything else is well-formed.
//
// Start reading at manifest.go, then response.go and play.go.
package mock
