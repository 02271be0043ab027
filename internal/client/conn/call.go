package conn

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/protocol"
	"mcptest/internal/client/wire"
)

// Delivery is the protocol-specific way to send a call.
type Delivery struct {
	Version    protocol.Version                              // format of the message; zero: the negotiated version
	Mirror     http.Header                                   // Mcp-Param-* headers
	Handed     func()                                        // called when the transport has accepted the request; may be nil
	Idempotent func(ctx context.Context, params []byte) bool // see [wire.Outgoing]
}

// Do sends a request and waits for its response, the end of ctx or the end of the
// connection. It always returns an exchange.
func (c *Conn) Do(ctx context.Context, req Call, d Delivery) *Exchange {
	x := &Exchange{Method: req.Method}
	k, err := c.begin(req, x)
	if err != nil {
		x.Cause, x.Unread = err, true
		return x
	}
	c.finish(ctx, req, d, k, x)
	return x
}

// begin assigns an id to a call, builds its frame and registers it.
func (c *Conn) begin(req Call, x *Exchange) (*call, error) {
	calls := c.state.calls
	k := calls.newCall(x)
	k.answer, k.own = req.Answer, req.Own
	k.id = protocol.IDAt(calls.number(req.Own))
	x.ID = strconv.FormatInt(k.id, 10)
	x.Request, k.token = protocol.AppendRequest(x.ID, req.Method, req.Params, req.ProgressToken)
	if err := c.state.begin(k); err != nil {
		calls.release(k)
		return nil, err
	}
	return k, nil
}

// finish sends a registered call and waits for its end.
func (c *Conn) finish(ctx context.Context, req Call, d Delivery, k *call, x *Exchange) {
	if !d.Version.Known() {
		d.Version = c.Version()
	}
	k.handed = d.Handed
	out := wire.Outgoing{
		Raw:         x.Request,
		Method:      req.Method,
		ID:          x.ID,
		Params:      req.Params,
		Header:      req.Header,
		Protocol:    d.Version.Name,
		CancelAfter: req.CancelAfter,
		Mirror:      d.Mirror,
		Idempotent:  d.Idempotent,
	}
	if ctx.Err() != nil { // the caller has stopped waiting: don't start the work
		c.giveUp(k, ContextError(ctx, x), false)
	} else if err := c.write(ctx, k, out); err != nil {
		c.notSent(ctx, k, err)
	} else {
		c.awaitAnswer(ctx, k, req)
	}
	c.state.calls.release(k)
}

// awaitAnswer waits until the call is complete. If the wait is canceled, it completes
// the call with the cause.
func (c *Conn) awaitAnswer(ctx context.Context, k *call, req Call) {
	until, _ := ctx.Deadline()
	timer := func(after time.Duration) <-chan time.Time {
		if after <= 0 {
			return nil
		}
		at := k.x.Start.Add(after)
		if until.IsZero() || at.Before(until) {
			until = at
		}
		return time.After(time.Until(k.x.Start.Add(after)))
	}
	cancel, idle := timer(req.CancelAfter), timer(req.Idle)
	if c.await != nil && ctx.Err() == nil && c.await.Await(k.ready, until) {
		return
	}
	for {
		select {
		case <-k.ready:
			return
		case <-ctx.Done():
			c.giveUp(k, ContextError(ctx, k.x), true)
			return
		case <-cancel:
			c.giveUp(k, &CancelledError{Method: k.x.Method, After: time.Since(k.x.Start)}, true)
			return
		case <-idle:
			left := req.Idle - c.in.measureSilence(k)
			if left <= 0 {
				c.giveUp(k, idleError(k.x, req.Idle), true)
				return
			}
			idle = time.After(left)
		}
	}
}

// idleError returns the cause of a call that has not reported progress for too long.
func idleError(x *Exchange, limit time.Duration) error {
	now := time.Now()
	l := Limit{Name: "idle_timeout", For: limit}
	return &TimeoutError{Method: x.Method, After: now.Sub(x.Start), At: now, Limit: l.Error() + " without progress"}
}

// giveUp completes a call with cause unless its response has arrived. If tell is set,
// it sends the server a cancellation.
func (c *Conn) giveUp(k *call, cause error, tell bool) {
	if !c.in.giveUp(k, cause, c.Facts().Process) {
		<-k.ready
		return
	}
	// A client must not cancel initialize (MCP 2025-11-25 cancellation).
	if tell && k.raw == nil && k.x.Method != "initialize" && k.x.Method != protocol.MethodDiscover {
		c.cancel(k, cause)
	}
}

// cancelTime limits the wait for writing the notification that cancels a call.
const cancelTime = 250 * time.Millisecond

func (c *Conn) cancel(k *call, cause error) {
	id := k.x.ID
	c.noteCancel(k, cause)
	ctx, stop := context.WithTimeout(c.ctx, cancelTime)
	defer stop()
	params := append([]byte(`{"requestId":`), id...)
	params = append(params, `,"reason":`...)
	params = append(jsonv.AppendString(params, cause.Error()), '}')
	const method = "notifications/cancelled"
	at := time.Now()
	if err := c.Notify(ctx, method, params); err != nil || !c.notifiesCancel() {
		return
	}
	k.x.Cancellation = &Message{
		Frame: wire.Frame{Dir: wire.ToServer, At: at, Raw: protocol.AppendNotification(nil, method, params)},
		Kind:  KindNotification, Method: method,
	}
}

// notifiesCancel reports whether a notification cancels a call. Over HTTP a stateless
// version has none.
func (c *Conn) notifiesCancel() bool { return !c.Version().Stateless || c.state.stdio }

// noteCancel notes that the client cancels a call by itself.
func (c *Conn) noteCancel(k *call, cause error) {
	if !c.notifiesCancel() {
		return
	}
	why := "was cancelled"
	if errors.As(cause, new(*TimeoutError)) {
		why = "had timed out"
	}
	c.state.side.AddOf(k.x.ID, wire.SideSent, "mcptest sent notifications/cancelled for "+k.x.Method+" (id "+k.x.ID+"), which "+why)
}

// write sends a request and records whether the server may have read any of it.
func (c *Conn) write(ctx context.Context, k *call, out wire.Outgoing) error {
	if k.handed != nil {
		defer k.handed()
	}
	c.sending.RLock()
	defer c.sending.RUnlock()
	err := c.send(ctx, out)
	var broken *wire.BrokenError
	k.written = !errors.As(err, &broken) || broken.Partly
	return err
}

// notSent completes a call whose request could not be written.
func (c *Conn) notSent(ctx context.Context, k *call, err error) {
	if _, ok := errors.AsType[*wire.NotReadError](err); ok && ctx.Err() != nil {
		c.giveUp(k, explainContextError(ctx, k.x, true), false)
		return
	}
	if errors.As(err, new(*wire.BrokenError)) {
		// The server has probably exited: its exit is a better cause than a broken
		// pipe.
		select {
		case <-k.ready:
			return
		case <-ctx.Done():
			c.giveUp(k, explainContextError(ctx, k.x, true), false)
			return
		case <-time.After(wire.ExitWait + wire.ExitWait/2):
		}
		why := &wire.ClosedError{Reason: "the server closed its standard input", Err: err}
		if tail := c.Facts().Stderr; tail != nil {
			why.Stderr = tail.Ends(wire.StderrLines)
		}
		c.in.OnEnd(why)
		<-k.ready
		return
	}
	c.giveUp(k, &SendError{Method: k.x.Method, Err: err}, false)
}
