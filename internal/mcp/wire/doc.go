// Package wire moves frames between a client and a server and knows nothing of
// calls: lines over a process or an in-process pipe ([NewStdio], [NewPipe],
// [NewStream]), and Streamable HTTP or HTTP+SSE ([NewHTTP]).
//
// A [Transport] sends one message at a time and delivers what it receives to a
// [Receiver]. Package mcpserver reads and writes lines with [LineReader] and
// [LineWriter].
//
// # Who reads
//
// A stream is read by the goroutine that holds its role (stream.go). With one
// call at a time that is the caller itself: it writes, reads until its answer is
// there, and goes on, with no other goroutine involved. With several calls in
// flight, with none for 2 ms, or with an answer that takes more than 20 ms, a
// background goroutine reads and wakes the callers. Where pipes have no deadlines
// (Windows) the background always reads.
//
// # HTTP
//
// Over HTTP (http.go) a call is one POST, made and read by its caller; only what
// follows an answer on its stream, and the stream of the session, are read by
// goroutines of the transport.
//
// # Invariants
//
//   - A line that was begun is completed before the next one, even if the context
//     of its sender ends.
//   - Memory is bounded by [Limits]: a message over the limit is skipped in
//     constant memory and reported.
//   - After Close returned nothing is delivered.
package wire
