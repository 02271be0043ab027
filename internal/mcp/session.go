package mcp

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"mcptest/internal/jsonv"
	"mcptest/internal/mcp/protocol"
	"mcptest/internal/mcp/wire"
	"mcptest/internal/proc"
)

// Session is one connection to a server that has been opened with [Open]. Its
// methods may be used by several goroutines at a time.
type Session struct {
	t     wire.Transport
	await wire.Awaiter // nil if the transport can't read on the goroutine of a caller
	http  *wire.HTTP   // nil for a stream
	o     Options
	lim   wire.Limits

	ctx  context.Context // ends with the session: the server's requests run under it
	stop context.CancelFunc
	wg   sync.WaitGroup // goroutines that answer the server

	version atomic.Pointer[protocol.Version] // nil until the handshake is over
	hello   *Exchange                        // the handshake
	server  jsonv.Value

	sending        sync.RWMutex // held shared while a request is written; taken before mu
	mu             sync.Mutex
	calls          *callTable
	serverRequests map[string]context.CancelFunc // being answered, by id
	closing        bool
	silent         bool // a call timed out, and no message has come since
	closed         *wire.ClosedError
	ended          chan struct{}

	tools    toolTable
	repeats  func(context.Context, []byte) bool // s.idempotent, made once
	metaOnce sync.Once
	metaRaw  []byte

	renewing  sync.Mutex   // see renew
	good      atomic.Int64 // answers over HTTP
	renewals  int
	renewedAt int64

	in      inbound
	journal journal
	log     violationLog
}

func newSession(t wire.Transport, o Options) *Session {
	s := &Session{
		t: t, o: o, lim: o.Limits.WithDefaults(), calls: newCallTable(),
		serverRequests: map[string]context.CancelFunc{}, ended: make(chan struct{}),
	}
	s.await, _ = t.(wire.Awaiter)
	s.http, _ = t.(*wire.HTTP)
	s.ctx, s.stop = context.WithCancel(context.Background())
	s.in.scan = protocol.NewScanner()
	s.log.limit = s.lim.Violations
	s.repeats = s.idempotent
	return s
}

// Protocol returns the name of the version both sides agreed on, "" before that.
func (s *Session) Protocol() string { return s.agreed().Name }

// ProtocolVersion returns the version both sides agreed on.
func (s *Session) ProtocolVersion() protocol.Version { return s.agreed() }

// Era returns the era of the server.
func (s *Session) Era() protocol.Era { return s.agreed().Era() }

// agreed is the version both sides agreed on, a zero row before that.
func (s *Session) agreed() protocol.Version {
	if v := s.version.Load(); v != nil {
		return *v
	}
	return protocol.Version{}
}

// ServerInfo returns the whole result of the handshake. That of server/discover
// has its serverInfo at the top, too, where the result of initialize has it.
func (s *Session) ServerInfo() jsonv.Value { return s.server }

// Handshake returns the exchange the session began with.
func (s *Session) Handshake() *Exchange { return s.hello }

// Stderr returns what the server wrote on standard error; nil over HTTP.
func (s *Session) Stderr() *proc.Tail { return s.t.Facts().Stderr }

// Facts says what is at the other end.
func (s *Session) Facts() wire.Facts { return s.t.Facts() }

// Alive reports whether calls can still be answered.
func (s *Session) Alive() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed == nil && !s.closing
}

// Done is closed when the session has ended.
func (s *Session) Done() <-chan struct{} { return s.ended }

// Err returns why the session ended, a *ClosedError; nil while it lives.
func (s *Session) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed == nil {
		return nil
	}
	return s.closed
}

// Do sends a request and waits for its answer, for the end of ctx, or for the
// end of the session. It always returns an exchange.
func (s *Session) Do(ctx context.Context, c Call) *Exchange {
	d := s.agreed()
	if d.Stateless {
		return s.stateless(ctx, c, d)
	}
	x := s.once(ctx, c)
	var lost *wire.SessionLostError
	if x.Cause == nil {
		s.good.Add(1)
		if c.Method == "tools/list" && !s.isStdio() {
			s.learn(x, d)
		}
	} else if errors.As(x.Cause, &lost) {
		s.renew(ctx, lost)
	}
	return x
}

