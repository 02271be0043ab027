package wire

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/protocol"
	"mcptest/internal/process/proc"
	"mcptest/internal/process/tail"
)

// Transport transfers frames and does not interpret JSON-RPC ids. It is used by one
// [Session].
type Transport interface {
	// Start starts delivery to sink. It is called once, before the first Send.
	Start(sink Receiver) error
	// Send sends one message to the server. It returns when the message is written
	// (stdio) or accepted for sending (HTTP, which then reports a failure of the
	// exchange with Receiver.OnFailure). It never blocks longer than ctx; a message that
	// was written in part is completed in the background, so that the stream remains
	// valid.
	Send(ctx context.Context, out Outgoing) error
	// Close ends the connection, and the process, if there is one. Nothing is
	// delivered after it has returned.
	Close(ctx context.Context) proc.Stopped
	// Facts describes the server's end of the connection.
	Facts() Facts
}

// Awaiter is a [Transport] that can use the goroutine of a waiting caller to
// read, which saves the hand-off between a reader and the caller.
type Awaiter interface {
	// Await delivers frames on the calling goroutine until done is signaled (then it
	// consumes the signal and returns true) or another way of waiting is better:
	// another goroutine reads already, the deadline until is reached, or a short time
	// has passed. The zero until means no deadline.
	Await(done <-chan struct{}, until time.Time) bool
}

// Outgoing is one message to the server.
type Outgoing struct {
	Raw      []byte      // without a delimiter; not used after Send has returned
	Method   string      // empty for a response of the client and for raw bytes
	ID       string      // the id as JSON text; empty for notifications
	Params   []byte      // sub-slice of Raw, for headers that repeat parts of it
	Protocol string      // negotiated revision; empty before that
	Header   http.Header // headers of this call, nil for none
	Stream   string      // id of this exchange for Receiver; "" is ID for requests, and no response for the rest

	CancelAfter time.Duration // the caller cancels the call after this time; 0: never
	Mirror      http.Header   // Mcp-Param-* headers
	// Idempotent reports whether a tools/call with these params may be sent twice. It
	// may send a request; nil: it may not be sent twice.
	Idempotent func(ctx context.Context, params []byte) bool
}

// Receiver receives frames from a transport; the session of package mcp implements
// it. A transport calls it from one goroutine at a time for frames of one stream.
type Receiver interface {
	// OnFrame receives one frame. It reports whether it kept f.Raw, in which case the
	// transport must not reuse that memory.
	OnFrame(f Frame) (kept bool)
	// OnOversize receives a message over the size limit, twice: when the limit is
	// exceeded, and (Done) at its end.
	OnOversize(m OversizeMessage)
	// OnFailure ends the call id, which will get no response. An HTTP transport
	// reports a rejected or failed exchange with it.
	OnFailure(id string, err error, info *HTTPInfo)
	// OnHTTP receives the HTTP data of the call id.
	OnHTTP(id string, info *HTTPInfo)
	// Pending reports whether a call waits for its response.
	Pending(id string) bool
	// OnViolation receives a violation that the transport found. It belongs to the
	// call id, or to the session if id is empty or that call has ended.
	OnViolation(id string, v protocol.Violation)
	// OnDrained is called when everything that has arrived was delivered. Callers are
	// woken then, and not earlier, so that a second response in the same read is
	// recorded with the call.
	OnDrained()
	// InFlight returns the number of calls in flight, and of those that have their
	// response and are woken by OnDrained.
	InFlight() (calls, answered int)
	// OnEnd reports the end of the connection. The session fills in LastLine and
	// InFlight.
	OnEnd(why *ClosedError)
}

// OversizeMessage describes a message over the size limit.
type OversizeMessage struct {
	At     time.Time
	Offset int64  // of its first byte
	Size   int64  // bytes seen so far
	Head   []byte // its beginning, at most the limit; only when !Done
	Tail   []byte // its last bytes; only when Done
	Limit  int
	Done   bool
}

// Facts describe the server's end of a transport.
type Facts struct {
	Kind    string // "stdio", "streamable-http", "sse", "in-process"
	URL     string // HTTP
	Bye     int    // HTTP: the status of the response to DELETE, which ended the session; 0: none
	Pid     int    // stdio
	Stderr  *tail.Tail
	Process *proc.Process
}

// HTTPInfo describes one HTTP exchange.
type HTTPInfo struct {
	Status      int
	Header      http.Header
	ContentType string
	Body        []byte // the first 2 KiB, if it is not a response
	Attempts    int
	Tries       []HTTPAttempt // attempts that were retried
	NotAgain    string        // why a 429 or 503 was not retried; may be empty
}

// Limits limit what a session keeps and accepts. Zero fields are defaults.
type Limits struct {
	Message     int   // bytes of one message, default 16 MiB
	Values      int   // JSON values in one message, default 1,000,000
	Drain       int64 // bytes of one long message that are skipped before the session ends, default 1 GiB
	During      int   // bytes of messages kept for one call, default 4 MiB
	DuringCount int   // messages kept for one call, default 10,000
	Violations  int   // violations kept between two TakeViolations, default 1,000
	Requests    int   // requests of the server answered at the same time, default 64
	Redirects   int   // HTTP redirects followed, default 5; below zero none
	Rounds      int   // repetitions of one call with input for the server, default 10
	Items       int   // entries of one list (tools/list and others), default 10,000
	Pages       int   // pages of one list, default 1,000
	Stderr      int   // bytes of a process's standard error that are kept, a quarter of them from its beginning, default 64 KiB
}

// FillDefaults replaces zero fields with the defaults.
func (l Limits) FillDefaults() Limits {
	def := func(v *int, d int) {
		*v = cmp.Or(max(*v, 0), d)
	}
	def(&l.Message, 16<<20)
	def(&l.Values, 1_000_000)
	def(&l.During, 4<<20)
	def(&l.DuringCount, 10_000)
	def(&l.Violations, 1_000)
	def(&l.Requests, 64)
	def(&l.Rounds, 10)
	def(&l.Items, 10_000)
	def(&l.Pages, 1_000)
	def(&l.Stderr, tail.DefaultLimit)
	l.Redirects = cmp.Or(l.Redirects, 5)
	l.Drain = cmp.Or(max(l.Drain, 0), 1<<30)
	return l
}

// TooManyValues reports whether a valid JSON message has more values than allowed.
// Each value except one has at least two bytes, so that most messages need not be
// counted.
func (l *Limits) TooManyValues(raw []byte) bool {
	return len(raw)/2 >= l.Values && jsonv.CountValues(raw) > l.Values
}
