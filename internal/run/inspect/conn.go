package inspect

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/conn"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/client/wire"
	"mcptest/internal/process/proc"
	"mcptest/internal/run/connect"
	"mcptest/internal/spec/plan"
)

// Options are a server and how to connect to it.
type Options struct {
	Server       *plan.Server
	Client       mcp.Implementation
	Connect      connect.Options
	Dial         connect.Dialer // nil: connect.Dial
	WaitForReady time.Duration  // how long to wait for an address to become ready
	Eras         *connect.Eras  // detected eras, to be updated
	Capabilities jsonv.Value    // declared by the client; absent: none
	Answer       mcp.Answerer   // nil: requests of the server are refused
	// Watch receives frames, output and violations while they happen; may be nil.
	Watch conn.Watch
	// Violations receives violations as they are found; nil: Seen returns them.
	Violations func([]protocol.Violation)
	// Doing is called with what the connection waits for, done after the wait; may be nil.
	Doing func(what string) (done func())
}

// Conn is a connection to a server.
type Conn struct {
	o          Options
	transport  wire.Transport // started, and not yet used by a session
	session    *mcp.Session   // nil: not open
	seen       []protocol.Violation
	violated   bool
	handshaken bool // the violations of the handshake were reported
}

// New returns a Conn that is not open yet.
func New(o Options) *Conn {
	if o.Doing == nil {
		o.Doing = func(string) func() { return func() {} }
	}
	return &Conn{o: o}
}

// Server is the definition of the server.
func (c *Conn) Server() *plan.Server { return c.o.Server }

// Session is the open session, nil if there is none.
func (c *Conn) Session() *mcp.Session { return c.session }

// Start starts the server's process, or prepares the connection, for the next
// Open.
func (c *Conn) Start(ctx context.Context) (facts wire.Facts, err error) {
	c.transport, err = c.dial(ctx)
	if err != nil {
		return wire.Facts{}, err
	}
	return c.transport.Facts(), nil
}

func (c *Conn) dial(ctx context.Context) (wire.Transport, error) {
	if c.o.Dial != nil {
		return c.o.Dial(ctx, c.o.Server, c.o.Connect)
	}
	return connect.Dial(ctx, c.o.Server, c.o.Connect)
}

// Open opens the session. An address that is not ready is retried for
// Options.WaitForReady.
func (c *Conn) Open(ctx context.Context) error {
	defer c.o.Doing("connecting")()
	if c.o.WaitForReady > 0 && c.o.Server.URL != "" {
		return connect.Retry(ctx, c.o.WaitForReady, c.open)
	}
	return c.open(ctx)
}

func (c *Conn) open(ctx context.Context) error {
	sv := c.o.Server
	t, err := c.transport, error(nil)
	c.transport = nil
	if t == nil {
		t, err = c.dial(ctx)
	}
	if err != nil {
		return err
	}
	declared := c.o.Capabilities
	if declared.IsAbsent() {
		declared = sv.Client.Declares
	}
	_, hint := c.o.Eras.Find(sv)
	c.session, err = mcp.Open(ctx, t, mcp.Options{
		Protocol: sv.Protocol, Hint: hint, Redial: c.dial, Client: c.o.Client, ConnectTimeout: sv.ConnectTimeout,
		Limits: c.o.Connect.Limits, Capabilities: declared, Answer: c.o.Answer,
		Tolerate: func(kind string) bool { return sv.Tolerate[kind] }, Watch: c.o.Watch,
	})
	if err != nil {
		return c.o.Connect.Sessions.Explain(sv, err)
	}
	c.o.Connect.Sessions.Opened(sv, c.session)
	c.o.Eras.Found(sv, c.session, sv.Protocol == mcp.Auto)
	return nil
}

// Another returns a connection with the same server and a protocol version; it is not
// open yet.
func (c *Conn) Another(version string) *Conn {
	o, sv := c.o, *c.o.Server
	sv.Protocol, o.Server, o.WaitForReady = version, &sv, 0
	return New(o)
}

// OpenWith opens a session with a protocol version, unless the definition of the server
// names one. If the server does not offer that version, the newest common one is used.
func OpenWith(ctx context.Context, o Options, version string) (*Conn, error) {
	if o.Server.Protocol == mcp.Auto && protocol.VersionOf(version).Known() {
		pinned, sv := o, *o.Server
		sv.Protocol, pinned.Server = version, &sv
		c := New(pinned)
		err := c.Open(ctx)
		refused, ok := errors.AsType[*wire.OpenError](err)
		if !ok || refused.Phase == "start" || refused.Phase == "connect" || errors.As(err, new(*mcp.TimeoutError)) {
			return c, err
		}
	}
	c := New(o)
	return c, c.Open(ctx)
}

