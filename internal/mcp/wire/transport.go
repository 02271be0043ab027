package wire

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"mcptest/internal/jsonv"
	"mcptest/internal/mcp/protocol"
	"mcptest/internal/proc"
	"mcptest/internal/proc/tail"
)

// Transport moves frames and knows nothing of JSON-RPC ids. It is used by one
// [Session].
type Transport interface {
	// Start begins delivery to sink. It is called once, before the first Send.
	Start(sink Receiver) error
	// Send hands one message to the server. It returns when the message is
	// written (stdio) or accepted for sending (HTTP, which then reports a
	// failure of the exchange with Receiver.OnFailure). It never blocks longer than ctx;
	// a message that was written in part is completed in the background, so
	// the stream stays intact.
	Send(ctx context.Context, out Outgoing) error
	// Close ends the connection, and the process behind it if there is one.
	// After it returned nothing is delivered any more.
	Close(ctx context.Context) proc.Stopped
	// Facts says what is at the other end.
	Facts() Facts
}

// Awaiter is a [Transport] that can use the goroutine of a waiting caller to
// read, which saves the hand-off between a reader and the caller.
type Awaiter interface {
	// Await delivers frames on the calling goroutine until done is signalled
	// (then it consumes the signal and returns true) or until waiting by other
	// means is better: another goroutine reads already, the deadline until is
	// reached, or a short while has passed. The zero until means none.
	Await(done <-chan struct{}, until time.Time) bool
}

// Outgoing is one message on its way to the server.
type Outgoing struct {
	Raw      []byte      // without a delimiter; not kept after Send returned
	Method   string      // empty for an answer and for raw bytes
	ID       string      // the id as JSON text; empty for notifications
	Params   []byte      // sub-slice of Raw, for headers that repeat parts of it
	Protocol string      // revision agreed on; empty before that
	Header   http.Header // headers of this call, nil for none
	Stream   string      // what Receiver calls this exchange; "" is ID for requests, and nothing awaited for the rest

	CancelAfter time.Duration // the caller gives up after this time; 0 never
	Mirror      http.Header   // Mcp-Param-* headers
	// Idempotent reports whether a tools/call with these params may be sent
	// twice. It may ask the server; nil: it may not.
	Idempotent func(ctx context.Context, params []byte) bool
}

// Receiver takes what a transport receives; the session of package mcp implements
// it. A transport calls it from one goroutine at a time for frames of one stream.
type Receiver interface {
	// OnFrame takes one frame. It reports whether it kept f.Raw, in which case
	// the transport must not use that memory again.
	OnFrame(f Frame) (kept bool)
	// OnOversize takes a message over the size limit, twice: when the limit is
	// passed and (Done) when its end was found.
	OnOversize(m OversizeMessage)
	// OnFailure ends the call id: no response will come for it. An HTTP transport
	// reports a refused or broken exchange with it.
	OnFailure(id string, err error, info *HTTPInfo)
	// OnHTTP gives what is known of the exchange of call id.
	OnHTTP(id string, info *HTTPInfo)
	// Pending reports whether a call waits for its response.
	Pending(id string) bool
	// OnViolation files a violation that the transport found, with the call id or,
	// when that is empty or over, with the session.
	OnViolation(id string, v protocol.Violation)
	// OnDrained is called when everything that has arrived was delivered. Callers
	// whose responses arrived are woken then, not earlier, so that a second
	// response in the same read is still recorded with the call.
	OnDrained()
	// InFlight returns how many calls are in flight, and how many have their
	// response and are woken by OnDrained.
	InFlight() (calls, answered int)
	// OnEnd reports that nothing will come any more. The session fills in LastLine
	// and InFlight.
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

// Facts says what is at the other end of a transport.
type Facts struct {
	Kind    string   // "stdio", "streamable-http", "sse", "in-process"
	Command []string // stdio
	URL     string   // HTTP
	Pid     int      // stdio
	Stderr  *tail.Tail
	Process *proc.Process
}

// HTTPInfo is what is worth knowing of one HTTP exchange.
type HTTPInfo struct {
	Status      int
	Header      http.Header
	ContentType string
	Body        []byte // the first 2 KiB, when it was no answer
	URL         string
	SessionID   string
	Attempts    int
	Tries       []HTTPTry // refused for now and sent again
	NotAgain    string    // why a 429 or 503 was the last answer, where that is worth a word
}

// Limits bound what a session keeps and accepts. Zero fields are defaults.
type Limits struct {
	Message     int   // bytes of one message, default 16 MiB
	Values      int   // JSON values in one message, default 1,000,000
	Drain       int64 // bytes of one over-long message that are skipped before the session is given up, default 1 GiB
	During      int   // bytes of messages kept for one call, default 4 MiB
	DuringCount int   // messages kept for one call, default 10,000
	Violations  int   // violations kept between two TakeViolations, default 1,000
	Requests    int   // requests of the server answered at the same time, default 64
	Redirects   int   // HTTP redirects followed, default 5; below zero none
	Rounds      int   // repetitions of one call with input the server asked for, default 10
	Items       int   // entries of one list (tools/list and others), default 10,000
	Pages       int   // pages of one list, default 1,000
	Stderr      int   // bytes of a process's standard error that are kept, a quarter of them from its beginning, default 64 KiB
}

// WithDefaults fills in what is zero.
func (l Limits) WithDefaults() Limits {
	def := func(v *int, d int) {
		if *v <= 0 {
			*v = d
		}
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
	if l.Drain <= 0 {
		l.Drain = 1 << 30
	}
	return l
}

// TooManyValues reports whether a message that is valid JSON has more values than is
// allowed. Each value but one takes two bytes at least, so that hardly any
// message has to be counted.
func (l *Limits) TooManyValues(raw []byte) bool {
	return len(raw)/2 >= l.Values && jsonv.CountValues(raw) > l.Values
}
