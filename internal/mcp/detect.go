package mcp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"mcptest/internal/jsonv"
)

// Era is one of the two ways in which servers work.
type Era uint8

// Eras.
const (
	EraUnknown  Era = iota
	EraSession      // a session that begins with initialize (up to 2025-11-25)
	EraRequests     // no session, each request stands for itself (from 2026-07-28)
)

// String returns "unknown", "session" or "requests".
func (e Era) String() string { return [...]string{"unknown", "session", "requests"}[e] }

// Era returns in which way the server works.
func (s *Session) Era() Era {
	switch d := s.dialect.Load(); {
	case d == nil:
		return EraUnknown
	case d.Stateless:
		return EraRequests
	}
	return EraSession
}

// Codes of MCP 2026-07-28.
const (
	CodeHeaderMismatch     = -32020
	CodeMissingCapability  = -32021
	CodeUnsupportedVersion = -32022
)

// detect finds out which era the server is of and opens it (MCP 2026-07-28
// versioning). It is that of requests only if server/discover is answered with
// a list of revisions that has one we speak; otherwise it is that of sessions.
// The connection is used only if the answer came before initialize was sent:
// a server that was asked both may have settled on either era.
func (s *Session) detect(ctx context.Context) (*Dialect, string, error) {
	if h, ok := s.t.(*httpTransport); ok && h.o.Kind == HTTPSSE {
		return s.handshake(ctx)
	}
	pctx, giveUp := context.WithCancel(ctx)
	defer giveUp()
	probe := make(chan *Exchange, 1)
	asked, sent := time.Now(), make(chan struct{})
	handed := sync.OnceFunc(func() { close(sent) })
	s.wg.Go(func() {
		defer handed()
		probe <- s.once(pctx, Call{Method: MethodDiscover, as: newestOf(EraRequests), handed: handed})
	})
	if s.isStdio() {
		<-sent // initialize must not come before it
	}
	if x := s.awaitProbe(ctx, probe); x != nil {
		return s.probed(ctx, x)
	}
	return s.askBoth(ctx, probe, asked)
}

// probed goes on after an answer to the probe.
func (s *Session) probed(ctx context.Context, x *Exchange) (*Dialect, string, error) {
	d, err := s.modernOf(x)
	var refused *unsupportedError
	if errors.As(err, &refused) && refused.pick != nil {
		x = s.discover(ctx, refused.pick)
		d, err = s.modernOf(x)
	}
	if err == nil {
		s.helloOf(x)
		return d, "", nil
	}
	var connect *ConnectError
	switch {
	case ctx.Err() != nil:
		return nil, MethodDiscover, undetected(s, err, "")
	case errors.As(x.Cause, &connect) && connect.Info == nil:
		return nil, "connect", x.Cause
	case errors.As(err, &refused) && refused.final:
		return nil, "protocol", err
	case errors.As(x.Cause, new(*ClosedError)):
		return nil, "initialize", s.fresh(x.Cause)
	case x.Result != nil && errors.Is(err, errLegacyOnly) && s.isStdio():
		return nil, "initialize", s.fresh(err)
	}
	s.forgive(x)
	probe := err
	d, phase, err := s.handshake(ctx)
	note := ""
	if err != nil && x.Cause == nil {
		note = "; before that, server/discover was answered with: " + probe.Error()
	}
	if err != nil && ctx.Err() == nil && phase == "initialize" {
		if listsRequests(rpcIn(err)) && s.o.Redial != nil {
			return nil, phase, &freshError{era: EraRequests, why: err}
		}
		if errors.As(probe, new(*noCommonError)) {
			return nil, "protocol", fmt.Errorf("%w; and %w", probe, err)
		}
		if s.o.Redial != nil && s.isStdio() {
			return nil, phase, &freshError{era: EraSession, why: err, note: note}
		}
	}
	if note != "" {
		err = fmt.Errorf("%w%s", err, note)
	}
	return d, phase, err
}

// fresh asks for another connection, by initialize, where there can be one.
func (s *Session) fresh(why error) error {
	if s.o.Redial == nil || !s.isStdio() {
		return why
	}
	return &freshError{era: EraSession, why: why}
}

// isStdio reports whether the era is that of a process.
func (s *Session) isStdio() bool {
	_, ok := s.t.(*httpTransport)
	return !ok
}

// forgive drops what an answer to the probe did wrong: a server that does not
// know the question owes it nothing. An answer to an id that nobody sent is
// taken for the probe's only when the probe got no other.
func (s *Session) forgive(probe *Exchange) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log.kept = slices.DeleteFunc(s.log.kept, func(v Violation) bool {
		switch v.Kind {
		case NullID, MissingID, IDType, BadError:
			return true
		case UnknownID:
			return probe.Response == nil
		}
		return false
	})
}

// helloOf takes the answer to server/discover as the handshake.
func (s *Session) helloOf(x *Exchange) {
	v, _ := handshakeResult(x, s.tolerated)
	s.hello, s.server = x, v
	s.checkDiscover(v)
	// Who the server is stands in the _meta here. It is to be found where the
	// answer to initialize has it, so that one suite can ask servers of both eras.
	if who := v.Lookup("_meta", MetaServer); v.Kind() == jsonv.KindObject && v.Lookup("serverInfo").IsAbsent() && !who.IsAbsent() {
		s.server = v.With("serverInfo", who)
	}
}

