package mcp

import (
	"context"
	"errors"
	"fmt"
	"slices"
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
	if o.Client.Name == "" {
		o.Client.Name = "mcptest"
	}
	s := newSession(t, o)
	fail := func(phase string, cause error) (*Session, error) {
		e := s.openError(phase, cause)
		s.Close(context.WithoutCancel(ctx))
		return nil, e
	}
	if o.Protocol != Auto && o.Protocol != "" {
		if !protocol.VersionOf(o.Protocol).Known() {
			return fail("protocol", fmt.Errorf("protocol revision %q is not spoken here (known: %s)", o.Protocol, strings.Join(protocol.Versions(), ", ")))
		}
	}
	if err := t.Start(s); err != nil {
		return fail("start", err)
	}
	whole := ctx
	ctx, cancel := WithLimit(ctx, "connect_timeout", o.ConnectTimeout)
	defer cancel()
	d, phase, err := s.begins(ctx)
	var fresh *freshError
	if errors.As(err, &fresh) {
		return s.again(whole, fresh)
	}
	if err != nil {
		return fail(phase, err)
	}
	s.version.Store(&d)
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

// begins opens the server in the way that is asked for.
func (s *Session) begins(ctx context.Context) (protocol.Version, string, error) {
	switch d := protocol.VersionOf(s.o.Protocol); {
	case d.Stateless:
		return s.pinned(ctx, d)
	case s.o.Protocol != Auto || s.o.Era == protocol.EraSession:
		return s.handshake(ctx)
	case s.o.Era == protocol.EraStateless:
		return s.pinned(ctx, protocol.Newest(protocol.EraStateless))
	}
	return s.detect(ctx)
}

// again opens the server over another connection, as a server of the era that
// the first one showed.
func (s *Session) again(ctx context.Context, why *freshError) (*Session, error) {
	spoilt := s.openError("initialize", why)
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
	if e.LastLine == "" {
		e.LastLine = first.LastLine
	}
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
func (s *Session) openError(phase string, cause error) *wire.OpenError {
	e := &wire.OpenError{Phase: phase, Cause: cause, Silent: s.wroteNothing()}
	var closed *wire.ClosedError
	if errors.As(cause, &closed) {
		e.Exited, e.Exit, e.StderrTail, e.LastLine = closed.Exited, closed.Exit, closed.Stderr, closed.LastLine
	} else {
		e.LastLine = s.lastLine()
		if tail := s.t.Facts().Stderr; tail != nil {
			e.StderrTail = tail.Ends(wire.StderrLines)
		}
	}
	if s.hello != nil {
		e.Violations = append(e.Violations, s.hello.Violations...)
	}
	e.Violations = append(e.Violations, s.TakeViolations()...)
	return e
}

// wroteNothing reports whether a process wrote nothing to its standard output.
func (s *Session) wroteNothing() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.isStdio() && len(s.in.last) == 0
}

// lastLine is the last line of the server's standard output that may explain a
// failure.
func (s *Session) lastLine() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lastOdd()
}

// lastOdd is the last line of standard output, "" when it was a message or the
// server has no standard output (HTTP). The caller holds mu.
func (s *Session) lastOdd() string {
	if last := s.in.last; s.isStdio() && len(last) > 0 && (last[0] != '{' || !s.selfContained(last)) {
		return protocol.Excerpt(last)
	}
	return ""
}

// handshake sends initialize and settles the revision (MCP 2025-11-25
// lifecycle). With "auto" a server that refuses the newest revision and lists
// those it has is asked once more.
func (s *Session) handshake(ctx context.Context) (protocol.Version, string, error) {
	want := s.o.Protocol
	if !s.o.pins() {
		want = protocol.Newest(protocol.EraSession).Name
	}
	for again := false; ; again = true {
		s.hello = s.Do(ctx, Call{Method: "initialize", Params: s.initializeParams(want)})
		if s.hello.Cause != nil {
			return s.refusedInitialize(ctx, s.hello.Cause)
		}
		if s.hello.Error == nil {
			break
		}
		rpc := s.hello.RPCError()
		if other := commonRevision(rpc.Data); !s.o.pins() && !again && other != "" && other != want {
			want = other
			continue
		}
		return s.refusedInitialize(ctx, fmt.Errorf("the server refused initialize: %w", rpc))
	}
	v, err := handshakeResult(s.hello, s.tolerated)
	if err != nil {
		return failed("initialize", fmt.Errorf("read the answer to initialize: %w", err))
	}
	s.server = v
	got := v.Lookup("protocolVersion")
	if got.Kind() != jsonv.KindString {
		return failed("initialize", errors.New("the answer to initialize has no protocolVersion"))
	}
	d := protocol.VersionOf(got.Text())
	if s.o.pins() && got.Text() != want {
		return failed("protocol", fmt.Errorf("asked for protocol revision %s, the server answered with %q", want, got.Text()))
	}
	if d.Era() != protocol.EraSession {
		return failed("protocol", fmt.Errorf("the server answered with protocol revision %q, which is not spoken here (known: %s)",
			got.Text(), strings.Join(protocol.SessionVersions(), ", ")))
	}
	s.checkInitialize(v)
	return d, "", nil
}

// checkInitialize notes members that an initialize result must have and has not.
func (s *Session) checkInitialize(v jsonv.Value) {
	for _, want := range []struct {
		path []string
		kind jsonv.Kind
	}{
		{[]string{"capabilities"}, jsonv.KindObject},
		{[]string{"serverInfo"}, jsonv.KindObject},
		{[]string{"serverInfo", "name"}, jsonv.KindString},
		{[]string{"serverInfo", "version"}, jsonv.KindString},
	} {
		if got := v.Lookup(want.path...); got.Kind() != want.kind {
			s.hello.violate(protocol.Violation{
				Kind: protocol.BadResult, ID: s.hello.ID, At: time.Now(), Excerpt: protocol.Excerpt(s.hello.Result), Tolerated: s.tolerated(protocol.BadResult),
				Msg: fmt.Sprintf("%s of the initialize result is %s, want %s", strings.Join(want.path, "."), got.Kind(), want.kind),
			})
			if len(want.path) == 1 && want.path[0] == "serverInfo" {
				return
			}
		}
	}
}

func (s *Session) initializeParams(revision string) []byte {
	return jsonv.Object(
		jsonv.Member{Key: "protocolVersion", Value: jsonv.String(revision)},
		jsonv.Member{Key: "capabilities", Value: s.capabilities()},
		jsonv.Member{Key: "clientInfo", Value: s.clientInfo()},
	).Append(nil)
}

func (s *Session) clientInfo() jsonv.Value {
	info := []jsonv.Member{{Key: "name", Value: jsonv.String(s.o.Client.Name)}}
	if s.o.Client.Title != "" {
		info = append(info, jsonv.Member{Key: "title", Value: jsonv.String(s.o.Client.Title)})
	}
	return jsonv.Object(append(info, jsonv.Member{Key: "version", Value: jsonv.String(s.o.Client.Version)})...)
}

func (s *Session) capabilities() jsonv.Value {
	if s.o.Capabilities.IsAbsent() {
		return jsonv.Object()
	}
	return s.o.Capabilities
}

// commonRevision finds the newest revision we speak in the data of an
// "unsupported protocol version" error.
func commonRevision(data []byte) string {
	v, err := jsonv.Parse(data)
	if err != nil {
		return ""
	}
	var theirs []string
	for _, e := range v.Lookup("supported").Elems() {
		theirs = append(theirs, e.Text())
	}
	for _, r := range protocol.SessionVersions() {
		if slices.Contains(theirs, r) {
			return r
		}
	}
	return ""
}
