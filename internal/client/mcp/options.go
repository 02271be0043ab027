package mcp

import (
	"context"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/conn"
	"mcptest/internal/client/protocol"
	"mcptest/internal/client/wire"
)

// Implementation names a client or server, as in clientInfo and serverInfo.
type Implementation struct {
	Name    string
	Title   string
	Version string
}

// JSON returns the object that a message names a program with.
func (i Implementation) JSON() jsonv.Value {
	v := jsonv.ObjectOf("name", i.Name)
	if i.Title != "" {
		v = v.With("title", jsonv.String(i.Title))
	}
	return v.With("version", jsonv.String(i.Version))
}

// Options configure a session.
type Options struct {
	// Protocol is "auto"; a revision, which the server must accept; or "", which
	// accepts the revision in the server's response to initialize.
	Protocol string
	// Era is the era of the server, if it is known; "auto" then skips detection.
	Era protocol.Era
	// OneEra sends a server that refuses the pinned revision nothing of the other era: it may
	// have one session only, which that would take.
	OneEra bool
	// Hint is the [Session.EraHint] of an earlier run. It affects the duration of
	// "auto", but never its result.
	Hint protocol.Era
	// Redial opens another connection, if the detection of the era made the first one
	// unusable (the process exited, or got requests of both eras). If it is nil,
	// initialize is sent only after a response to server/discover.
	Redial         func(ctx context.Context) (wire.Transport, error)
	Client         Implementation // name and version of the client
	Capabilities   jsonv.Value    // capabilities of the client; absent declares none
	Answer         Answerer       // answers requests of the server; nil: -32601 immediately (ping always works)
	ConnectTimeout time.Duration  // of the handshake over each connection, default 60s
	Limits         wire.Limits
	Tolerate       func(kind string) bool // marks violations as tolerated; may be nil
	Watch          conn.Watch             // receives what happens on each connection; may be nil

	redialed    *freshError // why the first connection could not be used
	initialized bool        // notifications/initialized was sent
	alone       bool        // a second connection made the first one unusable
	detection   string      // see Session.Detection

	found func([]protocol.Violation) // passes violations to Watch; see [conn.Conn.Report]
}

// defaultConnectTimeout limits the handshake.
const defaultConnectTimeout = 60 * time.Second

// Auto is the value of Options.Protocol that negotiates any supported revision.
const Auto = "auto"

// pins reports whether the server must accept one revision.
func (o *Options) pins() bool { return o.Protocol != "" && o.Protocol != Auto }

// violate adds a violation of a response that has arrived.
func (o *Options) violate(x *Exchange, v protocol.Violation) {
	v.ID, v.At, v.Tolerated = x.ID, time.Now(), o.Tolerate != nil && o.Tolerate(v.Kind)
	x.Violate(v)
	if o.found != nil {
		o.found([]protocol.Violation{v})
	}
}
