// Package conn is one JSON-RPC connection to an MCP server, raw first: every
// frame is kept byte for byte, and what a server does wrong is reported as a
// [protocol.Violation] instead of ending the connection. It knows nothing of
// the handshake: package mcp sets the protocol version with [Conn.SetVersion].
//
//	Conn.Do, SendRaw, Listen (call.go)       TakeViolations, Wait, Messages
//	     │              │                                ▲
//	     │ begin        ▼                                │
//	     │        state: callTable ── journal, violationLog
//	     ▼                    ▲
//	Transport.Send      receiver: inbound.go (lines) ──► response.go, request.go
//	     ▲                    ▲                                   │
//	     │                    │ wire.Receiver                     ▼
//	     └────────────────────┴───────────────────────────── responder
//
// Callers change the state through its methods, which lock it. The receiver
// holds the lock while it reads a frame, so that a frame is seen by all or none.
//
// # Invariants
//
//   - Frames are never encoded again: Request, Response, Result, Error, Params
//     and Message.Raw are the bytes of the wire. A kept frame is copied once, or
//     handed over by the reader when it is large.
//   - Every call ends: by its answer, its context, the end of the connection, or
//     an answer that can't be used. An Exchange does not change once it is
//     returned.
//   - A violation with the id of a call in flight is in its Exchange; any other,
//     second answers to finished calls included, is in TakeViolations. An answer
//     that names its call in a wrong way ("3" for 3) completes it, marked. One
//     without an id completes the only call in flight when nothing better comes
//     within half a second.
//   - Notifications belong to: progress, the call whose token they carry; those
//     on a call's own stream (HTTP), that call; all others, every call in flight.
//   - Everything kept is bounded by [wire.Limits]; what is beyond is counted.
//   - Close ends every goroutine of the connection. An [Answerer] must end with
//     its context.
package conn
