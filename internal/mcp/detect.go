package mcp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"mcptest/internal/jsonv"
	"mcptest/internal/mcp/conn"
	"mcptest/internal/mcp/protocol"
	"mcptest/internal/mcp/wire"
)

// begins opens the server in the way that is asked for.
func (n *negotiator) begins(ctx context.Context) (protocol.Version, string, error) {
	switch d := protocol.VersionOf(n.o.Protocol); {
	case d.Stateless:
		return n.pinned(ctx, d)
	case n.o.Protocol != Auto || n.o.Era == protocol.EraSession:
		return n.handshake(ctx)
	case n.o.Era == protocol.EraStateless:
		return n.pinned(ctx, protocol.Newest(protocol.EraStateless))
	}
	return n.detect(ctx)
}

// detect finds out which era the server is of and opens it (MCP 2026-07-28
// versioning). It is that of requests only if server/discover is answered with
// a list of revisions that has one we speak; otherwise it is that of sessions.
// The connection is used only if the answer came before initialize was sent:
// a server that was asked both may have settled on either era.
func (n *negotiator) detect(ctx context.Context) (protocol.Version, string, error) {
	if n.conn.Facts().Kind == wire.HTTPSSE {
		return n.handshake(ctx)
	}
	pctx, giveUp := context.WithCancel(ctx)
	defer giveUp()
	probe := make(chan *Exchange, 1)
	asked, sent := time.Now(), make(chan struct{})
	handed := sync.OnceFunc(func() { close(sent) })
	n.conn.Go(func() {
		defer handed()
		probe <- n.send.once(pctx, Call{Method: protocol.MethodDiscover}, conn.Delivery{Version: protocol.Newest(protocol.EraStateless), Handed: handed})
	})
	if n.isStdio() {
		<-sent // initialize must not come before it
	}
	if x := n.awaitProbe(ctx, probe); x != nil {
		return n.probed(ctx, x)
	}
	return n.askBoth(ctx, probe, asked)
}

// probed goes on after an answer to the probe.
func (n *negotiator) probed(ctx context.Context, x *Exchange) (protocol.Version, string, error) {
	d, err := n.versionIn(x)
	var refused *unsupportedError
	if errors.As(err, &refused) && refused.pick.Known() {
		x = n.discover(ctx, refused.pick)
		d, err = n.versionIn(x)
	}
	if err == nil {
		n.adoptDiscover(x)
		return d, "", nil
	}
	var connect *wire.ConnectError
	switch {
	case ctx.Err() != nil:
		return failed(protocol.MethodDiscover, n.undetected(err, ""))
	case errors.As(x.Cause, &connect) && connect.Info == nil:
		return failed("connect", x.Cause)
	case errors.As(err, &refused) && refused.final:
		return failed("protocol", err)
	case errors.As(x.Cause, new(*wire.ClosedError)):
		return failed("initialize", n.fresh(x.Cause))
	case x.Result != nil && errors.Is(err, errLegacyOnly) && n.isStdio():
		return failed("initialize", n.fresh(err))
	}
	n.forgive(x)
	probe := err
	d, phase, err := n.handshake(ctx)
	note := ""
	if err != nil && x.Cause == nil {
		note = "; before that, server/discover was answered with: " + probe.Error()
	}
	if err != nil && ctx.Err() == nil && phase == "initialize" {
		if listsRequests(rpcIn(err)) && n.o.Redial != nil {
			return failed(phase, &freshError{era: protocol.EraStateless, why: err})
		}
		if errors.As(probe, new(*noCommonError)) {
			return failed("protocol", fmt.Errorf("%w; and %w", probe, err))
		}
		if n.o.Redial != nil && n.isStdio() {
			return failed(phase, &freshError{era: protocol.EraSession, why: err, note: note})
		}
	}
	if note != "" {
		err = fmt.Errorf("%w%s", err, note)
	}
	return d, phase, err
}

// failed is the result of a detection that failed in a phase.
func failed(phase string, err error) (protocol.Version, string, error) {
	return protocol.Version{}, phase, err
}

// fresh asks for another connection, by initialize, where there can be one.
func (n *negotiator) fresh(why error) error {
	if n.o.Redial == nil || !n.isStdio() {
		return why
	}
	return &freshError{era: protocol.EraSession, why: why}
}

// isStdio reports whether the era is that of a process.
func (n *negotiator) isStdio() bool {
	return n.http == nil
}

// forgive drops what an answer to the probe did wrong: a server that does not
// know the request owes it nothing. An answer to an id that was never sent is
// taken for the probe's only when the probe got no other.
func (n *negotiator) forgive(probe *Exchange) {
	n.conn.DropViolations(func(v protocol.Violation) bool {
		switch v.Kind {
		case protocol.NullID, protocol.MissingID, protocol.IDType, protocol.BadError:
			return true
		case protocol.UnknownID:
			return probe.Response == nil
		}
		return false
	})
}

