package exam

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/protocol"
	"mcptest/internal/client/wire"
	"mcptest/internal/process/proc"
	"mcptest/internal/run/connect"
	"mcptest/internal/spec/plan"
)

// lives watches the processes that a probe starts: what they were sent last, which
// requests wait for a response, and whether they end without having been asked to.
type lives struct {
	mu      sync.Mutex
	running []*life
	ends    []ending // not judged yet
}

// An ending is the end of a process that was not asked for: its output was at its end
// before the probe closed its input or signalled it.
type ending struct {
	why        *wire.ClosedError
	greeted    bool     // it had answered a handshake
	aside      bool     // another process of the server ran at the same time
	last       []byte   // the latest message that it got
	unanswered [][]byte // requests that it read and did not answer
}

// life is the connection to one process, from its start to its end.
type life struct {
	wire.Transport
	of    *lives
	ended chan struct{}

	// Guarded by the lock of lives.
	closing bool
	greeted bool
	aside   bool
	last    []byte
	waiting map[string][]byte // requests without a response, by id
}

// watch returns a dialer whose processes are watched.
func (l *lives) watch(dial connect.Dialer) connect.Dialer {
	return func(ctx context.Context, s *plan.Server, o connect.Options) (wire.Transport, error) {
		t, err := dial(ctx, s, o)
		if err != nil || s.URL != "" {
			return t, err
		}
		return l.begin(t), nil
	}
}

// begin watches a new process. One that is started next to a living one may fail, or end
// that one, because the server can be there only once: neither is judged.
func (l *lives) begin(t wire.Transport) *life {
	l.mu.Lock()
	defer l.mu.Unlock()
	fresh := &life{Transport: t, of: l, ended: make(chan struct{}), waiting: map[string][]byte{}}
	for _, other := range l.running {
		other.aside, fresh.aside = true, true
	}
	l.running = append(l.running, fresh)
	return fresh
}

// take returns the ends that were not judged yet.
func (l *lives) take() []ending {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := l.ends
	l.ends = nil
	return out
}

// remove forgets a process that has ended. The caller holds the lock.
func (l *lives) remove(gone *life) {
	for i, r := range l.running {
		if r == gone {
			l.running = append(l.running[:i:i], l.running[i+1:]...)
			return
		}
	}
}

// Start begins delivery.
func (t *life) Start(sink wire.Receiver) error { return t.Transport.Start(&watchedReceiver{sink, t}) }

// Send notes a message and sends it.
func (t *life) Send(ctx context.Context, out wire.Outgoing) error {
	t.of.mu.Lock()
	t.last = bytes.Clone(out.Raw)
	t.await(out)
	t.of.mu.Unlock()
	return t.Transport.Send(ctx, out)
}

// await notes the requests in a message that is sent. The caller holds the lock.
func (t *life) await(out wire.Outgoing) {
	if out.ID != "" && out.Method != "" {
		t.waiting[stripQuotes(out.ID)] = t.last
	}
	if !bytes.HasPrefix(out.Raw, []byte("[")) {
		return
	}
	batch, _ := jsonv.Parse(out.Raw)
	for _, m := range batch.List() {
		if !m.Lookup("id").IsAbsent() && !m.Lookup("method").IsAbsent() {
			t.waiting[stripQuotes(m.Lookup("id").String())] = t.last
		}
	}
}

// Await implements [wire.Awaiter].
func (t *life) Await(done <-chan struct{}, until time.Time) bool {
	a, ok := t.Transport.(wire.Awaiter)
	return ok && a.Await(done, until)
}

// SkipGrace makes Close send SIGTERM soon.
func (t *life) SkipGrace() {
	if s, ok := t.Transport.(interface{ SkipGrace() }); ok {
		s.SkipGrace()
	}
}

// Close ends the process. One that is about to end by itself gets the time to do so, so
// that the result does not depend on which of the two comes first.
func (t *life) Close(ctx context.Context) proc.Stopped {
	t.awaitEnd(ctx)
	t.of.mu.Lock()
	t.closing = true
	t.of.mu.Unlock()
	stopped := t.Transport.Close(ctx)
	t.of.mu.Lock()
	t.of.remove(t)
	t.of.mu.Unlock()
	return stopped
}

// awaitEnd waits until the process is idle, or its end was noticed.
func (t *life) awaitEnd(ctx context.Context) {
	p := t.Facts().Process
	if p == nil || !p.AwaitIdle(ctx, idleTime) {
		return
	}
	select {
	case <-p.Exited():
	default:
		return
	}
	select {
	case <-t.ended:
	case <-p.Done():
		<-time.After(idleTime) // the end of the output is on its way
	case <-time.After(idleTime): // a launcher that has ended: what it started answers on
	case <-ctx.Done():
	}
}

// idleTime is how long a busy process is watched for its end before it is closed.
const idleTime = 300 * time.Millisecond

// watchedReceiver notes what a process sends before it is delivered.
type watchedReceiver struct {
	wire.Receiver
	t *life
}

// OnFrame notes which request a message answers.
func (r *watchedReceiver) OnFrame(f wire.Frame) bool {
	if message, err := jsonv.Parse(f.Raw); err == nil {
		r.t.of.mu.Lock()
		for _, m := range append(message.List(), message) { // a batch, or one message
			r.t.forgetAnswered(m)
		}
		r.t.of.mu.Unlock()
	}
	return r.Receiver.OnFrame(f)
}

// forgetAnswered removes the request that a response belongs to. The caller holds the lock.
func (t *life) forgetAnswered(m jsonv.Value) {
	if m.Kind() != jsonv.KindObject || !m.Lookup("method").IsAbsent() {
		return
	}
	id := stripQuotes(m.Lookup("id").String())
	request, _ := jsonv.Parse(t.waiting[id])
	method := request.Lookup("method").Text()
	if (method == "initialize" || method == protocol.MethodDiscover) && !m.Lookup("result").IsAbsent() {
		t.greeted = true
	}
	delete(t.waiting, id)
}

// OnEnd notes an end that the probe did not cause.
func (r *watchedReceiver) OnEnd(why *wire.ClosedError) {
	r.Receiver.OnEnd(why)
	t := r.t
	t.of.mu.Lock()
	defer t.of.mu.Unlock()
	defer close(t.ended)
	t.of.remove(t)
	if t.closing {
		return
	}
	e := ending{why: why, greeted: t.greeted, aside: t.aside, last: t.last}
	for _, request := range t.waiting {
		if !bytes.Contains(why.Unread, request) {
			e.unanswered = append(e.unanswered, request)
		}
	}
	t.of.ends = append(t.of.ends, e)
}

// stripQuotes returns an id without quotes: a response that repeats 7 as "7" is a response.
func stripQuotes(id string) string { return strings.Trim(id, `"`) }
