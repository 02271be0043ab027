package conn

import (
	"context"
	"fmt"
	"slices"
	"time"

	"mcptest/internal/client/protocol"
)

// Mark returns the current position in the order of received messages.
func (c *Conn) Mark() Mark {
	c.state.mu.Lock()
	defer c.state.mu.Unlock()
	return c.state.journal.next
}

// Messages returns the messages received and responses sent since a mark, as far as
// they are kept: the last 1,024 of them, 1 MiB at most.
func (c *Conn) Messages(since Mark) []Message {
	c.state.mu.Lock()
	defer c.state.mu.Unlock()
	var out []Message
	for _, e := range c.state.journal.ring {
		if e.at >= since {
			out = append(out, e.msg)
		}
	}
	return out
}

// Wait returns the first notification of a method after the mark, and waits for it
// until ctx ends. The error is a *TimeoutError, a *CancelledError or a *ClosedError.
func (c *Conn) Wait(ctx context.Context, method string, since Mark) (Message, error) {
	c.state.mu.Lock()
	if m, ok := c.state.journal.find(method, since); ok {
		c.state.mu.Unlock()
		return m, nil
	}
	if c.state.closed != nil {
		defer c.state.mu.Unlock()
		return Message{}, c.state.closed
	}
	w := &waiter{method: method, got: make(chan Message, 1)}
	c.state.journal.waiters = append(c.state.journal.waiters, w)
	c.state.mu.Unlock()
	start := time.Now()
	var err error
	select {
	case m := <-w.got:
		return m, nil
	case <-ctx.Done():
		err = ContextError(ctx, &Exchange{Method: "waiting for " + method, Start: start})
	case <-c.state.ended:
		err = c.state.err()
	}
	c.state.mu.Lock()
	defer c.state.mu.Unlock()
	if i := slices.Index(c.state.journal.waiters, w); i >= 0 {
		c.state.journal.waiters = slices.Delete(c.state.journal.waiters, i, i+1)
		return Message{}, err
	}
	return <-w.got, nil // it arrived at the same moment
}

// TakeViolations returns the violations since the last call that belong to no
// [Exchange], in order. A violation with an ID belongs to that call, but was found
// after its end (a second response). Violations over Limits.Violations are counted,
// in one violation of kind "flood" for each kind.
func (c *Conn) TakeViolations() []protocol.Violation {
	c.state.mu.Lock()
	defer c.state.mu.Unlock()
	l := &c.state.log
	out := l.kept
	for _, k := range protocol.ViolationKinds {
		if n := l.dropped[k.Name]; n > 0 {
			out = append(out, protocol.Violation{
				Kind: protocol.Flood, At: time.Now(), Tolerated: l.isTolerated(k.Name),
				Msg: fmt.Sprintf("%d more of kind %s were not kept", n, k.Name),
			})
		}
	}
	l.kept, l.dropped = nil, nil
	return out
}

// DropViolations removes the violations that belong to no [Exchange] and for which
// drop returns true.
func (c *Conn) DropViolations(drop func(protocol.Violation) bool) {
	c.state.mu.Lock()
	defer c.state.mu.Unlock()
	var withdrawn []protocol.Violation
	c.state.log.kept = slices.DeleteFunc(c.state.log.kept, func(v protocol.Violation) bool {
		dropped := drop(v)
		if dropped {
			withdrawn = append(withdrawn, v)
		}
		return dropped
	})
	if len(withdrawn) > 0 {
		c.state.emit(Event{Withdrawn: withdrawn})
	}
}
