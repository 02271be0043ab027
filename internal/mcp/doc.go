// Package mcp holds sessions with MCP servers, raw first: every frame is kept
// byte for byte, and what a server does wrong is reported as a [Violation]
// instead of ending the connection. Package mcpserver, the server half, reads and
// writes messages with the functions of envelope.go, lines.go and write.go.
//
// Entry points: [NewStdio], [NewHTTP] or [NewPipe] make a [Transport], [Open]
// finds out how the server wants to be spoken to and greets it, [Session.Do]
// sends a request and returns an [Exchange].
//
//	      Do, SendRaw, Notify                     TakeViolations, Wait, Messages
//	           │                                              ▲
//	request.go │ bytes by append                              │ journal.go
//	           ▼                                              │
//	      Session ── pending calls ◄── response.go ◄── inbound.go ◄── Sink
//	           │                  ◄── answer.go (notifications, requests)  ▲
//	           ▼                            │ one goroutine a request      │
//	   Transport.Send ◄─────────────────────┘                              │
//	           │ write.go: whole lines                  lines.go: frames, size limit
//	           ▼                                                           │
//	    standard input ───────────── the server ───────────── standard output
//
// # Who reads
//
// A stream is read by whoever holds its role (stream.go). With one call at a
// time that is the caller itself: it writes, reads until its answer is there,
// and goes on, with no other goroutine involved. With several calls in flight,
// with none for 2 ms, or with an answer that takes more than 20 ms, a background
// goroutine reads and wakes the callers. Where pipes have no deadlines (Windows)
// the background always reads.
//
// # HTTP
//
// Over HTTP (http.go) a call is one POST, made and read by its caller; only what
// follows an answer on its stream, and the stream of the session, are read by
// goroutines of the HTTP transport. What no revision of the protocol shares is in
// dialect.go; the era of requests without a session (2026-07-28) is in modern*.go,
// the question which era a server is of in detect.go.
//
// # Invariants
//
//   - Frames are never encoded again: Request, Response, Result, Error, Params
//     and Message.Raw are the bytes of the wire. A kept frame is copied once, or
//     handed over by the reader when it is large.
//   - Every call ends: by its answer, its context, the end of the session, or an
//     answer that can't be used. An Exchange does not change once it is returned.
//   - A line that was begun on standard input is completed before the next one,
//     whatever becomes of the context of its sender.
//   - A violation with the id of a call in flight is in its Exchange; any other,
//     second answers to finished calls included, is in TakeViolations. An answer
//     that names its call in a wrong way ("3" for 3) completes it, marked. One
//     without an id completes the only call in flight when nothing better comes
//     within half a second.
//   - Notifications belong to: progress, the call whose token they carry; those
//     on a call's own stream (HTTP), that call; all others, every call in flight.
//   - Everything kept is bounded by [Limits]; what is beyond is counted. A
//     message over the limit is skipped in constant memory.
//   - Close ends every goroutine of the session. An [Answerer] must end with its
//     context.
//   - Revisions of the protocol are named in one table, dialect.go. A later
//     revision is a row. What MCP requires of a result is in package check.
package mcp
