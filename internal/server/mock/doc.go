// Package mock serves a manifest: a scripted MCP server with its tools, resources, prompts and
// their responses. It is used for examples and tests that need no other software, and to
// test the runner against every kind of misbehavior.
//
// Entry point: New makes a server of a manifest.
//
//	*manifest.Manifest → New → *Server → Session → mcpserver.Handler
//	                              └→ ServeStdio
//
// Invariants:
//
//   - State, call counts and sequences belong to the Server; a client's capabilities, log
//     level and subscriptions belong to the Session.
//   - The same requests in the same order get the same responses, except for the times of
//     tasks and the states of requests for input. The clock and random numbers are not used
//     otherwise. Delays change only the time of a response.
//   - A manifest that loads cannot make the server panic, for any message of a client.
//   - A client's mistake gets the usual response: arguments that do not match the input
//     schema are a tool error (MCP 2025-11-25, SEP-1303), unknown names and methods are
//     JSON-RPC errors.
//   - The server violates the protocol only where the manifest requires it (raw, write,
//     banner, exit).
//
// Start reading at handle.go, then play.go.
package mock
