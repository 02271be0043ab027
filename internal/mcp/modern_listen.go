package mcp

import (
	"bytes"
	"context"
	"time"
)

// The subscriptions of a stateless revision.
const (
	MethodListen       = "subscriptions/listen"
	ListenAcknowledged = "notifications/subscriptions/acknowledged"
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
		m, err := s.Wait(wctx, ListenAcknowledged, mark)
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
		if id := subscriptionOf(m.Params); bytes.Equal(id, []byte(x.ID)) || m.Stream == x.ID {
			early.During = []Message{m}
			early.Elapsed = time.Since(early.Start)
			return early
		}
	}
}

// ownOr is the id as a number, 0 for one that is not ours.
func ownOr(id []byte) int64 {
	n, _ := ownID(id)
	return n
}

// subscriptionOf finds the subscription a notification belongs to, nil for none.
func subscriptionOf(params []byte) []byte {
	if !bytes.Contains(params, []byte(MetaSubscription)) {
		return nil
	}
	return MemberOf(MemberOf(params, "_meta"), MetaSubscription)
}
