package conn

import (
	"cmp"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/protocol"
	"mcptest/internal/client/wire"
	"mcptest/internal/process/proc"
	"mcptest/internal/process/tail"
)

// Options configure a connection.
type Options struct {
	Answer       Answerer               // answers requests of the server; nil: -32601 (ping always works)
	Capabilities jsonv.Value            // client capabilities; absent declares none
	Limits       wire.Limits            // zero fields are defaults
	Tolerate     func(kind string) bool // marks violations as tolerated; may be nil
	Watch        Watch                  // may be nil
}

// state is shared by the callers and the receiver of a connection. Callers use its
// methods, which lock mu; the receiver holds mu while it reads a frame.
type state struct {
	version atomic.Pointer[protocol.Version] // nil before the end of the handshake
	ended   chan struct{}
	limits  wire.Limits
	offers  jsonv.Value // capabilities of the client
	watch   func(Event) // may be nil
	stdio   bool        // lines of a process

	side wire.SideEvents

	mu      sync.Mutex
	calls   *callTable
	journal journal
	log     violationLog
	tokens  recent[string] // progress tokens
	closing bool
	closed  *wire.ClosedError
	silent  bool      // a call timed out, and no message has arrived since
	late    time.Time // of the latest progress of a call that timed out
}

func newState(o Options, stdio bool) *state {
	log := violationLog{limit: o.Limits.Violations, tolerate: o.Tolerate}
	s := &state{
		ended: make(chan struct{}), calls: newCallTable(), limits: o.Limits, offers: o.Capabilities,
		stdio: stdio, log: log, tokens: recent[string]{limit: 1024},
	}
	if o.Watch != nil {
		s.watch = o.Watch()
	}
	return s
}

// agreedVersion returns the negotiated version, or a zero row before the handshake.
func (s *state) agreedVersion() protocol.Version {
	if v := s.version.Load(); v != nil {
		return *v
	}
	return protocol.Version{}
}

// overError returns the cause for calls after the end of the connection, or nil before it.
func (s *state) overError() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.overErrorLocked()
}

func (s *state) overErrorLocked() error {
	switch {
	case s.closed != nil:
		return s.closed
	case s.closing:
		return &wire.ClosedError{Reason: "the session was closed", Ours: true}
	}
	return nil
}

// begin registers a call.
func (s *state) begin(k *call) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.overErrorLocked(); err != nil {
		return err
	}
	k.x.Start = time.Now()
	if k.raw != nil {
		s.calls.beginRaw(k)
		return nil
	}
	if k.token != nil {
		s.tokens.add(string(k.token))
	}
	s.calls.begin(k)
	return nil
}

// close ends every call in flight. It reports whether the server has never responded,
// or no longer does.
func (s *state) close() (unresponsive bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closing = true
	if s.closed == nil {
		s.calls.finishAll(&wire.ClosedError{Reason: "the session was closed", Ours: true, InFlight: s.calls.requestsInFlight()})
		s.calls.wake()
	}
	return s.silent || s.closed != nil
}

// isUnresponsive reports whether a call timed out, no message has arrived since, and
// the connection is open.
func (s *state) isUnresponsive() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.silent && s.overErrorLocked() == nil
}

// isBusy reports whether a caller waits for a call in flight.
func (s *state) isBusy() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.calls.raws) > 0 || s.calls.hasWaiter()
}

// err returns why the connection ended, or nil while it is open.
func (s *state) err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed == nil {
		return nil
	}
	return s.closed
}

// emit passes an event to the watcher, if there is one.
func (s *state) emit(e Event) {
	if s.watch == nil {
		return
	}
	if e.At.IsZero() {
		e.At = time.Now()
	}
	s.watch(e)
}

// emitSent passes a message that is about to be sent to the watcher.
func (s *state) emitSent(out wire.Outgoing) {
	if s.watch == nil {
		return
	}
	f := &FrameEvent{Dir: wire.ToServer, Raw: out.Raw, Size: int64(len(out.Raw)), Method: out.Method, ID: out.ID}
	s.emit(Event{Frame: f, ID: out.ID})
}

// report records a violation that is not one of a frame. The caller holds mu.
func (s *state) report(v protocol.Violation, id string, k *call) {
	s.record(v, id, k)
	v.ID, v.Tolerated = id, s.log.isTolerated(v.Kind)
	s.emit(Event{ID: id, Violations: []protocol.Violation{v}})
}

// record adds a violation to its call, or to those of the session. The caller holds mu.
func (s *state) record(v protocol.Violation, id string, k *call) {
	v.ID, v.Tolerated = id, s.log.isTolerated(v.Kind)
	if k != nil {
		k.x.Violate(v)
	} else {
		s.log.add(v)
	}
}

// recordCrash records a crash that no call caused. The caller holds mu.
func (s *state) recordCrash(msg string, stderr []string) {
	excerpt := cmp.Or(tail.Cause(stderr), strings.Join(stderr[max(0, len(stderr)-3):], " | "))
	s.report(protocol.Violation{
		Kind:    protocol.ServerCrashed,
		Msg:     msg,
		Excerpt: protocol.Excerpt([]byte(excerpt)),
		At:      time.Now(),
	}, "", nil)
}

// hasCrashedAtEnd records a server that crashed after its input was closed. The result
// must not depend on the order of the two events, and closing the input does not
// excuse a segmentation fault. An exit status is ignored, because some servers always
// exit with a status other than 0.
func (s *state) hasCrashedAtEnd(exit proc.Exit) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed != nil && s.closed.Ours {
		s.recordCrash("the server crashed when its input was closed ("+exit.String()+")", s.closed.Stderr)
	}
}
