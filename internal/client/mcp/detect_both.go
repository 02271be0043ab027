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

// Limits of the wait for the response to server/discover after the one to initialize, in
// time that a stopwatch counts.
const (
	probeGrace     = time.Second
	probeGraceHTTP = 3 * time.Second
)

// freshError reports the era of a server for which this connection cannot be used.
type freshError struct {
	era    protocol.Era
	silent bool     // no response to server/discover
	alone  bool     // the first process may have ended because of a second one
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

// askBoth sends initialize while there is no response to server/discover, to find out
// whether the server is up. It always ends the connection.
func (n *negotiator) askBoth(ctx context.Context, probe <-chan *Exchange, asked time.Time) (protocol.Version, string, error) {
	hello := make(chan *Exchange, 1)
	n.conn.Go(func() {
		hello <- n.send.sendOnce(ctx, Call{
			Method: "initialize",
			Params: n.send.who.initializeParams(protocol.Newest(protocol.EraSession).Name),
		}, conn.Delivery{})
	})
	n.o.detection = "server/discover had no response for a while, so initialize was sent over the same connection, which was then replaced"
	ticks := time.NewTicker(tick)
	defer ticks.Stop()
	watch, responded := startStopwatch(time.Now()), false
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
			rpc := findRPCError(err)
			if listsRequests(rpc) {
				return failDetection("initialize", &freshError{era: protocol.EraStateless, why: err})
			}
			if err == nil {
				initialize = "initialize was sent, too, and got a response"
			} else if ctx.Err() == nil {
				initialize = "initialize was sent, too, and refused: " + err.Error()
			}
			if rpc == nil || rpc.Code != protocol.CodeUnsupportedVersion && rpc.Code != protocol.CodeHeaderMismatch || findCommonRevision(rpc.Data) != "" {
				responded = true
			}
		case now := <-ticks.C:
			watch.wake(now, responded)
			if watch.counted < grace {
				continue
			}
			return failDetection("initialize", &freshError{era: protocol.EraSession, silent: true, why: &silentProbeError{time.Since(asked)}})
		}
	}
}

// probedLate handles a response to the probe that arrived after initialize was sent.
func (n *negotiator) probedLate(ctx context.Context, x *Exchange, initialize string) (protocol.Version, string, error) {
	n.acceptHello(x)
	_, err := n.readVersion(x)
	var refused *unsupportedError
	connect, ok := errors.AsType[*wire.ConnectError](err)
	switch {
	case ctx.Err() != nil:
		return failDetection(protocol.MethodDiscover, n.explainUndetected(err, initialize))
	case err == nil:
		return failDetection("initialize", &freshError{era: protocol.EraStateless, why: errors.New("the response to server/discover came after initialize had been sent")})
	case errors.As(err, &refused) && refused.final:
		return failDetection("protocol", err)
	case errors.As(err, &refused) && refused.pick.Known():
		return failDetection("initialize", &freshError{era: protocol.EraStateless, why: err})
	case ok && connect.Info == nil:
		return failDetection("connect", err)
	}
	return failDetection("initialize", &freshError{era: protocol.EraSession, why: err})
}

// explainUndetected adds the requests that were sent to the error of a server that did not
// respond in time.
func (n *negotiator) explainUndetected(err error, initialize string) error {
	if !errors.As(err, new(*TimeoutError)) {
		return err
	}
	if initialize != "" {
		err = fmt.Errorf("%w; %s", err, initialize)
	}
	if n.isStdio() && n.findFirstOutput().IsZero() {
		err = fmt.Errorf("%w; the server wrote nothing at all", err)
	}
	return fmt.Errorf("%w; protocol: pins the version, so that only one of the two is sent, and mcptest doctor examines the server", err)
}

// findRPCError returns the JSON-RPC error in an error, or in the body of an HTTP error.
func findRPCError(err error) *protocol.RPCError {
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
