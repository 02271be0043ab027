package mcp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
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

// probeSilence is how long a server may be silent on server/discover before
// initialize is sent, too.
const probeSilence = 2 * time.Second

// Codes of MCP 2026-07-28.
const (
	CodeHeaderMismatch     = -32020
	CodeMissingCapability  = -32021
	CodeUnsupportedVersion = -32022
)

// errFresh says that the era is that of sessions, and that this connection
// can't be used to begin one.
var errFresh = errors.New("a fresh connection is needed")

// detect finds out which era the server is of and opens it (MCP 2026-07-28
// versioning). It is that of requests only if server/discover is answered with
// a list of revisions that has one we speak; whatever else happens, initialize
// decides.
func (s *Session) detect(ctx context.Context) (*Dialect, string, error) {
	newest := newestOf(EraRequests)
	if h, ok := s.t.(*httpTransport); ok && h.o.Kind == HTTPSSE {
		return s.handshake(ctx)
	}
	pctx, giveUp := context.WithCancel(ctx)
	defer giveUp()
	probe := make(chan *Exchange, 1)
	s.wg.Go(func() { probe <- s.discover(pctx, newest) })
	silence := time.NewTimer(probeSilence)
	defer silence.Stop()
	select {
	case x := <-probe:
		return s.probed(ctx, x)
	case <-silence.C:
	}
	return s.race(ctx, probe)
}

// race sends initialize to a server that is silent on the probe, and takes
// whichever answer comes first.
func (s *Session) race(ctx context.Context, probe <-chan *Exchange) (*Dialect, string, error) {
	type opened struct {
		d     *Dialect
		phase string
		err   error
	}
	hctx, cancel := context.WithCancel(ctx)
	defer cancel()
	hello := make(chan opened, 1)
	s.wg.Go(func() {
		d, phase, err := s.handshake(hctx)
		hello <- opened{d, phase, err}
	})
	var stuck <-chan time.Time
	if until, ok := ctx.Deadline(); ok && s.o.Redial != nil {
		t := time.NewTimer(time.Until(until) / 2)
		defer t.Stop()
		stuck = t.C
	}
	for {
		select {
		case o := <-hello:
			if o.err != nil && ctx.Err() == nil {
				o.err = s.fresh(o.err)
			}
			return o.d, o.phase, o.err
		case x := <-probe:
			probe = nil
			if d, err := s.modernOf(x); err == nil {
				cancel()
				<-hello
				s.helloOf(x)
				return d, "", nil
			}
			s.forgive(x)
		case <-stuck:
			return nil, "initialize", errFresh
		}
	}
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
		return nil, "initialize", err
	case errors.As(x.Cause, &connect) && connect.Info == nil:
		return nil, "connect", x.Cause
	case errors.As(err, &refused) && refused.final:
		return nil, "protocol", err
	case errors.As(x.Cause, new(*ClosedError)):
		return nil, "initialize", s.fresh(x.Cause)
	case x.Result != nil && errors.Is(err, errLegacyOnly) && s.isStdio():
		return nil, "initialize", s.fresh(err)
	}
	var none *noCommonError
	errors.As(err, &none)
	s.forgive(x)
	d, phase, err := s.handshake(ctx)
	if err != nil && ctx.Err() == nil && phase == "initialize" {
		if none != nil {
			return nil, "protocol", fmt.Errorf("%w; and %w", none, err)
		}
		err = s.fresh(err)
	}
	return d, phase, err
}

// fresh turns an error into errFresh where there can be another connection.
func (s *Session) fresh(err error) error {
	if s.o.Redial == nil || !s.isStdio() {
		return err
	}
	return fmt.Errorf("%w (%w)", errFresh, err)
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
	v, _ := jsonv.Parse(x.Result)
	s.hello, s.server = x, v
	s.checkDiscover(v)
	// Who the server is stands in the _meta here. It is to be found where the
	// answer to initialize has it, so that one suite can ask servers of both eras.
	if who := v.Lookup("_meta", metaServer); v.Kind() == jsonv.KindObject && v.Lookup("serverInfo").IsAbsent() && !who.IsAbsent() {
		s.server = v.With("serverInfo", who)
	}
}

// discover sends server/discover as a revision has it.
func (s *Session) discover(ctx context.Context, d *Dialect) *Exchange {
	return s.once(ctx, Call{Method: methodDiscover, as: d})
}

const methodDiscover = "server/discover"

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
		return nil, methodDiscover, x.Cause
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
