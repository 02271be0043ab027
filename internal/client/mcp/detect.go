package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/conn"
	"mcptest/internal/client/protocol"
	"mcptest/internal/client/wire"
)

// negotiate opens the server as the options require.
func (n *negotiator) negotiate(ctx context.Context) (protocol.Version, string, error) {
	d := protocol.VersionOf(n.o.Protocol)
	switch {
	case d.Stateless:
		return n.openPinned(ctx, d)
	case n.o.Protocol != Auto || n.o.Era == protocol.EraSession:
		return n.handshake(ctx)
	case n.o.Era == protocol.EraStateless:
		return n.openPinned(ctx, protocol.Newest(protocol.EraStateless))
	}
	return n.detect(ctx)
}

// detect determines the era of the server and opens it (MCP 2026-07-28 versioning).
// The era is that of requests only if the response to server/discover lists a
// supported revision; otherwise it is that of sessions. The connection is only used
// if the response arrived before initialize was sent: a server that got both requests
// may have selected either era.
func (n *negotiator) detect(ctx context.Context) (protocol.Version, string, error) {
	if n.conn.Facts().Kind == wire.HTTPSSE {
		return n.handshake(ctx)
	}
	pctx, giveUp := context.WithCancel(ctx)
	defer giveUp()
	probe := make(chan *Exchange, 2)
	asked, sent := time.Now(), make(chan struct{})
	handed := sync.OnceFunc(func() { close(sent) })
	ask := func() {
		n.conn.Go(func() {
			defer handed()
			probe <- n.send.sendOnce(pctx, Call{Method: protocol.MethodDiscover}, conn.Delivery{Version: protocol.Newest(protocol.EraStateless), Handed: handed})
		})
	}
	ask()
	if n.isStdio() {
		<-sent // initialize must be sent after it
	}
	x, other := n.awaitProbe(ctx, probe, ask)
	switch {
	case other != nil:
		return failDetection("initialize", &freshError{era: protocol.EraSession, silent: true, guest: other, why: &silentProbeError{time.Since(asked)}})
	case x != nil:
		return n.useProbe(ctx, x)
	}
	return n.askBoth(ctx, probe, asked)
}

// useProbe continues after a response to the probe.
func (n *negotiator) useProbe(ctx context.Context, x *Exchange) (protocol.Version, string, error) {
	if broken, ok := errors.AsType[*brokenByGuestError](x.Cause); ok {
		return failDetection("initialize", &freshError{era: protocol.EraUnknown, alone: true, why: broken})
	}
	n.acceptHello(x)
	d, err := n.readVersion(x)
	var refused *unsupportedError
	if errors.As(err, &refused) && refused.pick.Known() {
		x = n.discover(ctx, refused.pick)
		n.acceptHello(x)
		d, err = n.readVersion(x)
	}
	if err == nil {
		n.adoptDiscover()
		return d, "", nil
	}
	connect, ok := errors.AsType[*wire.ConnectError](x.Cause)
	switch {
	case ctx.Err() != nil:
		return failDetection(protocol.MethodDiscover, n.explainUndetected(err, ""))
	case ok && connect.Info == nil:
		return failDetection("connect", x.Cause)
	case errors.As(err, &refused) && refused.final:
		return failDetection("protocol", err)
	case errors.As(x.Cause, new(*wire.ClosedError)):
		return failDetection("initialize", n.needsRedial(x.Cause))
	case x.Result != nil && errors.Is(err, errLegacyOnly) && n.isStdio():
		return failDetection("initialize", n.needsRedial(err))
	}
	n.dropProbeViolations()
	return n.handshakeAfterProbe(ctx, x, err)
}

// handshakeAfterProbe opens a session after a probe that shows no era of requests. refusal says
// why; it is part of the error if the handshake fails, too.
func (n *negotiator) handshakeAfterProbe(
	ctx context.Context, x *Exchange, refusal error,
) (protocol.Version, string, error) {
	d, phase, err := n.handshake(ctx)
	if err == nil {
		return d, phase, nil
	}
	note := ""
	if x.Cause == nil {
		note = "; before that, the response to server/discover was: " + refusal.Error()
	}
	if ctx.Err() == nil && phase == "initialize" {
		switch {
		case n.o.Redial != nil && listsRequests(findRPCError(err)):
			return failDetection(phase, &freshError{era: protocol.EraStateless, why: err})
		case errors.As(refusal, new(*noCommonError)):
			return failDetection("protocol", fmt.Errorf("%w; and %w", refusal, err))
		case n.o.Redial != nil && n.isStdio():
			return failDetection(phase, &freshError{era: protocol.EraSession, why: err, note: note})
		}
	}
	if note != "" {
		err = fmt.Errorf("%w%s", err, note)
	}
	return d, phase, err
}

// needsRedial requests another connection, opened with initialize, if one can be made.
func (n *negotiator) needsRedial(why error) error {
	if n.o.Redial == nil || !n.isStdio() {
		return why
	}
	return &freshError{era: protocol.EraSession, why: why}
}

