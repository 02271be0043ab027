package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"mcptest/internal/client/handshake"
	"mcptest/internal/client/protocol"
	"mcptest/internal/client/wire"
)

// Open starts a session over t and performs the handshake. On failure, the transport
// is closed and the error is an [*OpenError].
func Open(ctx context.Context, t wire.Transport, o Options) (*Session, error) {
	s, err := shakeHands(ctx, t, o)
	if err != nil || s.Era() == protocol.EraStateless || s.o.initialized {
		return s, err
	}
	if err := s.confirm(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// confirm ends the handshake of the era of sessions. On failure, the session is closed.
func (s *Session) confirm(ctx context.Context) error {
	limited, cancel := WithLimit(ctx, "connect_timeout", s.o.ConnectTimeout)
	defer cancel()
	err := s.Notify(limited, methodInitialized, nil)
	if err == nil {
		s.o.initialized = true
		return nil
	}
	if limit, ok := errors.AsType[*Limit](context.Cause(limited)); ok {
		err = &TimeoutError{Method: methodInitialized, After: limit.For, Limit: limit.Error()}
	}
	failed := s.openError("initialize", err, &negotiator{hello: s.hello})
	s.Close(context.WithoutCancel(ctx))
	return failed
}

// shakeHands is Open without the last message of the handshake, notifications/initialized.
func shakeHands(ctx context.Context, t wire.Transport, o Options) (*Session, error) {
	o.ConnectTimeout = cmp.Or(max(o.ConnectTimeout, 0), defaultConnectTimeout)
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
			return fail("protocol", fmt.Errorf("protocol version %q is not supported (known: %s)", o.Protocol, strings.Join(protocol.Versions(), ", ")))
		}
	}
	if err := s.conn.Start(); err != nil {
		return fail("start", err)
	}
	whole := ctx
	ctx, cancel := WithLimit(ctx, "connect_timeout", o.ConnectTimeout)
	defer cancel()
	d, phase, err := n.negotiate(ctx)
	if fresh, ok := errors.AsType[*freshError](err); ok {
		return s.reopen(whole, fresh, n)
	}
	if err != nil {
		return fail(phase, err)
	}
	s.hello, s.server = n.hello, n.server
	s.conn.SetVersion(d)
	return s, nil
}

const methodInitialized = "notifications/initialized"

// reopen opens the server over another connection, with the era that the first one
// revealed.
func (s *Session) reopen(ctx context.Context, why *freshError, n *negotiator) (*Session, error) {
	n.dropProbeViolations()
	first := s.openError("initialize", why, n)
	s.SkipGrace()
	s.Close(context.WithoutCancel(ctx))
	if why.guest != nil {
		why.guest.o.redialed, why.guest.o.detection = why, s.o.detection+", which is used"
		if err := why.guest.confirm(ctx); err != nil {
			return nil, err
		}
		why.guest.addViolations(first.Violations)
		return why.guest, nil
	}
	t, err := s.o.Redial(ctx)
	if err != nil {
		first.Cause = fmt.Errorf("%w; then: %w", why, err)
		return nil, first
	}
	o := s.o
	o.Era, o.redialed, o.alone = why.era, why, o.alone || why.alone
	if why.era != protocol.EraUnknown {
		o.Redial = nil
	}
	fresh, err := Open(ctx, t, o)
	if err == nil {
		fresh.addViolations(first.Violations)
	}
	if failed, ok := errors.AsType[*wire.OpenError](err); ok {
		addFirst(failed, first)
		if why.note != "" {
			failed.Cause = fmt.Errorf("%w%s", failed.Cause, why.note)
		}
	}
	return fresh, err
}

// addViolations adds the violations over the first connection to the handshake, except
// kinds that the server repeated over this one.
func (s *Session) addViolations(first []protocol.Violation) {
	again := append(s.hello.Violations, s.TakeViolations()...)
	s.hello.Violations = append(slices.DeleteFunc(first, func(v protocol.Violation) bool {
		return slices.ContainsFunc(again, func(w protocol.Violation) bool { return w.Kind == v.Kind })
	}), again...)
}

// addFirst adds details of the first connection to e, the error of the second, unless
// that has its own: the second connection has less time, which may be too little for
// a server that starts slowly.
func addFirst(e, first *wire.OpenError) {
	if len(e.Violations) == 0 {
		e.Violations = first.Violations
	}
	e.LastLine = cmp.Or(e.LastLine, first.LastLine)
	if len(e.StderrTail) == 0 {
		e.StderrTail = first.StderrTail
	}
	closed, ok := errors.AsType[*wire.ClosedError](first.Cause)
	if errors.As(e.Cause, new(*TimeoutError)) && ok {
		e.Cause = fmt.Errorf("%w; when it was started first, %v", e.Cause, closed) //nolint:errorlint // one cause
	}
	if none, ok := errors.AsType[*noCommonError](first.Cause); ok {
		e.Cause = fmt.Errorf("%w; and %w", none, e.Cause)
	}
}

// Restarted returns why a second connection was needed to detect the era, if the
// server exited without a response to server/discover: a *ClosedError. Otherwise it
// returns nil, also for a server that may have exited because it was started twice.
func (s *Session) Restarted() error {
	if f := s.o.redialed; f != nil && !f.alone && errors.As(f, new(*wire.ClosedError)) {
		return f.why
	}
	return nil
}

// Detection says what the detection of the era did in addition to a request over the
// first connection: a further connection, for instance. It is "" for most sessions.
func (s *Session) Detection() string { return s.o.detection }

// HandshakeWarnings says what in the result of the handshake is against the schema, but
// keeps no widely used client from connecting.
func (s *Session) HandshakeWarnings() (out []string) {
	for _, fault := range handshake.Faults(s.ServerInfo(), s.ProtocolVersion().Stateless) {
		if len(fault.Refused) == 0 {
			out = append(out, fault.String())
		}
	}
	return out
}

// EraHint returns the [Options.Hint] that speeds up the detection in the next run:
// EraSession if the server did not respond to server/discover, EraRequests if it
// responded after initialize had been sent.
func (s *Session) EraHint() protocol.Era {
	f := s.o.redialed
	switch {
	case f != nil && f.silent:
		return protocol.EraSession
	case f != nil && f.era == protocol.EraStateless, s.o.Hint == protocol.EraStateless && s.Era() == protocol.EraStateless:
		return protocol.EraStateless
	}
	return protocol.EraUnknown
}

// openError describes a failure. It is called before the transport is closed.
func (s *Session) openError(phase string, cause error, n *negotiator) *wire.OpenError {
	out := s.conn.Output()
	e := &wire.OpenError{Phase: phase, Cause: cause, Silent: out.None}
	if closed, ok := errors.AsType[*wire.ClosedError](cause); ok {
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