// Mute reports whether the server does not respond to server/discover, so that finding out
// its protocol version takes time in each run.
func (c *Conn) Mute() bool {
	_, hint := c.o.Eras.Find(c.o.Server)
	died := c.session.Restarted()
	return hint == protocol.EraSession || died != nil && !connect.HasEndedByItself(died)
}

// Close ends the session, or what Start began.
func (c *Conn) Close() { c.End() }

// End is Close, and returns how the server's process ended.
func (c *Conn) End() (end proc.Stopped) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if c.transport != nil {
		c.transport.Close(ctx)
		c.transport = nil
	}
	if c.session != nil {
		end = c.session.Close(ctx)
		c.session, c.handshaken = nil, false
	}
	return end
}

// report passes violations on.
func (c *Conn) report(list []protocol.Violation) {
	for _, v := range list {
		c.violated = c.violated || !v.Tolerated
	}
	if c.o.Violations == nil {
		c.seen = append(c.seen, list...)
	} else if len(list) > 0 {
		c.o.Violations(list)
	}
}

// ReportRemaining reports the violations of the handshake, and those that
// belong to no call.
func (c *Conn) ReportRemaining() {
	if c.session == nil { // it could not be opened
		return
	}
	if !c.handshaken {
		c.handshaken = true
		c.report(c.session.Handshake().Violations)
	}
	c.report(c.session.TakeViolations())
}

// Seen returns the violations so far, if Options.Violations is nil.
func (c *Conn) Seen() []protocol.Violation { return c.seen }

// Violated reports whether the server committed a violation that is not
// tolerated.
func (c *Conn) Violated() bool { return c.violated }

// Offers reports whether the server declares a capability. A server whose
// capabilities can't be read is assumed to offer everything.
func (c *Conn) Offers(capability string) bool {
	caps := c.session.ServerInfo().Lookup("capabilities")
	return caps.Kind() != jsonv.KindObject || !caps.Lookup(capability).IsAbsent()
}

// Implementation is what the server says about itself: an object with its name
// and version, or absent.
func (c *Conn) Implementation() jsonv.Value {
	if c.session.Era() == protocol.EraStateless {
		return c.session.ServerInfo().Lookup("_meta", "io.modelcontextprotocol/serverInfo")
	}
	return c.session.ServerInfo().Lookup("serverInfo")
}

// ServerName is the name and version that the server reports.
func (c *Conn) ServerName() string {
	self := c.Implementation()
	if self.Lookup("name").Kind() != jsonv.KindString {
		return "the server does not report its name"
	}
	return strings.TrimSpace(self.Lookup("name").Text() + " " + self.Lookup("version").Text())
}

// Do makes one request.
func (c *Conn) Do(ctx context.Context, method string, params jsonv.Value) *mcp.Exchange {
	call := mcp.Call{Method: method, ProgressToken: method == "tools/call"}
	if !params.IsAbsent() {
		call.Params = params.Append(nil)
	}
	defer c.o.Doing(strings.TrimSpace(method + " " + params.Lookup("name").Text()))()
	return c.Send(ctx, call)
}

// DoFor is Do without the time limit of the server's definition: ctx has it.
func (c *Conn) DoFor(ctx context.Context, method string, params jsonv.Value) *mcp.Exchange {
	if c.session == nil {
		return &mcp.Exchange{Method: method, Cause: errNotOpen}
	}
	x := c.session.Do(ctx, mcp.Call{Method: method, Params: params.Append(nil), ProgressToken: method == "tools/call"})
	c.report(x.Violations)
	return x
}

// errNotOpen ends a call without a session.
var errNotOpen = errors.New("no session is open")

// Send makes one call.
func (c *Conn) Send(ctx context.Context, call mcp.Call) *mcp.Exchange {
	if c.session == nil {
		return &mcp.Exchange{Method: call.Method, Cause: errNotOpen}
	}
	ctx, cancel := mcp.WithLimit(ctx, "timeout", c.o.Server.Timeout)
	defer cancel()
	x := c.session.Do(ctx, call)
	c.report(x.Violations)
	return x
}

// ExchangeError is why an exchange has no result, nil if it has one.
func ExchangeError(x *mcp.Exchange) error {
	if x.Cause != nil {
		return x.Cause
	}
	if e := x.RPCError(); e != nil {
		return e
	}
	return nil
}

// Result makes one request and returns its result.
func (c *Conn) Result(ctx context.Context, method string, params jsonv.Value) (jsonv.Value, error) {
	return c.ResultOf(c.Do(ctx, method, params))
}

// ResultOf returns the result in an exchange.
func (c *Conn) ResultOf(x *mcp.Exchange) (jsonv.Value, error) {
	if err := ExchangeError(x); err != nil {
		return jsonv.Value{}, err
	}
	v, deep, err := x.Parse(jsonv.Options{})
	c.report(deep)
	c.session.Report(deep)
	if err != nil {
		return jsonv.Value{}, fmt.Errorf("read the result: %w", err)
	}
	return v.Lookup("result"), nil
}
