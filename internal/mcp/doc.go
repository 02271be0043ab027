// Package mcp holds sessions with MCP servers, raw first: every frame is kept
// byte for byte, and what a server does wrong is reported as a
// [protocol.Violation] instead of ending the connection. Package wire moves the
// frames, package protocol has the words; imports go mcp → wire → protocol.
//
// Entry points: package wire makes a [wire.Transport], [Open] detects the
// protocol version and shakes hands, [Session.Do] sends a request and returns an
// [Exchange].
//
//	    Do, SendRaw, Notify                     TakeViolations, Wait, Messages
//	         │                                              ▲
//	protocol │ bytes by append                              │ journal.go
//	         ▼                                              │
//	    Session ── pending calls ◄── response.go ◄── inbound.go ◄── Receiver
//	         │                  ◄── answer.go (notifications, requests)  ▲
//	         ▼                            │ one goroutine a request      │
//	 Transport.Send ◄─────────────────────┘                              │
//	         └───────────────────────── wire ────────────────────────────┘
//
// # Invariants
//
//   - Frames are never encoded again: Request, Response, Result, Error, Params
//     and Message.Raw are the bytes of the wire. A kept frame is copied once, or
//     handed over by the reader when it is large.
//   - Every call ends: by its answer, its context, the end of the session, or an
//     answer that can't be used. An Exchange does not change once it is returned.
//   - A violation with the id of a call in flight is in its Exchange; any other,
//     second answers to finished calls included, is in TakeViolations. An answer
//     that names its call in a wrong way ("3" for 3) completes it, marked. One
//     without an id completes the only call in flight when nothing better comes
//     within half a second.
//   - Notifications belong to: progress, the call whose token they carry; those
//     on a call's own stream (HTTP), that call; all others, every call in flight.
//   - Everything kept is bounded by [wire.Limits]; what is beyond is counted.
//   - Close ends every goroutine of the session. An [Answerer] must end with its
//     context.
//   - What MCP requires of a result is in package check.
package mcp
