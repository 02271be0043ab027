package mcp

import (
	"context"
	"errors"
	"fmt"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/conn"
	"mcptest/internal/client/protocol"
	"mcptest/internal/client/wire"
)

// Limits of the wait for the response to server/discover. They do not decide the era,
// only when initialize is sent too, and how long after its response the one to
// server/discover may arrive.
const (
	// probeStart applies before the first output of a process, and to HTTP; it is at
	// most half of the connect timeout.
	probeStart = 10 * time.Second
	// probeOutput starts with the first output of a process.
	probeOutput = 2 * time.Second
	// probeGrace and probeGraceHTTP start with the response to initialize.
	probeGrace     = time.Second
	probeGraceHTTP = 3 * time.Second
	// probeLogin is the interval at which a login in progress is checked.
	probeLogin = 100 * time.Millisecond
)

// freshError reports the era of a server for which this connection cannot be used.
type freshError struct {
	era    protocol.Era
	silent bool     // no response to server/discover
	guest  *Session // open, and to be used; may be nil
	why    error
	note   string // appended to the error of the other connection
}

func (e *freshError) Error() string { return "a fresh connection is needed (" + e.why.Error() + ")" }
func (e *freshError) Unwrap() error { return e.why }

// silentProbeError reports that the server only responded to initialize.
type silentProbeError struct{ waited time.Duration }

func (e *silentProbeError) Error() string {
	return "the server responded to initialize, but not to server/discover within " + wire.Duration(e.waited)
}

// awaitProbe waits for the response to the probe. It returns nil when initialize must
// be sent too, and the session of the guest if that one has settled the era. Over HTTP, ask
// repeats the probe once the guest has a session: only the first response of a server may
// have been slow.
func (n *negotiator) awaitProbe(ctx context.Context, probe <-chan *Exchange, ask func()) (*Exchange, *Session) {
	if n.o.Redial == nil {
		return <-probe, nil
	}
	start, most := time.Now(), probeStart
	if until, ok := ctx.Deadline(); ok {
		most = min(most, time.Until(until)/2)
	}
	g := &guest{}
	defer g.dismiss(n.conn)
	for {
		wait := n.probePatience(start, most)
		switch {
		case g.session != nil:
			wait = time.Until(g.settled)
		case n.mayInvite(g):
			if wait = min(wait, time.Until(start.Add(silence))); wait <= 0 {
				g.invite(ctx, n)
				continue
			}
		}
		switch {
		case wait <= 0 && g.session != nil:
			return nil, g.take()
		case wait <= 0:
			return nil, nil
		}
		select {
		case x := <-probe:
			return x, nil
		case g.session = <-g.opened:
			g.opened = nil // its failure is no evidence
			g.settled = time.Now().Add(max(silence, time.Since(g.invited)))
			if g.session != nil && !n.isStdio() {
				ask()
			}
		case <-time.After(wait):
		}
	}
}

// probePatience returns how long to wait before the next check, or 0 after the limit.
func (n *negotiator) probePatience(start time.Time, most time.Duration) time.Duration {
	if n.http != nil {
		switch heard, busy := n.http.LastHeard(); {
		case busy:
			return probeLogin
		case heard.After(start):
			start = heard
		case n.o.Hint == protocol.EraSession:
			return 0
		}
		return most - time.Since(start)
	}
	if n.o.Hint == protocol.EraSession {
		return 0
	}
	left := most - time.Since(start)
	switch first := n.firstOutput(); {
	case n.o.Hint == protocol.EraStateless:
		return left
	case first.IsZero():
		return min(left, probeOutput) // the first output may arrive soon
	default:
		return min(most, probeOutput) - time.Since(first)
	}
}

// firstOutput returns the time of the first output of a process, or zero.
func (n *negotiator) firstOutput() time.Time {
	first := n.conn.Output().First
	if tail := n.conn.Facts().Stderr; tail != nil {
		if at := tail.First(); first.IsZero() || !at.IsZero() && at.Before(first) {
			return at
		}
	}
	return first
}

