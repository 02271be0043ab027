package wire

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"

	"mcptest/internal/mcp/protocol"
)

// Bounds of event streams.
const (
	eventBuffer   = 16 << 10
	resumePause   = time.Second      // before a stream is taken up again, unless the server says
	resumeLongest = 30 * time.Second // of what a server may say
	resumeTries   = 5                // in a row, without an event between them
	listenTime    = 2 * time.Second  // that the first call waits for the stream of the session
)

// eventBuffers are reading buffers of event streams.
var eventBuffers = sync.Pool{New: func() any { b := make([]byte, eventBuffer); return &b }}

// stream reads the event stream that answers a POST, and takes it up again
// when it ends too early and the server gave its events ids.
func (x *httpExchange) stream(body io.ReadCloser) error {
	p := newSSEParser(x.t.lim.Message)
	once := protocol.VersionOf(x.out.Protocol).Stateless // such streams can't be taken up again
	for idle := 0; ; {
		before := x.events
		err := x.read(body, p)
		switch {
		case err == errAnswered:
			return nil
		case x.ctx.Err() != nil && x.t.ctx.Err() == nil:
			return errGivenUp
		case x.events > before:
			idle = 0
		}
		if idle++; once || p.lastID == "" || idle > resumeTries || x.t.ctx.Err() != nil {
			if err == io.EOF {
				err = nil
			}
			return &StreamError{Method: x.out.Method, Events: x.events, Resumed: x.resumed, Err: err, Info: x.info}
		}
		if body, err = x.resume(p); err != nil {
			return err
		}
	}
}

// resume asks for the rest of the stream after the time the server wants.
func (x *httpExchange) resume(p *sseParser) (io.ReadCloser, error) {
	if !x.t.pause(x.ctx, p.pause()) {
		return nil, errGivenUp
	}
	x.resumed++
	resp, err := x.t.events(x.ctx, x.t.url, p.lastID)
	if err != nil {
		if x.ctx.Err() != nil && x.t.ctx.Err() == nil {
			return nil, errGivenUp
		}
		return nil, &StreamError{Method: x.out.Method, Events: x.events, Resumed: x.resumed, Err: err, Info: x.info}
	}
	return resp.Body, nil
}

// pause is how long to wait before the next connection.
func (p *sseParser) pause() time.Duration {
	if !p.wants {
		return resumePause
	}
	return min(p.retry, resumeLongest)
}

// pause waits; it reports false when the context ended first.
func (t *HTTP) pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// read delivers the events of one body until the call is complete
// (errAnswered; the rest is read in the background) or the body ends.
func (x *httpExchange) read(body io.ReadCloser, p *sseParser) error {
	buf := eventBuffers.Get().(*[]byte)
	for {
		n, err := body.Read(*buf)
		if n > 0 {
			x.feed(p, (*buf)[:n])
			if !x.t.sink.Pending(x.out.Stream) {
				x.rest(body, p, buf, err)
				return errAnswered
			}
		}
		if over := p.unfinished(); x.ctx.Err() == nil && (over > x.t.lim.Drain || err != nil && over > 0) {
			// It has no end, or never got one: in any case it was too long.
			x.events++
			x.t.event(sseEvent{Over: over}, x.out, time.Now(), x.info)
			x.t.sink.OnDrained()
			err = errAnswered
		}
		if err != nil {
			_ = body.Close()
			eventBuffers.Put(buf)
			return err
		}
	}
}

// feed delivers what the bytes complete.
func (x *httpExchange) feed(p *sseParser, b []byte) {
	at := time.Now()
	p.feed(b, func(ev sseEvent) {
		x.events++
		x.t.event(ev, x.out, at, x.info)
	})
	x.t.sink.OnDrained()
}

// rest reads what follows the answer: it shows whether the server sends more
// than it should, and lets the connection be used again.
func (x *httpExchange) rest(body io.ReadCloser, p *sseParser, buf *[]byte, err error) {
	done := func() {
		_ = body.Close()
		x.cancel()
		eventBuffers.Put(buf)
	}
	x.handedOver = true
	x.release()
	if err != nil || !x.t.spawn(func() {
		stop := time.AfterFunc(drainTime, x.cancel)
		defer stop.Stop()
		defer done()
		for {
			n, err := body.Read(*buf)
			if n > 0 {
				x.feed(p, (*buf)[:n])
			}
			if err != nil {
				return
			}
		}
	}) {
		done()
	}
}