// dropProbeViolations drops the violations that are a valid rejection of the probe:
// an error without the id of the request, unless its code shows that the server has
// read the method. A response to an id that was never sent counts as that to the
// probe only if there is no other.
func (n *negotiator) dropProbeViolations() {
	probe := cmp.Or(n.hello, &Exchange{})
	rpc := cmp.Or(probe.RPCError(), findRPCError(probe.Cause))
	unread := probe.Response == nil
	if rpc != nil {
		unread = rpc.Code != protocol.CodeMethodNotFound && rpc.Code != protocol.CodeInvalidParams && rpc.Code != protocol.CodeInternal
	}
	n.conn.DropViolations(func(v protocol.Violation) bool {
		switch v.Kind {
		case protocol.NullID, protocol.MissingID:
			return unread
		case protocol.UnknownID:
			return probe.Response == nil
		}
		return false
	})
}

// adoptDiscover uses the response to server/discover as the handshake.
func (n *negotiator) adoptDiscover() {
	v, _ := n.readHandshakeResult()
	n.server = v
	n.examineHandshake(true)
	// In this era, serverInfo is in _meta. It is copied to its position in the result
	// of initialize, so that a suite can test servers of both eras.
	who := v.Lookup("_meta", protocol.MetaServer)
	if v.Kind() == jsonv.KindObject && v.Lookup("serverInfo").IsAbsent() && !who.IsAbsent() {
		n.server = v.With("serverInfo", who)
	}
}

var errLegacyOnly = errors.New("server/discover lists only versions that begin with initialize")

// noCommonError reports a response that lists no supported revision.
type noCommonError struct{ list string }

func (e *noCommonError) Error() string {
	return "server/discover lists the protocol versions " + e.list + ", none of which is supported (known: " + strings.Join(protocol.Versions(), ", ") + ")"
}

// unsupportedError reports an error response that only servers of the era of requests
// send.
type unsupportedError struct {
	rpc   *protocol.RPCError
	pick  protocol.Version // a revision that both support
	final bool             // there is no common revision, and the server has no sessions
	list  string           // the server's list of revisions
}

func (e *unsupportedError) Error() string {
	if e.final {
		return "the server supports none of the known protocol versions (" + strings.Join(protocol.Versions(), ", ") + "; it lists " + e.list + "): " + e.rpc.Error()
	}
	return "the server refused server/discover: " + e.rpc.Error()
}

// readVersion parses the response to server/discover.
func (n *negotiator) readVersion(x *Exchange) (protocol.Version, error) {
	switch {
	case x.Cause != nil:
		if rpc := findRPCError(x.Cause); rpc != nil {
			if e := newRefusal(rpc); errors.As(e, new(*unsupportedError)) {
				return protocol.Version{}, e
			}
		}
		return protocol.Version{}, x.Cause
	case x.Error != nil:
		return protocol.Version{}, newRefusal(x.RPCError())
	}
	v, err := jsonv.Parse(x.Result)
	if err != nil {
		return protocol.Version{}, err
	}
	list := v.Lookup("supportedVersions")
	if list.Kind() != jsonv.KindArray {
		return protocol.Version{}, errors.New("the response to server/discover has no supportedVersions list")
	}
	if d := protocol.NewestCommon(list, protocol.EraStateless); d.Known() {
		return d, nil
	}
	if !protocol.NewestCommon(list, protocol.EraSession).Known() {
		return protocol.Version{}, &noCommonError{protocol.Excerpt(list.Append(nil))}
	}
	return protocol.Version{}, errLegacyOnly
}

// newRefusal converts an error response: an error of the era of requests is an
// *unsupportedError.
func newRefusal(rpc *protocol.RPCError) error {
	v, err := jsonv.Parse(rpc.Data)
	if rpc.Code != protocol.CodeUnsupportedVersion || err != nil || v.Lookup("supported").Kind() != jsonv.KindArray {
		return rpc
	}
	list := v.Lookup("supported")
	e := &unsupportedError{rpc: rpc, pick: protocol.NewestCommon(list, protocol.EraStateless), list: protocol.Excerpt(list.Append(nil))}
	e.final = !e.pick.Known() && !protocol.NewestCommon(list, protocol.EraSession).Known()
	return e
}

// openPinned opens a server of the era of requests without detection.
func (n *negotiator) openPinned(ctx context.Context, d protocol.Version) (protocol.Version, string, error) {
	if n.conn.Facts().Kind == wire.HTTPSSE {
		return failDetection("protocol", fmt.Errorf("protocol version %s is not supported over HTTP+SSE: leave out the version or the transport", d.Name))
	}
	x := n.discover(ctx, d)
	n.acceptHello(x)
	got, err := n.readVersion(x)
	if refused, ok := errors.AsType[*unsupportedError](err); ok && refused.pick == d { // some servers reject the first request to see whether it is repeated
		x = n.discover(ctx, d)
		n.acceptHello(x)
		got, err = n.readVersion(x)
	}
	switch {
	case x.Cause != nil && !deniesRequest(x.Cause):
		return failDetection(protocol.MethodDiscover, x.Cause)
	case err != nil:
		return failDetection("protocol", n.retryVersion(ctx, d, x, err))
	case got != d:
		return failDetection("protocol", n.retryVersion(ctx, d, x, errors.New("it is not in the response to server/discover")))
	}
	n.adoptDiscover()
	return d, "", nil
}