// once sends a request and waits.
func (s *Session) once(ctx context.Context, c Call) *Exchange {
	x := &Exchange{Method: c.Method}
	k, err := s.begin(&c, x)
	if err != nil {
		x.Cause, x.Unread = err, true
		return x
	}
	s.finish(ctx, c, k, x)
	return x
}

// stateless sends a request of a stateless revision.
func (s *Session) stateless(ctx context.Context, c Call, d protocol.Version) *Exchange {
	if c.Method == protocol.MethodListen && c.CancelAfter == 0 {
		return s.listen(ctx, c)
	}
	x := s.rounds(ctx, c)
	if c.Method == "tools/list" && x.Result != nil && !s.isStdio() {
		s.learn(x, d)
	}
	return x
}

// finish sends a call that was begun and waits for its end.
func (s *Session) finish(ctx context.Context, c Call, k *call, x *Exchange) {
	version := s.Protocol()
	if c.as.Known() {
		version = c.as.Name
	}
	out := wire.Outgoing{
		Raw: x.Request, Method: c.Method, ID: x.ID, Params: c.Params, Header: c.Header, Protocol: version, CancelAfter: c.CancelAfter,
		Mirror: c.mirror, Idempotent: s.repeats,
	}
	if ctx.Err() != nil { // nobody waits: the server must not begin
		s.giveUp(k, givenUp(ctx, x, false), false)
	} else if err := s.write(ctx, k, out); err != nil {
		s.notSent(ctx, k, err)
	} else {
		s.answered(ctx, k, c.CancelAfter)
	}
	s.calls.release(k)
}

// begin numbers a call, builds its frame and registers it.
func (s *Session) begin(c *Call, x *Exchange) (*call, error) {
	k := s.calls.newCall(x)
	k.answer, k.own = c.Answer, c.Own
	k.handed = c.handed
	k.id = idAt(s.calls.sent.Add(1))
	x.ID = strconv.FormatInt(k.id, 10)
	d := c.as
	if !d.Known() {
		d = s.agreed()
	}
	if d.Stateless {
		sent := *c
		sent.Params = s.withMeta(d, c.Params, c.LogLevel)
		c = &sent
	}
	x.Request, k.token = protocol.AppendRequest(x.ID, c.Method, c.Params, c.ProgressToken)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed != nil || s.closing {
		s.calls.release(k)
		return nil, s.closedErr()
	}
	if k.token != nil {
		s.in.tokens.add(string(k.token))
	}
	x.Start = time.Now()
	s.calls.begin(k)
	return k, nil
}

// closedErr is the cause of a call on a session that is over. The caller holds mu.
func (s *Session) closedErr() error {
	if s.closed != nil {
		return s.closed
	}
	return &wire.ClosedError{Reason: "the session was closed", Ours: true}
}

// answered waits until the call is complete, and completes it with its cause
// when the wait is given up.
func (s *Session) answered(ctx context.Context, k *call, cancelAfter time.Duration) {
	until, _ := ctx.Deadline()
	var cancel <-chan time.Time
	if cancelAfter > 0 {
		if at := k.x.Start.Add(cancelAfter); until.IsZero() || at.Before(until) {
			until = at
		}
		t := time.NewTimer(time.Until(k.x.Start.Add(cancelAfter)))
		defer t.Stop()
		cancel = t.C
	}
	if s.await != nil && ctx.Err() == nil && s.await.Await(k.ready, until) {
		return
	}
	select {
	case <-k.ready:
	case <-ctx.Done():
		s.giveUp(k, givenUp(ctx, k.x, false), true)
	case <-cancel:
		s.giveUp(k, &CancelledError{Method: k.x.Method, After: time.Since(k.x.Start)}, true)
	}
}

// givenUp is the cause of a call whose context ended.
func givenUp(ctx context.Context, x *Exchange, sending bool) error {
	after, cause := time.Since(x.Start), context.Cause(ctx)
	var limit *Limit
	if errors.As(cause, &limit) {
		// The limit may have begun before this request: it covers the whole.
		return &TimeoutError{Method: x.Method, After: max(after, limit.For), Limit: limit.Error(), Sending: sending}
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return &TimeoutError{Method: x.Method, After: after, Sending: sending}
	}
	return &CancelledError{Method: x.Method, After: after, Cause: cause}
}

