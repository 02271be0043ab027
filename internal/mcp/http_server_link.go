package mcp

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"

	"mcptest/internal/jsonv"
)

// eventOut is a response that is a JSON body unless events come first.
type eventOut struct {
	mu    sync.Mutex
	w     http.ResponseWriter // nil: what is sent goes nowhere
	begun bool
	over  bool
}

// errNoStream is what sending on a response that is over returns.
var errNoStream = errors.New("the response is complete")

// begin starts the event stream.
func (o *eventOut) begin() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.start()
}

// start writes the header. The caller holds mu.
func (o *eventOut) start() {
	if o.begun {
		return
	}
	o.begun = true
	h := o.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache, no-transform")
	h.Set("X-Accel-Buffering", "no")
	o.w.WriteHeader(http.StatusOK)
	_ = http.NewResponseController(o.w).Flush()
}

// event sends one message on the stream.
func (o *eventOut) event(raw []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.w == nil || o.over {
		return errNoStream
	}
	o.start()
	var b strings.Builder
	for _, line := range strings.Split(strings.TrimRight(string(raw), "\r\n"), "\n") {
		b.WriteString("data: " + strings.TrimRight(line, "\r") + "\n")
	}
	b.WriteString("\n")
	if _, err := io.WriteString(o.w, b.String()); err != nil {
		return err
	}
	return http.NewResponseController(o.w).Flush()
}

// last sends the answer and ends the response.
func (o *eventOut) last(frame []byte, status int) {
	o.mu.Lock()
	begun := o.begun
	o.mu.Unlock()
	if begun {
		_ = o.event(frame)
	} else {
		o.w.Header().Set("Content-Type", "application/json")
		o.w.WriteHeader(status)
		_, _ = o.w.Write(frame)
	}
	o.end()
}

func (o *eventOut) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.over = true
}

// link is how a request reaches its client before it is answered.
type link interface {
	notify(raw []byte) error
	writeRaw(b []byte) error
	ask(ctx context.Context, method string, params []byte) (jsonv.Value, error)
}

// webLink is the link of a request in a session.
type webLink struct {
	out  *eventOut
	asks *asks
}

func (l *webLink) notify(raw []byte) error { return l.out.event(raw) }

func (l *webLink) writeRaw(b []byte) error { return l.out.event(b) }

func (l *webLink) ask(ctx context.Context, method string, params []byte) (jsonv.Value, error) {
	return l.asks.ask(ctx, method, params, func(_ context.Context, raw []byte) error { return l.out.event(raw) })
}

// asks are the requests of a server that wait for the client's answer.
type asks struct {
	mu     sync.Mutex
	lastID int64
	open   map[int64]chan asked
	gone   bool
}

// ask sends a request and waits for its answer.
func (a *asks) ask(ctx context.Context, method string, params []byte, send func(context.Context, []byte) error) (jsonv.Value, error) {
	ch := make(chan asked, 1)
	a.mu.Lock()
	if a.gone {
		a.mu.Unlock()
		return jsonv.Value{}, errHangUp
	}
	a.lastID++
	id := a.lastID
	if a.open == nil {
		a.open = map[int64]chan asked{}
	}
	a.open[id] = ch
	a.mu.Unlock()
	raw, _ := appendRequest(idText(id), &Call{Method: method, Params: params})
	if err := send(ctx, raw); err != nil {
		return jsonv.Value{}, err
	}
	select {
	case r, ok := <-ch:
		switch {
		case !ok:
			return jsonv.Value{}, errHangUp
		case r.err != nil:
			return jsonv.Value{}, r.err
		}
		return jsonv.Parse(r.result)
	case <-ctx.Done():
		a.mu.Lock()
		delete(a.open, id)
		a.mu.Unlock()
		return jsonv.Value{}, context.Cause(ctx)
	}
}

// answered passes the client's answer to the ask that waits for it.
func (a *asks) answered(e *envelope) {
	n, ok := ownID(e.id)
	if !ok || !e.response() {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if ch := a.open[n]; ch != nil {
		delete(a.open, n)
		r := asked{result: e.result}
		if e.has&hasError != 0 {
			r.err = parseRPCError(e.err)
		}
		ch <- r
	}
}

// hangUp ends what waits for an answer.
func (a *asks) hangUp() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.gone = true
	for id, ch := range a.open {
		delete(a.open, id)
		close(ch)
	}
}
