package mcp

import (
	"bytes"
	"context"
	"time"

	"mcptest/internal/mcp/protocol"
)

// listen opens a subscription and returns when the server has acknowledged it,
// with the acknowledgement in During and no answer: that comes when the
// subscription ends. Its notifications go to the calls in flight and to Wait,
// as those of a session do.
func (s *Session) listen(ctx context.Context, c Call) *Exchange {
	x := &Exchange{Method: c.Method}
	k, err := s.begin(&c, x)
	if err != nil {
		x.Cause = err
		return x
	}
	bctx, end := context.WithCancel(s.ctx)
	mark := s.Mark()
	s.mu.Lock()
	k.listening = true
	s.wg.Add(1)
	s.mu.Unlock()
	early := &Exchange{Method: x.Method, ID: x.ID, Request: x.Request, Start: x.Start}
	over := make(chan struct{})
	wctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		defer s.wg.Done()
		defer end()
		s.finish(bctx, c, k, x)
		close(over)
		cancel()
	}()
	for {
		m, err := s.Wait(wctx, protocol.ListenAcknowledged, mark)
		select {
		case <-over:
			return x // refused, or over at once
		default:
		}
		if err != nil {
			end()
			<-over
			if x.Cause != nil {
				x.Cause = givenUp(ctx, x, false)
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
