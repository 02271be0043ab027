// Package wire transports frames between a client and a server, independent of calls:
// lines over a process or an in-process pipe ([NewStdio], [NewPipe], [NewStream]),
// and Streamable HTTP or HTTP+SSE ([NewHTTP]).
//
// A [Transport] sends one message at a time and delivers received messages to a
// [Receiver]. Package mcpserver uses [LineReader] and [LineWriter].
//
// # Readers of a stream
//
// One goroutine at a time has the role of reading a stream (stream.go). With one call
// at a time that is the caller itself: it writes, reads until its response arrives,
// and continues, with no other goroutine involved. With several calls in flight, with
// none for 2 ms, or with a response that takes more than 20 ms, a background
// goroutine reads and wakes the callers. If pipes have no deadlines (Windows), the
// background goroutine always reads.
//
// # HTTP
//
// Over HTTP (http.go), a call is one POST, sent and read by its caller. Goroutines of
// the transport only read the rest of a stream after a response, and the stream of
// the session.
//
// # Invariants
//
//   - A line that has been started is completed before the next one, even if the
//     context of its sender ends.
//   - Memory is bounded by [Limits]: a message over the limit is skipped in constant
//     memory and reported.
//   - Nothing is delivered after Close has returned.
package wire