// askBoth sends initialize while there is no response to server/discover, to find out
// whether the server is up. It always ends the connection.
func (n *negotiator) askBoth(ctx context.Context, probe <-chan *Exchange, asked time.Time) (protocol.Version, string, error) {
	hello := make(chan *Exchange, 1)
	n.conn.Go(func() {
		hello <- n.send.sendOnce(ctx, Call{Method: "initialize", Params: n.send.who.initializeParams(protocol.Newest(protocol.EraSession).Name)}, conn.Delivery{})
	})
	var enough <-chan time.Time
	grace := probeGrace
	if !n.isStdio() {
		grace = probeGraceHTTP
	}
	initialize := "initialize was sent, too, and got no response"
	for {
		select {
		case x := <-probe:
			return n.probedLate(ctx, x, initialize)
		case x := <-hello:
			err := x.Cause
			if rpc := x.RPCError(); rpc != nil {
				err = rpc
			}
			rpc := rpcIn(err)
			if listsRequests(rpc) {
				return detectionFailed("initialize", &freshError{era: protocol.EraStateless, why: err})
			}
			if err == nil {
				initialize = "initialize was sent, too, and got a response"
			} else if ctx.Err() == nil {
				initialize = "initialize was sent, too, and refused: " + err.Error()
			}
			if rpc == nil || rpc.Code != protocol.CodeUnsupportedVersion && rpc.Code != protocol.CodeHeaderMismatch || commonRevision(rpc.Data) != "" {
				t := time.NewTimer(grace)
				defer t.Stop()
				enough = t.C
			}
		case <-enough:
			return detectionFailed("initialize", &freshError{era: protocol.EraSession, silent: true, why: &silentProbeError{time.Since(asked)}})
		}
	}
}

// probedLate handles a response to the probe that arrived after initialize was sent.
func (n *negotiator) probedLate(ctx context.Context, x *Exchange, initialize string) (protocol.Version, string, error) {
	n.received(x)
	_, err := n.versionIn(x)
	var refused *unsupportedError
	switch connect, ok := errors.AsType[*wire.ConnectError](err); {
	case ctx.Err() != nil:
		return detectionFailed(protocol.MethodDiscover, n.undetected(err, initialize))
	case err == nil:
		return detectionFailed("initialize", &freshError{era: protocol.EraStateless, why: errors.New("the response to server/discover came after initialize had been sent")})
	case errors.As(err, &refused) && refused.final:
		return detectionFailed("protocol", err)
	case errors.As(err, &refused) && refused.pick.Known():
		return detectionFailed("initialize", &freshError{era: protocol.EraStateless, why: err})
	case ok && connect.Info == nil:
		return detectionFailed("connect", err)
	}
	return detectionFailed("initialize", &freshError{era: protocol.EraSession, why: err})
}

// undetected adds the requests that were sent to the error of a server that did not
// respond in time.
func (n *negotiator) undetected(err error, initialize string) error {
	if !errors.As(err, new(*TimeoutError)) {
		return err
	}
	if initialize != "" {
		err = fmt.Errorf("%w; %s", err, initialize)
	}
	if n.isStdio() && n.firstOutput().IsZero() {
		err = fmt.Errorf("%w; the server wrote nothing at all", err)
	}
	return fmt.Errorf("%w; protocol: pins the version, so that only one of the two is sent, and mcptest doctor examines the server", err)
}

// rpcIn returns the JSON-RPC error in an error, or in the body of an HTTP error.
func rpcIn(err error) *protocol.RPCError {
	var rpc *protocol.RPCError
	var he *wire.HTTPError
	switch {
	case errors.As(err, &rpc):
		return rpc
	case errors.As(err, &he):
		return he.RPC
	}
	return nil
}

// listsRequests reports whether an error response to initialize lists a supported
// revision of the era of requests.
func listsRequests(rpc *protocol.RPCError) bool {
	if rpc == nil || rpc.Code != protocol.CodeUnsupportedVersion {
		return false
	}
	v, err := jsonv.Parse(rpc.Data)
	return err == nil && protocol.NewestCommon(v.Lookup("supported"), protocol.EraStateless).Known()
}
