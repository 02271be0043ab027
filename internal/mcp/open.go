package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"mcptest/internal/jsonv"
	"mcptest/internal/mcp/protocol"
	"mcptest/internal/mcp/wire"
)

// Implementation names a client or server, as in clientInfo and serverInfo.
type Implementation struct {
	Name    string
	Title   string
	Version string
}

// Options say how a session is opened.
type Options struct {
	// Protocol is "auto", a revision, which the server must then agree to, or ""
	// for whichever revision the server answers initialize with.
	Protocol string
	// Era is what is known of the server from before; "auto" then does not ask.
	Era protocol.Era
	// Hint is what [Session.EraHint] said of the server in an earlier run. It
	// changes how long "auto" takes, never what comes of it.
	Hint protocol.Era
	// Redial makes another connection, where asking for the era spoilt the first
	// (a process that ended, or one that was asked for both eras). With nil
	// initialize is sent only after an answer to server/discover.
	Redial         func(ctx context.Context) (wire.Transport, error)
	Client         Implementation // who we say we are
	Capabilities   jsonv.Value    // what we declare; absent declares none
	Answer         Answerer       // answers requests of the server; nil: -32601 at once (ping always works)
	ConnectTimeout time.Duration  // of the handshake over each connection, default 60s
	Limits         wire.Limits
	Tolerate       func(kind string) bool // marks violations as tolerated; may be nil

	spoilt *freshError // why there is another connection
}

// defaultConnectTimeout bounds the handshake.
const defaultConnectTimeout = 60 * time.Second

// Auto is the value of Options.Protocol that takes whichever revision the
// server answers with, as long as we speak it.
const Auto = "auto"

// Open starts a session over t and shakes hands. On failure the transport is
// closed and the error is an [*OpenError].
func Open(ctx context.Context, t wire.Transport, o Options) (*Session, error) {
	if o.ConnectTimeout <= 0 {
		o.ConnectTimeout = defaultConnectTimeout
	}
	o.Client.Name = cmp.Or(o.Client.Name, "mcptest")
	s := newSession(t, o)
	n := &negotiator{conn: s.conn, send: s.send, http: s.http, o: &s.o}
	fail := func(phase string, cause error) (*Session, error) {
		e := s.openError(phase, cause, n)
		s.Close(context.WithoutCancel(ctx))
		return nil, e
	}
	if o.Protocol != Auto && o.Protocol != "" {
		if !protocol.VersionOf(o.Protocol).Known() {
			return fail("protocol", fmt.Errorf("protocol revision %q is not spoken here (known: %s)", o.Protocol, strings.Join(protocol.Versions(), ", ")))
		}
	}
	if err := s.conn.Start(); err != nil {
		return fail("start", err)
	}
	whole := ctx
	ctx, cancel := WithLimit(ctx, "connect_timeout", o.ConnectTimeout)
	defer cancel()
	d, phase, err := n.begins(ctx)
	var fresh *freshError
	if errors.As(err, &fresh) {
		return s.again(whole, fresh, n)
	}
	if err != nil {
		return fail(phase, err)
	}
	s.hello, s.server = n.hello, n.server
	s.conn.Agree(d)
	if d.Stateless {
		return s, nil
	}
	if err := s.Notify(ctx, methodInitialized, nil); err != nil {
		var limit *Limit
		if errors.As(context.Cause(ctx), &limit) {
			err = &TimeoutError{Method: methodInitialized, After: limit.For, Limit: limit.Error()}
		}
		return fail("initialize", err)
	}
	return s, nil
}

const methodInitialized = "notifications/initialized"

// again opens the server over another connection, as a server of the era that
// the first one showed.
func (s *Session) again(ctx context.Context, why *freshError, n *negotiator) (*Session, error) {
	spoilt := s.openError("initialize", why, n)
	s.SkipGrace()
	s.Close(context.WithoutCancel(ctx))
	t, err := s.o.Redial(ctx)
	if err != nil {
		spoilt.Cause = fmt.Errorf("%w; then: %w", why, err)
		return nil, spoilt
	}
	o := s.o
	o.Era, o.Redial, o.spoilt = why.era, nil, why
	fresh, err := Open(ctx, t, o)
	var failed *wire.OpenError
	if errors.As(err, &failed) {
		recall(failed, spoilt)
		if why.note != "" {
			failed.Cause = fmt.Errorf("%w%s", failed.Cause, why.note)
		}
	}
	return fresh, err
}

// recall adds what was seen of the server over the first connection to e, the
// error of the second, where that has nothing of its own to show: the second
// has less time left, too little for a server that starts slowly.
func recall(e, first *wire.OpenError) {
	if len(e.Violations) == 0 {
		e.Violations = first.Violations
	}
	e.LastLine = cmp.Or(e.LastLine, first.LastLine)
	if len(e.StderrTail) == 0 {
		e.StderrTail = first.StderrTail
	}
	var closed *wire.ClosedError
	if errors.As(e.Cause, new(*TimeoutError)) && errors.As(first.Cause, &closed) {
		e.Cause = fmt.Errorf("%w; when it was started first, %v", e.Cause, closed) //nolint:errorlint // one cause
	}
	var none *noCommonError
	if errors.As(first.Cause, &none) {
		e.Cause = fmt.Errorf("%w; and %w", none, e.Cause)
	}
}

// Restarted says why the server had to be connected to twice to find out of
// which era it is, where it did not answer server/discover: a *ClosedError when
// it ended. Nil when there was no need.
func (s *Session) Restarted() error {
	if f := s.o.spoilt; f != nil && (f.silent || errors.As(f, new(*wire.ClosedError))) {
		return f.why
	}
	return nil
}

// EraHint is what makes finding the era of the same server faster next time, as
// [Options.Hint]: EraSession when it left server/discover unanswered,
// EraRequests when it answered only after initialize had been sent.
func (s *Session) EraHint() protocol.Era {
	switch f := s.o.spoilt; {
	case f != nil && f.silent:
		return protocol.EraSession
	case f != nil && f.era == protocol.EraStateless, s.o.Hint == protocol.EraStateless && s.Era() == protocol.EraStateless:
		return protocol.EraStateless
	}
	return protocol.EraUnknown
}

// pins reports whether the server must agree to one revision.
func (o *Options) pins() bool { return o.Protocol != "" && o.Protocol != Auto }

// openError describes a failure before the transport is closed.
func (s *Session) openError(phase string, cause error, n *negotiator) *wire.OpenError {
	out := s.conn.Output()
	e := &wire.OpenError{Phase: phase, Cause: cause, Silent: out.None}
	var closed *wire.ClosedError
	if errors.As(cause, &closed) {
		e.Exited, e.Exit, e.StderrTail, e.LastLine = closed.Exited, closed.Exit, closed.Stderr, closed.LastLine
	} else {
		e.LastLine = out.LastOdd
		if tail := s.Facts().Stderr; tail != nil {
			e.StderrTail = tail.Ends(wire.StderrLines)
		}
	}
	if n.hello != nil {
		e.Violations = append(e.Violations, n.hello.Violations...)
	}
	e.Violations = append(e.Violations, s.TakeViolations()...)
	return e
}
