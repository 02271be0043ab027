package conn

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"mcptest/internal/base/lists"
	"mcptest/internal/client/protocol"
	"mcptest/internal/client/wire"
)

// callTable manages the calls of a session: those in flight, those that are complete
// but not signaled yet, and the ids of canceled ones. Its methods are the only access
// to its state; all but newCall, release and gave require the mutex of the session that
// owns the table.
type callTable struct {
	free    sync.Pool    // of *call
	sent    atomic.Int64 // requests that got an id
	own     atomic.Int64 // requests of the program itself that got one
	lastRaw atomic.Int64

	pending map[int64]*call
	raws    []*call
	late    recent[int64] // ids of canceled calls: their responses may still arrive
	woken   []*call       // complete, to be signaled by wake
}

func newCallTable() *callTable {
	c := &callTable{pending: map[int64]*call{}, late: recent[int64]{limit: 4096}}
	c.free.New = func() any { return &call{ready: make(chan struct{}, 1)} }
	return c
}

// ownNumbers is the distance of the numbers of the program's own requests from those of
// tests, which are sent at the same time: the ids of tests do not depend on which of
// them is first.
const ownNumbers = 1_000_000

// number returns the number of the next request.
func (c *callTable) number(own bool) int64 {
	if own {
		return ownNumbers + c.own.Add(1)
	}
	n := c.sent.Add(1)
	if n > ownNumbers {
		n += ownNumbers
	}
	return n
}

// begin registers a request under its id.
func (c *callTable) begin(k *call) { c.pending[k.id] = k }

// beginRaw registers bytes that are sent unchanged.
func (c *callTable) beginRaw(k *call) {
	k.raw.stream = "raw:" + idText(c.lastRaw.Add(1))
	c.raws = append(c.raws, k)
}

// giveUp removes a call whose response may still arrive.
func (c *callTable) giveUp(k *call) {
	c.forget(k)
	if k.raw == nil {
		c.late.add(k.id)
	}
}

// find returns the request in flight with an id, or nil.
func (c *callTable) find(id int64) *call { return c.pending[id] }

// onlyCall returns the request in flight if there is exactly one, otherwise nil.
func (c *callTable) onlyCall() (only *call) {
	if len(c.pending) != 1 {
		return nil
	}
	for _, only = range c.pending {
	}
	return only
}

// each calls f for every call in flight.
func (c *callTable) each(f func(k *call)) {
	for _, k := range c.pending {
		f(k)
	}
	for _, k := range c.raws {
		f(k)
	}
}

// inFlight returns the number of calls in flight.
func (c *callTable) inFlight() int { return len(c.pending) + len(c.raws) }

// call is a request in flight. It is pooled; the Exchange outlives it.
type call struct {
	id        int64
	x         *Exchange
	ready     chan struct{} // signalled once, after the exchange is complete
	answer    Answerer
	handed    func() // see Delivery.Handed
	token     []byte // progress token as JSON text; may be nil
	kept      int    // bytes of messages in x.During
	raw       *rawCall
	listening bool // a subscription: messages on its stream belong to all calls
	own       bool // Call.Own
	written   bool // the server may have read it, at least in part
	reports   int  // progress notifications
	reported  time.Time
}

func (c *callTable) newCall(x *Exchange) *call {
	k := c.free.Get().(*call)
	k.x = x
	return k
}

// release returns a call to the pool after its signal was received, or if the reader
// never saw it.
func (c *callTable) release(k *call) {
	*k = call{ready: k.ready}
	c.free.Put(k)
}

// keep adds a message to the call, within the limits.
func (k *call) keep(m Message, l *wire.Limits) {
	x := k.x
	if k.kept+len(m.Raw) > l.During || len(x.During) >= l.DuringCount || l.TooManyValues(m.Raw) {
		x.Dropped++
		x.DroppedBytes += int64(len(m.Raw))
		return
	}
	k.kept += len(m.Raw)
	x.During = append(x.During, m)
}

// isWaiting reports whether a call has no response yet.
func (c *callTable) isWaiting(k *call) bool {
	if k.raw != nil {
		return slices.Contains(c.raws, k)
	}
	return c.pending[k.id] == k
}

// forget removes a call.
func (c *callTable) forget(k *call) {
	if k.raw == nil {
		delete(c.pending, k.id)
		return
	}
	if i := slices.Index(c.raws, k); i >= 0 {
		c.raws = slices.Delete(c.raws, i, i+1)
	}
}

// shownMethod is the method of a call; a ping that no test made is mcptest's own.
func (k *call) shownMethod() string {
	if k.own && k.x.Method == "ping" {
		return "mcptest's own ping"
	}
	return k.x.Method
}

