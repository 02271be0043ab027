package mcpserver

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"

	"mcptest/internal/base/jsonv"
)

// eventOut is a response that is a JSON body unless events come first.
type eventOut struct {
	mu    sync.Mutex
	w     http.ResponseWriter // nil: messages are discarded
	begun bool
	done  bool // the response was sent
	over  bool
}

// errNoStream is returned when a message is sent on a completed response.
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
	return o.write(raw)
}

// write sends one message. The caller holds mu.
func (o *eventOut) write(raw []byte) error {
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

// last sends the JSON-RPC response and ends the HTTP response.
func (o *eventOut) last(frame []byte, status int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.begun {
		_ = o.write(frame)
	} else {
		o.w.Header().Set("Content-Type", "application/json")
		o.w.WriteHeader(status)
		_, _ = o.w.Write(frame)
	}
	o.done, o.over = true, true
}

// isSent reports whether the response was sent.
func (o *eventOut) isSent() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.done
}

// raw sends bytes on the stream as a separate event.
func (o *eventOut) raw(b []byte) error { return o.event(b) }

func (o *eventOut) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.over = true
}

// reset closes the connection so that the client receives a reset.
func (o *eventOut) reset() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.done, o.over = true, true
	conn, _, err := http.NewResponseController(o.w).Hijack()
	if err != nil {
		return
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

// httpPeer is the peer of a request in a session.
type httpPeer struct {
	out  *eventOut
	asks *clientRequests
}

func (l *httpPeer) notify(raw []byte) error { return l.out.event(raw) }

func (l *httpPeer) writeRaw(b []byte) error { return l.out.event(b) }

func (l *httpPeer) askAll(ctx context.Context, qs []Question) ([]jsonv.Value, error) {
	return l.asks.askAll(ctx, qs, func(_ context.Context, raw []byte) error { return l.out.event(raw) })
}
