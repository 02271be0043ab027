// Package conn implements one JSON-RPC connection to an MCP server. Every frame is kept
// byte for byte, and a mistake of the server is reported as a [protocol.Violation]
// instead of ending the connection. The handshake is not part of it: package mcp sets
// the protocol version with [Conn.SetVersion].
//
//	Conn.Do, SendRaw, Listen (call.go)       TakeViolations, Wait, Messages
//	     │              │                                ▲
//	     │ begin        ▼                                │
//	     │        state: callTable, journal, violationLog
//	     ▼                    ▲
//	Transport.Send      receiver (inbound.go): lines
//	     ▲                    │ parse.go      what a frame is, and its call
//	     │                    │ classify.go   its findings
//	     │                    │ deliver.go    ends the call, or shares the message
//	     │                    ▼ state.record  the findings, to the call or the session
//	     └─────────────── responder
//
// Callers change the state through its methods, which lock it. The receiver holds the
// lock while it handles a frame, so that no caller sees the effects of half a frame.
// Each frame takes the four steps once, in this order ([receiver.handle]); only classify
// decides what is wrong with it.
//
// # Invariants
//
//   - Frames are never encoded again: Request, Response, Result, Error, Params
//     and Message.Raw are the bytes of the wire. A kept frame is copied once, or
//     passed on by the reader without a copy if it is large.
//   - Every call ends: by its response, its context, the end of the connection, or
//     a response that can't be used. An Exchange does not change once it is
//     returned.
//   - A violation with the id of a call in flight is in its Exchange; any other,
//     second responses to finished calls included, is in TakeViolations. A response
//     with a wrong form of the call's id ("3" for 3) completes the call and is
//     marked. One without an id completes the only call in flight if no better
//     response arrives within half a second.
//   - A progress notification belongs to the call whose token it carries, a
//     notification on the stream of a call (HTTP) to that call, any other to every
//     call in flight.
//   - Everything kept is bounded by [wire.Limits]; the rest is only counted.
//   - Close ends every goroutine of the connection. An [Answerer] must end with
//     its context.
package conn
