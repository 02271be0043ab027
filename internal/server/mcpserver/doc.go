// Package mcpserver implements the server half of MCP for mcptest mock, for replays of
// cassettes and for the demo adapter of MCP-AQL.
//
// Entry points: [ServeStdio] serves one client over two streams, [NewHTTPServer]
// any number over Streamable HTTP. Both call a [Handler] for each request.
//
//	stdio.go ── session ─────────────┐
//	        └── stateless.go ────────┼──▶ Handler.Handle ──▶ Reply
//	http.go ─── session ─────────────┘        │
//	        └── http_stateless.go             └─ Request.Notify, AskAll (the client)
//
// Messages are read and written with the functions of package mcp; a server and a
// client share nothing else.
//
// Invariants:
//   - A handler sees one interface for sessions and for stateless requests
//     (protocol version 2026-07-28): AskAll sends requests in a session, and
//     responds with input_required and waits for the repeated request without one.
//   - A [Reply] may put any bytes on the wire: a mock must be able to break the
//     protocol.
//   - Serving ends when the client disconnects or the context ends; requests that are
//     being handled are finished first.
package mcpserver
