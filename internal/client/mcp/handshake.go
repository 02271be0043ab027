package mcp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lists"
	"mcptest/internal/client/conn"
	"mcptest/internal/client/handshake"
	"mcptest/internal/client/protocol"
	"mcptest/internal/client/wire"
)

// negotiator determines the protocol version of a connection and performs the
// handshake.
type negotiator struct {
	conn *conn.Conn
	send *sender
	http *wire.HTTP // nil for a stream
	o    *Options

	hello  *Exchange   // the latest exchange, at last the handshake; see received
	server jsonv.Value // its result
}

// acceptHello makes x the handshake. The violations of the earlier exchanges are added to
// it: they have no other place.
func (n *negotiator) acceptHello(x *Exchange) {
	if n.hello != nil {
		x.Violations = slices.Concat(n.hello.Violations, x.Violations)
	}
	n.hello = x
}

// failDetection returns the result of a detection that failed in a phase.
func failDetection(phase string, err error) (protocol.Version, string, error) {
	return protocol.Version{}, phase, err
}

// isStdio reports whether the server is a process.
func (n *negotiator) isStdio() bool { return n.http == nil }

// discover sends server/discover in the format of a revision.
func (n *negotiator) discover(ctx context.Context, d protocol.Version) *Exchange {
	return n.send.sendOnce(ctx, Call{Method: protocol.MethodDiscover}, conn.Delivery{Version: d})
}

// handshake sends initialize and negotiates the revision (MCP 2025-11-25 lifecycle).
// With "auto", it retries once if the server rejects the newest revision and lists
// the supported ones.
func (n *negotiator) handshake(ctx context.Context) (protocol.Version, string, error) {
	want := n.o.Protocol
	if !n.o.pins() {
		want = protocol.Newest(protocol.EraSession).Name
	}
	for again := false; ; again = true {
		n.acceptHello(n.send.sendOnce(ctx, Call{Method: "initialize", Params: n.send.who.initializeParams(want)}, conn.Delivery{}))
		if n.hello.Cause != nil {
			return n.explainRefusedInitialize(ctx, n.hello.Cause)
		}
		if n.hello.Error == nil {
			break
		}
		rpc := n.hello.RPCError()
		other := findCommonRevision(rpc.Data)
		if !n.o.pins() && !again && other != "" && other != want {
			want = other
			continue
		}
		return n.explainRefusedInitialize(ctx, fmt.Errorf("the server refused initialize: %w", rpc))
	}
	v, err := n.readHandshakeResult()
	if err != nil {
		return failDetection("initialize", fmt.Errorf("read the response to initialize: %w", err))
	}
	n.server = v
	got := v.Lookup("protocolVersion")
	if got.Kind() != jsonv.KindString {
		return failDetection("initialize", errors.New("the response to initialize has no protocolVersion"))
	}
	d := protocol.VersionOf(got.Text())
	if n.o.pins() && got.Text() != want {
		return failDetection("protocol", fmt.Errorf("asked for protocol version %s, the server responded with %q", want, got.Text()))
	}
	if d.Era() != protocol.EraSession {
		return failDetection("protocol", fmt.Errorf("the server responded with protocol version %q, which is not supported (known: %s)",
			got.Text(), strings.Join(protocol.SessionVersions(), ", ")))
	}
	n.examineHandshake(false)
	return d, "", nil
}

// explainRefusedInitialize returns the result of Open if the server rejected initialize. A
// server that rejects a pinned revision may be of the other era.
func (n *negotiator) explainRefusedInitialize(ctx context.Context, refused error) (protocol.Version, string, error) {
	d := protocol.VersionOf(n.o.Protocol)
	if d.Known() && (n.hello.Error != nil || deniesRequest(refused)) {
		if e := n.retryVersion(ctx, d, n.hello, refused); len(e.Has) > 0 {
			return failDetection("protocol", e)
		}
	}
	return failDetection("initialize", refused)
}

// examineHandshake adds a violation for each member of the result that keeps a widely used
// client from connecting.
func (n *negotiator) examineHandshake(stateless bool) {
	for _, fault := range handshake.Faults(n.server, stateless) {
		if len(fault.Refused) == 0 {
			continue // see HandshakeWarnings
		}
		n.o.violate(n.hello, protocol.Violation{
			Kind:    protocol.BadResult,
			Msg:     fault.String(),
			Excerpt: protocol.Excerpt(n.hello.Result),
		})
	}
}

// findCommonRevision returns the newest common revision in the data of an "unsupported
// protocol version" error.
func findCommonRevision(data []byte) string {
	v, err := jsonv.Parse(data)
	if err != nil {
		return ""
	}
	theirs := v.Lookup("supported").Texts()
	return lists.First(protocol.SessionVersions(), func(r string) bool { return slices.Contains(theirs, r) })
}

// readHandshakeResult parses the result of the handshake. It adds violations below the top
// level to the exchange.
func (n *negotiator) readHandshakeResult() (jsonv.Value, error) {
	v, found, err := n.hello.Parse(jsonv.Options{})
	for _, d := range found {
		n.o.violate(n.hello, d)
	}
	return v.Lookup("result"), err
}
