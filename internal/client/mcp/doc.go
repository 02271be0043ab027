// Package mcp implements client sessions with MCP servers. Package wire moves frames,
// package conn assigns them to calls, package protocol defines the vocabulary; the
// order of imports is mcp → conn → wire → protocol.
//
// Entry points: package wire creates a [wire.Transport], [Open] detects the protocol
// version and performs the handshake, [Session.Do] sends a request and returns an
// [Exchange].
//
//	Open ──► negotiator (detect.go, handshake.go) ──► sender ──► conn.Conn
//	Session.Do ──► rounds (stateless.go) ──► toolTable (tools.go) ──┘
//
// The sender adds what the protocol version requires of a request. Package check
// checks results.
package mcp
