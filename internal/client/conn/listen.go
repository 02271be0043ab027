package conn

import (
	"bytes"
	"context"
	"time"

	"mcptest/internal/client/protocol"
)

// Listen opens a subscription and returns when the server has acknowledged it. The
// acknowledgement is in During; there is no response before the subscription ends.
// Its notifications go to the calls in flight and to Wait, like those of a session.
func (c *Conn) Listen(ctx context.Context, req Call, d Delivery) *Exchange {
	x := &Exchange{Method: req.Method}
	k, err := c.begin(req, x)
	if err != nil {
		x.Cause = err
		return x
	}
	bctx, end := context.WithCancel(c.ctx)
	mark := c.Mark()
	c.state.mu.Lock()
	k.listening = true
	c.wg.Add(1)
	c.state.mu.Unlock()
	early := &Exchange{Method: x.Method, ID: x.ID, Request: x.Request, Start: x.Start}
	over := make(chan struct{})
	wctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		defer c.wg.Done()
		defer end()
		c.finish(bctx, req, d, k, x)
		close(over)
		cancel()
	}()
	for {
		m, err := c.Wait(wctx, protocol.ListenAcknowledged, mark)
		select {
		case <-over:
			return x // rejected, or ended immediately
		default:
		}
		if err != nil {
			end()
			<-over
			if x.Cause != nil {
				x.Cause = ContextError(ctx, x)
			}
			return x
		}
		mark++
		if id := protocol.SubscriptionOf(m.Params); bytes.Equal(id, []byte(x.ID)) || m.Stream == x.ID {
			early.During = []Message{m}
			early.Elapsed = time.Since(early.Start)
			return early
		}
	}
}