// requestsInFlight returns the calls in flight, oldest first, except those that the
// server never read.
func (c *callTable) requestsInFlight() []wire.InFlight {
	out := make([]wire.InFlight, 0, len(c.pending)+len(c.raws))
	for _, id := range slices.Sorted(maps.Keys(c.pending)) {
		if k := c.pending[id]; !k.x.Unread {
			out = append(out, wire.InFlight{Method: k.shownMethod(), Start: k.x.Start})
		}
	}
	for _, k := range c.raws {
		if !k.x.Unread {
			out = append(out, wire.InFlight{Method: "raw", Start: k.x.Start})
		}
	}
	return out
}

// finishAll completes every call in flight without a response.
func (c *callTable) finishAll(why *wire.ClosedError) {
	now := time.Now()
	c.each(func(k *call) {
		k.x.Cause = why
		k.x.Elapsed = now.Sub(k.x.Start)
		c.woken = append(c.woken, k)
		if k.raw == nil {
			c.late.add(k.id) // its response may still arrive
		}
	})
	clear(c.pending)
	c.raws = nil
}

// wake signals the complete calls.
func (c *callTable) wake() {
	for i, k := range c.woken {
		c.woken[i] = nil
		k.ready <- struct{}{}
	}
	c.woken = c.woken[:0]
}

// complete removes a call and records its end; wake signals its caller.
func (c *callTable) complete(k *call, at time.Time) {
	k.x.Elapsed = at.Sub(k.x.Start)
	c.forget(k)
	c.woken = append(c.woken, k)
}

// callOf returns the call in flight with an id given as JSON text.
func (c *callTable) callOf(id string) *call {
	if n, ok := protocol.OwnID([]byte(id)); ok {
		return c.pending[n]
	}
	if strings.HasPrefix(id, "raw:") {
		for _, k := range c.raws {
			if k.raw.stream == id {
				return k
			}
		}
	}
	return nil
}

// withToken returns the call in flight whose progress token is the same, or differs only
// in its quotes.
func (c *callTable) withToken(token []byte) (near *call) {
	for _, k := range c.pending {
		switch {
		case k.token == nil || token == nil:
		case sameToken(k.token, token):
			return k
		case bytes.Equal(bytes.Trim(token, `"`), bytes.Trim(k.token, `"`)):
			near = k
		}
	}
	return near
}

// sameToken compares two progress tokens, however their text is escaped.
func sameToken(own, token []byte) bool {
	return bytes.Equal(own, token) || protocol.TextOf(token) == protocol.TextOf(own) && protocol.TextOf(token) != ""
}

// findUnsignaled returns a call that is complete but not signaled yet.
func (c *callTable) findUnsignaled(n int64) *call {
	return lists.First(c.woken, func(k *call) bool { return k.raw == nil && k.id == n })
}

// rawCall is the state of bytes that were sent unchanged.
type rawCall struct {
	stream string // id of the exchange in the transport
	id     []byte // the id they seem to contain; may be nil
	batch  bool
}

// rawWaiter returns the raw call that waits for an id; without an id, the oldest.
func (c *callTable) rawWaiter(id []byte) *call {
	return lists.First(c.raws, func(k *call) bool {
		return id == nil || k.raw.id != nil && bytes.Equal(k.raw.id, id)
	})
}

// hasWaiter reports whether a caller waits for a call in flight, other than mcptest's
// own calls and those that the server never read.
func (c *callTable) hasWaiter() bool {
	for _, k := range c.pending {
		if !k.own && !k.listening && !k.x.Unread {
			return true
		}
	}
	return slices.ContainsFunc(c.raws, func(k *call) bool { return !k.x.Unread })
}

// markUnread marks the requests in flight that the process had not read when it
// exited, if a handshake has shown that it reads. It adds those to the unread input that
// could not be written because the process had exited. The caller holds Session.sending
// if the process has exited.
func (c *callTable) markUnread(why *wire.ClosedError, open bool) {
	lines := bytes.Split(why.Unread, []byte("\n"))
	begun := lines[len(lines)-1] // a line that was only written in part
	c.each(func(k *call) {
		unwritten := why.Exited && !k.written
		k.x.Unread = open && (unwritten || len(begun) > 0 && bytes.HasPrefix(k.x.Request, begun) ||
			slices.ContainsFunc(lines, func(l []byte) bool { return bytes.Equal(l, k.x.Request) }))
		if unwritten {
			why.Unread = append(why.Unread, k.x.Request...)
		}
	})
}

// wasSent reports whether id belongs to a request of this session.
func (c *callTable) wasSent(id int64) bool {
	n := protocol.RequestNumber(id)
	switch {
	case n <= ownNumbers:
		return n >= 1 && n <= c.sent.Load()
	case n <= 2*ownNumbers:
		return n-ownNumbers <= c.own.Load()
	default:
		return n-ownNumbers <= c.sent.Load()
	}
}
