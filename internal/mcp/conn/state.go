package conn

import (
	"cmp"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"mcptest/internal/mcp/protocol"
	"mcptest/internal/mcp/wire"
	"mcptest/internal/proc"
	"mcptest/internal/proc/tail"
)

// state is what the callers and the receiver of a connection share. Callers
// use its methods, which lock mu; the receiver holds mu while it reads a frame.
type state struct {
	version atomic.Pointer[protocol.Version] // nil until the handshake is over
	ended   chan struct{}

	mu      sync.Mutex
	calls   *callTable
	journal journal
	log     violationLog
	tokens  tokenSet
	closing bool
	closed  *wire.ClosedError
	silent  bool // a call timed out, and no message has come since
}

func newState(o Options) *state {
	return &state{ended: make(chan struct{}), calls: newCallTable(), log: violationLog{limit: o.Limits.Violations, tolerate: o.Tolerate}}
}

// agreed is the version both sides agreed on, a zero row before that.
func (s *state) agreed() protocol.Version {
	if v := s.version.Load(); v != nil {
		return *v
	}
	return protocol.Version{}
}

// over is the cause of a call on a connection that is over, nil before that.
func (s *state) over() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.overLocked()
}

func (s *state) overLocked() error {
	switch {
	case s.closed != nil:
		return s.closed
	case s.closing:
		return &wire.ClosedError{Reason: "the session was closed", Ours: true}
	}
	return nil
}

// begin puts a call in flight.
func (s *state) begin(k *call) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.overLocked(); err != nil {
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

// close ends every call in flight. It reports whether the server has not
// answered, or answers no more.
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

// unresponsive reports whether a call timed out, no message has come since, and
// the connection is open.
func (s *state) unresponsive() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.silent && s.overLocked() == nil
}

// busy reports whether somebody waits for a call in flight.
func (s *state) busy() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.calls.raws) > 0 || s.calls.awaited()
}

// err is why the connection ended, nil while it lives.
func (s *state) err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed == nil {
		return nil
	}
	return s.closed
}

// crashed notes a crash that no call is to blame for. The caller holds mu.
func (s *state) crashed(msg string, stderr []string) {
	s.log.add(protocol.Violation{
		Kind: protocol.ServerCrashed, Msg: msg, Excerpt: protocol.Excerpt([]byte(cmp.Or(tail.Cause(stderr), strings.Join(stderr[max(0, len(stderr)-3):], " | ")))), At: time.Now(),
		Tolerated: s.log.tolerated(protocol.ServerCrashed),
	})
}

// crashedAtEnd notes a server that crashed after its input was closed. Whether
// it was closed before or after the crash is chance, which may not decide; and
// being asked to end is no reason for a segmentation fault. A status says less:
// some servers always end with another than 0.
func (s *state) crashedAtEnd(exit proc.Exit) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed != nil && s.closed.Ours {
		s.crashed("the server crashed when its input was closed ("+exit.String()+")", s.closed.Stderr)
	}
}
