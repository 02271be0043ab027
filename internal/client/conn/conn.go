package conn

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"mcptest/internal/client/protocol"
	"mcptest/internal/client/wire"
	"mcptest/internal/process/proc"
)

// Conn is one JSON-RPC connection to a server. It is safe for concurrent use.
type Conn struct {
	t     wire.Transport
	await wire.Awaiter // nil if the transport cannot read on the goroutine of a caller

	ctx  context.Context // canceled at the end of the connection; the server's requests use it
	stop context.CancelFunc
	wg   sync.WaitGroup // goroutines that answer the server

	sending sync.RWMutex // held shared while a request is written; taken before the lock of the state
	state   *state
	in      *receiver
}

// New returns a connection over t. Nothing is delivered before [Conn.Start] is
// called.
func New(t wire.Transport, o Options) *Conn {
	o.Limits = o.Limits.FillDefaults()
	c := &Conn{t: t}
	c.await, _ = t.(wire.Awaiter)
	c.ctx, c.stop = context.WithCancel(context.Background())
	_, web := t.(*wire.HTTP)
	c.state = newState(o, !web)
	c.in = newReceiver(c.state, &responder{
		ctx:   c.ctx,
		wg:    &c.wg,
		send:  c.send,
		state: c.state,
		byID:  map[string]context.CancelFunc{},
	}, o.Answer)
	c.in.sending, c.in.stop = &c.sending, c.stop
	return c
}

// Start begins delivery.
func (c *Conn) Start() error {
	c.watchStderr()
	return c.t.Start(c.in)
}

// SetVersion sets the protocol version of the following messages.
func (c *Conn) SetVersion(d protocol.Version) { c.state.version.Store(&d) }

// Version returns the negotiated version, or a zero row before the handshake.
func (c *Conn) Version() protocol.Version { return c.state.agreedVersion() }

// Go runs f on a goroutine that Close waits for.
func (c *Conn) Go(f func()) { c.wg.Go(f) }

// Notify sends a notification. Params may be nil.
func (c *Conn) Notify(ctx context.Context, method string, params []byte) error {
	if err := c.state.overError(); err != nil {
		return err
	}
	out := wire.Outgoing{Raw: protocol.AppendNotification(nil, method, params), Method: method, Params: params, Protocol: c.Version().Name}
	if err := c.send(ctx, out); err != nil {
		c.state.side.Add(wire.SideSent, method+" was not accepted: "+strings.TrimPrefix(err.Error(), method+": "))
		return &SendError{Method: method, Err: err}
	}
	return nil
}

// send sends a message.
func (c *Conn) send(ctx context.Context, out wire.Outgoing) error {
	c.state.emitSent(out)
	return c.t.Send(ctx, out)
}

// watchStderr passes on what the process writes to standard error.
func (c *Conn) watchStderr() {
	out := c.Facts().Stderr
	if c.state.watch == nil || out == nil {
		return
	}
	c.wg.Go(func() {
		out.Each(c.ctx.Done(), func(text string) { c.state.emit(Event{Stderr: text}) })
	})
}

// Report passes violations to the watcher that were found in a message after its call.
func (c *Conn) Report(list []protocol.Violation) {
	for _, v := range list {
		c.state.emit(Event{ID: v.ID, Violations: []protocol.Violation{v}})
	}
}

// Note adds a side event.
func (c *Conn) Note(kind wire.SideKind, text string) { c.state.side.Add(kind, text) }

// SideEvents returns what else happened in the session, the oldest first.
func (c *Conn) SideEvents() []wire.SideEvent {
	list := c.state.side.List()
	if t, ok := c.t.(interface{ SideEvents() []wire.SideEvent }); ok {
		list = append(list, t.SideEvents()...)
	}
	slices.SortStableFunc(list, func(a, b wire.SideEvent) int { return a.At.Compare(b.At) })
	return list
}

// Facts describes the server's end of the connection.
func (c *Conn) Facts() wire.Facts { return c.t.Facts() }

// Output describes the standard output of the process.
func (c *Conn) Output() Output {
	c.state.mu.Lock()
	defer c.state.mu.Unlock()
	return Output{
		First:   c.in.first,
		None:    c.state.stdio && len(c.in.last) == 0,
		LastOdd: c.in.findLastInvalidLine(),
	}
}

// Output describes the standard output of a process that could not be used as a
// server.
type Output struct {
	First   time.Time // time of the first line; over HTTP, of the first message
	None    bool      // a process wrote nothing
	LastOdd string    // the last line, if it was not a message
}

// Done is closed when the connection has ended.
func (c *Conn) Done() <-chan struct{} { return c.state.ended }

// Err returns why the connection ended, as a *ClosedError; nil while it is open.
func (c *Conn) Err() error { return c.state.err() }

// Unresponsive reports whether a call timed out and no message has come since.
func (c *Conn) Unresponsive() bool { return c.state.isUnresponsive() }

// ReportedSince reports whether progress of a call that is over has come since a time.
func (c *Conn) ReportedSince(at time.Time) bool { return c.in.hasReportedSince(at) }

// Busy reports whether a caller waits for a call in flight.
func (c *Conn) Busy() bool { return c.state.isBusy() }

// Alive reports whether the connection can still be used.
func (c *Conn) Alive() bool { return c.state.overError() == nil }

// SkipGrace makes Close send SIGTERM to the server's process soon after closing its
// input, because the process is not expected to exit by itself.
func (c *Conn) SkipGrace() {
	if t, ok := c.t.(interface{ SkipGrace() }); ok {
		t.SkipGrace()
	}
}

// Close ends the connection: calls in flight end with a *ClosedError, the server's
// requests are canceled, the transport is closed. It returns how the process ended.
// It may be called more than once.
func (c *Conn) Close(ctx context.Context) proc.Stopped {
	if c.state.close() {
		c.SkipGrace() // it has never responded, or no longer does: no grace period
	}
	c.stop()
	stopped := c.t.Close(ctx)
	c.wg.Wait()
	if stopped.How <= proc.ByEOF && stopped.Exit.Fault() {
		c.state.hasCrashedAtEnd(stopped.Exit)
	}
	return stopped
}
