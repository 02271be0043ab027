// Package mcp holds client sessions with MCP servers. Package wire moves the
// frames, package conn files them with calls, package protocol has the
// vocabulary; imports go mcp → conn → wire → protocol.
//
// Entry points: package wire makes a [wire.Transport], [Open] detects the
// protocol version and shakes hands, [Session.Do] sends a request and returns an
// [Exchange].
//
//	Open ──► negotiator (detect.go, handshake.go) ──► sender ──► conn.Conn
//	Session.Do ──► rounds (stateless.go) ──► toolTable (tools.go) ──┘
//
// The sender adds what the protocol version requires of a request. What MCP
// requires of a result is in package check.
package mcp