// spawn runs f on a goroutine that Close waits for; false after Close.
func (t *HTTP) spawn(f func()) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return false
	}
	t.wg.Go(f)
	return true
}

// event delivers one event. out is the request whose stream it is, nil for a
// stream of the session.
func (t *HTTP) event(ev sseEvent, out *Outgoing, at time.Time, info *HTTPInfo) {
	if ev.Type != "" && ev.Type != "message" {
		return // other types are for other protocols
	}
	f := Frame{Dir: FromServer, At: at, Raw: ev.Data, Whole: true}
	method := ""
	if out != nil {
		f.Stream, method = out.Stream, out.Method
	}
	if ev.Over == 0 {
		t.sink.OnFrame(f)
		return
	}
	msg := "a message of " + ByteSize(ev.Over) + ", over the limit of " + ByteSize(int64(t.lim.Message))
	t.sink.OnViolation(f.Stream, protocol.Violation{Kind: protocol.Oversize, Msg: msg})
	if f.Stream != "" {
		t.sink.OnFailure(f.Stream, &ProtocolError{Method: method, Kind: protocol.Oversize, Msg: "the answer is " + msg}, info)
	}
}

// events opens an event stream by GET.
func (t *HTTP) events(ctx context.Context, u *url.URL, lastID string) (*http.Response, error) {
	h := http.Header{"Accept": acceptSSE}
	t.mu.Lock()
	session := t.session
	t.mu.Unlock()
	if session != "" {
		h["Mcp-Session-Id"] = []string{session}
	}
	if lastID != "" {
		h["Last-Event-Id"] = []string{lastID}
	}
	resp, err := t.plain(ctx, http.MethodGet, u, h)
	if err != nil {
		return nil, &ConnectError{Method: "GET", URL: u.String(), Err: err}
	}
	info := &HTTPInfo{Status: resp.StatusCode, Header: resp.Header, ContentType: resp.Header.Get("Content-Type"), URL: u.String()}
	if resp.StatusCode != http.StatusOK || mediaType(info.ContentType) != "text/event-stream" {
		info.Body = head(resp.Body)
		return nil, &HTTPError{Method: "GET", Info: info, RPC: rpcErrorOf(info.Body)}
	}
	return resp, nil
}

// listen reads the stream of the session, where the server offers one, until
// the session ends. A server that has none (405) is no fault. It returns when
// the server has answered, or is slow to: what a server sends while there is no
// stream yet is lost, so no call may come earlier.
func (t *HTTP) listen(caller context.Context) {
	answered := make(chan struct{})
	settled := sync.OnceFunc(func() { close(answered) })
	ctx, cancel := context.WithCancel(t.ctx)
	t.mu.Lock()
	if t.stream != nil {
		t.stream()
	}
	t.stream = cancel
	t.mu.Unlock()
	if !t.spawn(func() {
		defer cancel()
		defer settled()
		p := newSSEParser(t.lim.Message)
		for idle := 0; idle < resumeTries; idle++ {
			resp, err := t.events(ctx, t.url, p.lastID)
			settled()
			if err == nil {
				if t.readAll(resp.Body, p) > 0 {
					idle = 0
				}
			} else if errors.As(err, new(*HTTPError)) {
				return
			}
			if !t.pause(ctx, p.pause()) {
				return
			}
		}
	}) {
		return
	}
	select {
	case <-answered:
	case <-time.After(listenTime):
	case <-caller.Done():
	}
}

// readAll delivers the events of a stream that belongs to no call and returns
// how many there were.
func (t *HTTP) readAll(body io.ReadCloser, p *sseParser) (n int) {
	defer body.Close()
	buf := eventBuffers.Get().(*[]byte)
	defer eventBuffers.Put(buf)
	for {
		k, err := body.Read(*buf)
		if k > 0 {
			at := time.Now()
			p.feed((*buf)[:k], func(ev sseEvent) {
				n++
				t.event(ev, nil, at, nil)
			})
			t.sink.OnDrained()
		}
		if err != nil {
			return n
		}
	}
}