// discover sends server/discover as a revision has it.
func (s *Session) discover(ctx context.Context, d *Dialect) *Exchange {
	return s.once(ctx, Call{Method: MethodDiscover, as: d})
}

// MethodDiscover asks a server which protocol versions it supports.
const MethodDiscover = "server/discover"

var errLegacyOnly = errors.New("server/discover lists only revisions that begin with initialize")

// noCommonError is an answer that lists no revision that is spoken here.
type noCommonError struct{ list string }

func (e *noCommonError) Error() string {
	return "server/discover lists the protocol revisions " + e.list + ", none of which is spoken here (known: " + strings.Join(Revisions(), ", ") + ")"
}

// unsupportedError is an answer that only a server of the era of requests gives.
type unsupportedError struct {
	rpc   *RPCError
	pick  *Dialect // a revision both speak
	final bool     // there is none, and no session either
	list  string   // what the server supports, as it says
}

func (e *unsupportedError) Error() string {
	if e.final {
		return "the server speaks no protocol revision that is spoken here (known: " + strings.Join(Revisions(), ", ") + "; it lists " + e.list + "): " + e.rpc.Error()
	}
	return "the server refused server/discover: " + e.rpc.Error()
}

// modernOf reads the answer to server/discover.
func (s *Session) modernOf(x *Exchange) (*Dialect, error) {
	switch {
	case x.Cause != nil:
		if rpc := rpcIn(x.Cause); rpc != nil {
			if e := refusal(rpc); errors.As(e, new(*unsupportedError)) {
				return nil, e
			}
		}
		return nil, x.Cause
	case x.Error != nil:
		return nil, refusal(x.RPCError())
	}
	v, err := jsonv.Parse(x.Result)
	if err != nil {
		return nil, err
	}
	list := v.Lookup("supportedVersions")
	if list.Kind() != jsonv.KindArray {
		return nil, errors.New("the answer to server/discover has no list supportedVersions")
	}
	if d := common(list, EraRequests); d != nil {
		return d, nil
	}
	if common(list, EraSession) == nil {
		return nil, &noCommonError{Excerpt(list.Append(nil))}
	}
	return nil, errLegacyOnly
}

// refusal tells an error of the era of requests from any other.
func refusal(rpc *RPCError) error {
	v, err := jsonv.Parse(rpc.Data)
	if rpc.Code != CodeUnsupportedVersion || err != nil || v.Lookup("supported").Kind() != jsonv.KindArray {
		return rpc
	}
	list := v.Lookup("supported")
	e := &unsupportedError{rpc: rpc, pick: common(list, EraRequests), list: Excerpt(list.Append(nil))}
	e.final = e.pick == nil && common(list, EraSession) == nil
	return e
}

// common finds the newest revision of an era in a list.
func common(list jsonv.Value, era Era) *Dialect {
	for i := range dialects {
		if dialects[i].era() != era {
			continue
		}
		for _, e := range list.Elems() {
			if e.Text() == dialects[i].Revision {
				return &dialects[i]
			}
		}
	}
	return nil
}

// pinned opens a server of the era of requests without asking which it is of.
func (s *Session) pinned(ctx context.Context, d *Dialect) (*Dialect, string, error) {
	if h, ok := s.t.(*httpTransport); ok && h.o.Kind == HTTPSSE {
		return nil, "protocol", fmt.Errorf("protocol revision %s is not spoken over HTTP+SSE: leave out the revision or the transport", d.Revision)
	}
	x := s.discover(ctx, d)
	got, err := s.modernOf(x)
	var refused *unsupportedError
	if errors.As(err, &refused) && refused.pick == d { // some refuse the first request to see whether it is repeated
		x = s.discover(ctx, d)
		got, err = s.modernOf(x)
	}
	s.hello = x
	switch {
	case x.Cause != nil && !deniesRequest(x.Cause):
		return nil, MethodDiscover, x.Cause
	case err != nil:
		return nil, "protocol", s.unspoken(ctx, d, x, err)
	case got != d:
		return nil, "protocol", s.unspoken(ctx, d, x, errors.New("it is not in the answer to server/discover"))
	}
	s.helloOf(x)
	return d, "", nil
}

// checkDiscover notes members that an answer to server/discover must have.
func (s *Session) checkDiscover(v jsonv.Value) {
	for _, want := range []struct {
		key  string
		kind jsonv.Kind
	}{{"capabilities", jsonv.KindObject}} {
		if got := v.Lookup(want.key); got.Kind() != want.kind {
			s.hello.violate(Violation{
				Kind: BadResult, ID: s.hello.ID, At: time.Now(), Excerpt: Excerpt(s.hello.Result), Tolerated: s.tolerated(BadResult),
				Msg: fmt.Sprintf("%s of the server/discover result is %s, want %s", want.key, got.Kind(), want.kind),
			})
		}
	}
}