// adoptDiscover takes the answer to server/discover as the handshake.
func (n *negotiator) adoptDiscover(x *Exchange) {
	v, _ := handshakeResult(x, n.o.tolerated)
	n.hello, n.server = x, v
	n.require("server/discover", jsonv.KindObject, "capabilities")
	// The serverInfo is in the _meta here. It is copied to where the answer to
	// initialize has it, so that one suite can test servers of both eras.
	if who := v.Lookup("_meta", protocol.MetaServer); v.Kind() == jsonv.KindObject && v.Lookup("serverInfo").IsAbsent() && !who.IsAbsent() {
		n.server = v.With("serverInfo", who)
	}
}

// discover sends server/discover as a revision has it.
func (n *negotiator) discover(ctx context.Context, d protocol.Version) *Exchange {
	return n.send.once(ctx, Call{Method: protocol.MethodDiscover}, conn.Delivery{Version: d})
}

var errLegacyOnly = errors.New("server/discover lists only revisions that begin with initialize")

// noCommonError is an answer that lists no revision that is spoken here.
type noCommonError struct{ list string }

func (e *noCommonError) Error() string {
	return "server/discover lists the protocol revisions " + e.list + ", none of which is spoken here (known: " + strings.Join(protocol.Versions(), ", ") + ")"
}

// unsupportedError is an answer that only a server of the era of requests gives.
type unsupportedError struct {
	rpc   *protocol.RPCError
	pick  protocol.Version // a revision both speak
	final bool             // there is none, and no session either
	list  string           // what the server supports, as it says
}

func (e *unsupportedError) Error() string {
	if e.final {
		return "the server speaks no protocol revision that is spoken here (known: " + strings.Join(protocol.Versions(), ", ") + "; it lists " + e.list + "): " + e.rpc.Error()
	}
	return "the server refused server/discover: " + e.rpc.Error()
}

// versionIn reads the answer to server/discover.
func (n *negotiator) versionIn(x *Exchange) (protocol.Version, error) {
	switch {
	case x.Cause != nil:
		if rpc := rpcIn(x.Cause); rpc != nil {
			if e := refusal(rpc); errors.As(e, new(*unsupportedError)) {
				return protocol.Version{}, e
			}
		}
		return protocol.Version{}, x.Cause
	case x.Error != nil:
		return protocol.Version{}, refusal(x.RPCError())
	}
	v, err := jsonv.Parse(x.Result)
	if err != nil {
		return protocol.Version{}, err
	}
	list := v.Lookup("supportedVersions")
	if list.Kind() != jsonv.KindArray {
		return protocol.Version{}, errors.New("the answer to server/discover has no list supportedVersions")
	}
	if d := protocol.NewestCommon(list, protocol.EraStateless); d.Known() {
		return d, nil
	}
	if !protocol.NewestCommon(list, protocol.EraSession).Known() {
		return protocol.Version{}, &noCommonError{protocol.Excerpt(list.Append(nil))}
	}
	return protocol.Version{}, errLegacyOnly
}

// refusal tells an error of the era of requests from any other.
func refusal(rpc *protocol.RPCError) error {
	v, err := jsonv.Parse(rpc.Data)
	if rpc.Code != protocol.CodeUnsupportedVersion || err != nil || v.Lookup("supported").Kind() != jsonv.KindArray {
		return rpc
	}
	list := v.Lookup("supported")
	e := &unsupportedError{rpc: rpc, pick: protocol.NewestCommon(list, protocol.EraStateless), list: protocol.Excerpt(list.Append(nil))}
	e.final = !e.pick.Known() && !protocol.NewestCommon(list, protocol.EraSession).Known()
	return e
}

// pinned opens a server of the era of requests without asking which it is of.
func (n *negotiator) pinned(ctx context.Context, d protocol.Version) (protocol.Version, string, error) {
	if n.conn.Facts().Kind == wire.HTTPSSE {
		return failed("protocol", fmt.Errorf("protocol revision %s is not spoken over HTTP+SSE: leave out the revision or the transport", d.Name))
	}
	x := n.discover(ctx, d)
	got, err := n.versionIn(x)
	var refused *unsupportedError
	if errors.As(err, &refused) && refused.pick == d { // some refuse the first request to see whether it is repeated
		x = n.discover(ctx, d)
		got, err = n.versionIn(x)
	}
	n.hello = x
	switch {
	case x.Cause != nil && !deniesRequest(x.Cause):
		return failed(protocol.MethodDiscover, x.Cause)
	case err != nil:
		return failed("protocol", n.unsupportedVersion(ctx, d, x, err))
	case got != d:
		return failed("protocol", n.unsupportedVersion(ctx, d, x, errors.New("it is not in the answer to server/discover")))
	}
	n.adoptDiscover(x)
	return d, "", nil
}