// giveUp completes a call with cause unless its answer was faster, and tells
// the server when it may still be working on it.
func (s *Session) giveUp(k *call, cause error, tell bool) {
	s.mu.Lock()
	if !s.calls.isWaiting(k) {
		s.mu.Unlock()
		<-k.ready
		return
	}
	s.in.dropMultiline(s)
	s.calls.giveUp(k)
	k.x.Cause = cause
	k.x.Elapsed = time.Since(k.x.Start)
	var timeout *TimeoutError
	if errors.As(cause, &timeout) {
		s.silent = true
		if p := s.Facts().Process; p != nil && s.in.long == nil && time.Since(s.in.heard) > time.Second {
			timeout.Waiting = p.OutputWaiting()
		}
	}
	s.mu.Unlock()
	// A client must not cancel initialize (MCP 2025-11-25 cancellation).
	if tell && k.raw == nil && k.x.Method != "initialize" && k.x.Method != protocol.MethodDiscover {
		s.cancel(k.x.ID, cause)
	}
}

// cancelTime is how long a call that is given up waits for the notification of
// that to be written.
const cancelTime = 250 * time.Millisecond

func (s *Session) cancel(id string, cause error) {
	ctx, stop := context.WithTimeout(s.ctx, cancelTime)
	defer stop()
	params := append([]byte(`{"requestId":`), id...)
	params = append(params, `,"reason":`...)
	params = append(jsonv.AppendString(params, cause.Error()), '}')
	_ = s.Notify(ctx, "notifications/cancelled", params)
}

// write sends a request and notes whether the server may have read any of it.
func (s *Session) write(ctx context.Context, k *call, out wire.Outgoing) error {
	if k.handed != nil {
		defer k.handed()
	}
	s.sending.RLock()
	defer s.sending.RUnlock()
	err := s.t.Send(ctx, out)
	var broken *wire.BrokenError
	k.written = !errors.As(err, &broken) || broken.Partly
	return err
}

// notSent completes a call whose request could not be written.
func (s *Session) notSent(ctx context.Context, k *call, err error) {
	var full *wire.NotReadError
	if errors.As(err, &full) && ctx.Err() != nil {
		s.giveUp(k, givenUp(ctx, k.x, true), false)
		return
	}
	if errors.As(err, new(*wire.BrokenError)) {
		// The server most likely died: its end says more than a broken pipe.
		wait := time.NewTimer(wire.ExitWait + wire.ExitWait/2)
		defer wait.Stop()
		select {
		case <-k.ready:
			return
		case <-ctx.Done():
			s.giveUp(k, givenUp(ctx, k.x, true), false)
			return
		case <-wait.C:
		}
		why := &wire.ClosedError{Reason: "the server closed its standard input", Err: err}
		if tail := s.Stderr(); tail != nil {
			why.Stderr = tail.Ends(wire.StderrLines)
		}
		s.OnEnd(why)
		<-k.ready
		return
	}
	s.giveUp(k, &SendError{Method: k.x.Method, Err: err}, false)
}

// Notify sends a notification. Params may be nil.
func (s *Session) Notify(ctx context.Context, method string, params []byte) error {
	s.mu.Lock()
	if s.closed != nil || s.closing {
		defer s.mu.Unlock()
		return s.closedErr()
	}
	s.mu.Unlock()
	out := wire.Outgoing{Raw: protocol.AppendNotification(nil, method, params), Method: method, Params: params, Protocol: s.Protocol()}
	if err := s.t.Send(ctx, out); err != nil {
		return &SendError{Method: method, Err: err}
	}
	return nil
}

// SkipGrace has Close send SIGTERM to the server's process soon after its input
// ended: nobody expects it to end by itself.
func (s *Session) SkipGrace() {
	if t, ok := s.t.(*wire.Stdio); ok {
		t.SkipGrace()
	}
}

// Close ends the session: calls in flight end with a *ClosedError, the
// server's requests are given up, the transport is closed. It returns what
// became of the process. It may be called more than once.
func (s *Session) Close(ctx context.Context) proc.Stopped {
	s.mu.Lock()
	s.closing = true
	if s.silent || s.closed != nil {
		s.SkipGrace() // it has not answered, or answers no more: it does not get a grace period
	}
	if s.closed == nil {
		s.calls.finishAll(&wire.ClosedError{Reason: "the session was closed", Ours: true, InFlight: s.calls.requestsInFlight()})
		s.calls.wake()
	}
	s.mu.Unlock()
	s.stop()
	stopped := s.t.Close(ctx)
	s.wg.Wait()
	s.crashedAtEnd(stopped)
	return stopped
}
