package mcp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"mcptest/internal/jsonv"
	"mcptest/internal/mcp/conn"
	"mcptest/internal/mcp/protocol"
	"mcptest/internal/mcp/wire"
)

// negotiator finds out which protocol version a connection has, and shakes
// hands.
type negotiator struct {
	conn *conn.Conn
	send *sender
	http *wire.HTTP // nil for a stream
	o    *Options

	hello  *Exchange   // the handshake, once there was one
	server jsonv.Value // its result
}

// handshake sends initialize and settles the revision (MCP 2025-11-25
// lifecycle). With "auto" a server that refuses the newest revision and lists
// those it has is asked once more.
func (n *negotiator) handshake(ctx context.Context) (protocol.Version, string, error) {
	want := n.o.Protocol
	if !n.o.pins() {
		want = protocol.Newest(protocol.EraSession).Name
	}
	for again := false; ; again = true {
		n.hello = n.send.once(ctx, Call{Method: "initialize", Params: n.send.who.initializeParams(want)}, conn.Delivery{})
		if n.hello.Cause != nil {
			return n.refusedInitialize(ctx, n.hello.Cause)
		}
		if n.hello.Error == nil {
			break
		}
		rpc := n.hello.RPCError()
		if other := commonRevision(rpc.Data); !n.o.pins() && !again && other != "" && other != want {
			want = other
			continue
		}
		return n.refusedInitialize(ctx, fmt.Errorf("the server refused initialize: %w", rpc))
	}
	v, err := handshakeResult(n.hello, n.o.tolerated)
	if err != nil {
		return failed("initialize", fmt.Errorf("read the answer to initialize: %w", err))
	}
	n.server = v
	got := v.Lookup("protocolVersion")
	if got.Kind() != jsonv.KindString {
		return failed("initialize", errors.New("the answer to initialize has no protocolVersion"))
	}
	d := protocol.VersionOf(got.Text())
	if n.o.pins() && got.Text() != want {
		return failed("protocol", fmt.Errorf("asked for protocol revision %s, the server answered with %q", want, got.Text()))
	}
	if d.Era() != protocol.EraSession {
		return failed("protocol", fmt.Errorf("the server answered with protocol revision %q, which is not spoken here (known: %s)",
			got.Text(), strings.Join(protocol.SessionVersions(), ", ")))
	}
	n.require("initialize", jsonv.KindObject, "capabilities")
	if n.require("initialize", jsonv.KindObject, "serverInfo") {
		n.require("initialize", jsonv.KindString, "serverInfo", "name")
		n.require("initialize", jsonv.KindString, "serverInfo", "version")
	}
	return d, "", nil
}

// require notes a member that the result of the handshake must have and has not.
func (n *negotiator) require(request string, kind jsonv.Kind, path ...string) bool {
	got := n.server.Lookup(path...)
	if got.Kind() == kind {
		return true
	}
	conn.Violate(n.hello, protocol.Violation{
		Kind: protocol.BadResult, ID: n.hello.ID, At: time.Now(), Excerpt: protocol.Excerpt(n.hello.Result), Tolerated: n.o.tolerated(protocol.BadResult),
		Msg: fmt.Sprintf("%s of the %s result is %s, want %s", strings.Join(path, "."), request, got.Kind(), kind),
	})
	return false
}

// commonRevision finds the newest revision we speak in the data of an
// "unsupported protocol version" error.
func commonRevision(data []byte) string {
	v, err := jsonv.Parse(data)
	if err != nil {
		return ""
	}
	theirs := v.Lookup("supported").Texts()
	for _, r := range protocol.SessionVersions() {
		if slices.Contains(theirs, r) {
			return r
		}
	}
	return ""
}

// handshakeResult reads the result of a handshake. What only shows below the
// top level of the answer is added to the exchange.
func handshakeResult(x *Exchange, tolerated func(kind string) bool) (jsonv.Value, error) {
	v, found, err := x.Parse(jsonv.Options{})
	for _, d := range found {
		d.At, d.Tolerated = time.Now(), tolerated(d.Kind)
		conn.Violate(x, d)
	}
	return v.Lookup("result"), err
}

// tolerated reports whether violations of a kind are.
func (o *Options) tolerated(kind string) bool { return o.Tolerate != nil && o.Tolerate(kind) }
