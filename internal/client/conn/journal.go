package conn

import (
	"context"
	"fmt"
	"slices"
	"time"

	"mcptest/internal/client/protocol"
)

// Bounds of a journal.
const (
	journalCount   = 1024
	journalBytes   = 1 << 20
	journalMethods = 64
	journalLatest  = 64 << 10 // bytes of one message kept for its method
)

// journal keeps the latest messages of a session, and the callers that wait for one.
type journal struct {
	next    Mark
	ring    []entry // oldest first
	bytes   int
	latest  map[string]entry // last notification of each method, which may be missing in ring
	waiters []*waiter
}

type entry struct {
	at  Mark
	msg Message
}

type waiter struct {
	method string
	got    chan Message
}

func (j *journal) add(m Message) {
	e := entry{j.next, m}
	j.next++
	j.ring = append(j.ring, e)
	j.bytes += len(m.Raw)
	drop := 0
	for (len(j.ring)-drop > journalCount || j.bytes > journalBytes) && drop < len(j.ring)-1 {
		j.bytes -= len(j.ring[drop].msg.Raw)
		j.ring[drop] = entry{}
		drop++
	}
	j.ring = j.ring[drop:]
	if m.Kind != KindNotification {
		return
	}
	if j.latest == nil {
		j.latest = map[string]entry{}
	}
	if _, known := j.latest[m.Method]; len(m.Raw) <= journalLatest && (known || len(j.latest) < journalMethods) {
		j.latest[m.Method] = e
	}
	left := j.waiters[:0]
	for _, w := range j.waiters {
		if w.method == m.Method {
			w.got <- m
		} else {
			left = append(left, w)
		}
	}
	clear(j.waiters[len(left):])
	j.waiters = left
}

// find returns the first notification of a method after a mark.
func (j *journal) find(method string, since Mark) (Message, bool) {
	for _, e := range j.ring {
		if e.at >= since && e.msg.Kind == KindNotification && e.msg.Method == method {
			return e.msg, true
		}
	}
	if e, ok := j.latest[method]; ok && e.at >= since {
		return e.msg, true
	}
	return Message{}, false
}

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
	for i, other := range c.state.journal.waiters {
		if other == w {
			c.state.journal.waiters = append(c.state.journal.waiters[:i], c.state.journal.waiters[i+1:]...)
			return Message{}, err
		}
	}
	return <-w.got, nil // it arrived at the same moment
}

// violationLog keeps the violations that belong to no call in flight.
type violationLog struct {
	limit    int
	tolerate func(kind string) bool // may be nil
	kept     []protocol.Violation
	dropped  map[string]int
}

func (l *violationLog) tolerated(kind string) bool { return l.tolerate != nil && l.tolerate(kind) }

func (l *violationLog) add(v protocol.Violation) {
	if len(l.kept) < l.limit {
		l.kept = append(l.kept, v)
		return
	}
	if l.dropped == nil {
		l.dropped = map[string]int{}
	}
	l.dropped[v.Kind]++
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
				Kind: protocol.Flood, At: time.Now(), Tolerated: l.tolerated(k.Name),
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
	c.state.log.kept = slices.DeleteFunc(c.state.log.kept, drop)
}
