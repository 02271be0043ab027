package wire

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"mcptest/internal/client/protocol"
)

// Limits of event streams.
const (
	eventBuffer   = 16 << 10
	resumePause   = time.Second      // before a stream is resumed, unless the server specifies it
	resumeLongest = 30 * time.Second // largest pause that a server can specify
	resumeTries   = 5                // consecutive attempts without an event
	listenTime    = 2 * time.Second  // how long the first call waits for the stream of the session
)

// eventBuffers are read buffers of event streams.
var eventBuffers = sync.Pool{New: func() any { b := make([]byte, eventBuffer); return &b }}

// stream reads the event stream of a response, and resumes it if it ends too early
// and the server's events have ids.
func (x *httpExchange) stream(body io.ReadCloser) error {
	p := &protocol.EventParser{Limit: x.t.lim.Message}
	once := protocol.VersionOf(x.out.Protocol).Stateless // such streams cannot be resumed
	for idle := 0; ; {
		before := x.events
		err := x.read(body, p)
		switch {
		case err == errComplete:
			return nil
		case x.ctx.Err() != nil && x.t.ctx.Err() == nil:
			return errGivenUp
		case x.events > before:
			idle = 0
		}
		idle++
		if once || p.LastID == "" || idle > resumeTries || x.t.ctx.Err() != nil {
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

// resume requests the rest of the stream after the pause that the server specifies.
func (x *httpExchange) resume(p *protocol.EventParser) (io.ReadCloser, error) {
	if !x.t.pause(x.ctx, pauseOf(p)) {
		return nil, errGivenUp
	}
	x.resumed++
	resp, err := x.t.requestEvents(x.ctx, x.t.url, p.LastID)
	if err != nil {
		if x.ctx.Err() != nil && x.t.ctx.Err() == nil {
			return nil, errGivenUp
		}
		return nil, &StreamError{Method: x.out.Method, Events: x.events, Resumed: x.resumed, Err: err, Info: x.info}
	}
	return resp.Body, nil
}

// pauseOf returns how long to wait before the next connection of a stream.
func pauseOf(p *protocol.EventParser) time.Duration {
	if !p.Wants {
		return resumePause
	}
	return min(p.Retry, resumeLongest)
}

// pause waits; it returns false if the context ends first.
func (t *HTTP) pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// read delivers the events of one body until the call is complete (errComplete; the
// rest is read in the background) or the body ends.
func (x *httpExchange) read(body io.ReadCloser, p *protocol.EventParser) error {
	buf := eventBuffers.Get().(*[]byte)
	for {
		n, err := body.Read(*buf)
		if n > 0 {
			x.events += x.t.feed(p, (*buf)[:n], x.out, x.info)
			if !x.t.sink.Pending(x.out.Stream) {
				eventBuffers.Put(buf)
				x.drainAfterResponse(body, p, err)
				return errComplete
			}
		}
		over := p.Unfinished()
		if x.ctx.Err() == nil && (over > x.t.lim.Drain || err != nil && over > 0) {
			// The event is too long, even if it never ends.
			x.events++
			x.t.handleEvent(protocol.Event{Over: over}, x.out, time.Now(), x.info)
			x.t.sink.OnDrained()
			err = errComplete
		}
		if err != nil {
			_ = body.Close()
			eventBuffers.Put(buf)
			return err
		}
	}
}

// feed delivers the events that the bytes complete and returns their number. out is the
// request of the stream; nil for a stream of the session.
func (t *HTTP) feed(p *protocol.EventParser, b []byte, out *Outgoing, info *HTTPInfo) (n int) {
	at := time.Now()
	p.Feed(b, func(ev protocol.Event) {
		n++
		t.handleEvent(ev, out, at, info)
	})
	t.sink.OnDrained()
	return n
}

// drainAfterResponse reads what follows the response, to detect unexpected messages and to make the
// connection reusable.
func (x *httpExchange) drainAfterResponse(body io.ReadCloser, p *protocol.EventParser, err error) {
	x.handedOver = true
	x.release()
	if err != nil || !x.t.spawn(func() {
		stop := time.AfterFunc(drainTime, x.cancel)
		defer stop.Stop()
		defer x.cancel()
		x.t.readAll(body, p, x.out, x.info)
	}) {
		_ = body.Close()
		x.cancel()
	}
}

// spawn runs f on a goroutine that Close waits for; it returns false after Close.
func (t *HTTP) spawn(f func()) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return false
	}
	t.wg.Go(f)
	return true
}

// handleEvent delivers one event.
func (t *HTTP) handleEvent(ev protocol.Event, out *Outgoing, at time.Time, info *HTTPInfo) {
	if ev.Type != "" && ev.Type != "message" {
		return // other types belong to other protocols
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
	msg := "a message of " + FormatByteSize(ev.Over) + ", over the limit of " + FormatByteSize(int64(t.lim.Message))
	t.reportTooLong(f.Stream, method, msg, nil, info)
}

// reportTooLong reports a message over the limit, which ends its call.
func (t *HTTP) reportTooLong(stream, method, msg string, head []byte, info *HTTPInfo) {
	t.sink.OnViolation(stream, protocol.Violation{Kind: protocol.Oversize, Msg: msg, Excerpt: protocol.Excerpt(head)})
	if stream != "" {
		t.sink.OnFailure(stream, &ProtocolError{Method: method, Msg: "the response is " + msg}, info)
	}
}

// requestEvents opens an event stream with GET.
func (t *HTTP) requestEvents(ctx context.Context, u *url.URL, lastID string) (*http.Response, error) {
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
	resp, err := t.sendWithoutBody(ctx, http.MethodGet, u, h)
	if err != nil {
		return nil, &ConnectError{Method: "GET", URL: u.String(), Err: err}
	}
	info := &HTTPInfo{Status: resp.StatusCode, Header: resp.Header, ContentType: resp.Header.Get("Content-Type")}
	if resp.StatusCode != http.StatusOK || parseMediaType(info.ContentType) != "text/event-stream" {
		info.Body = readHead(resp.Body)
		return nil, &HTTPError{Method: "GET", Info: info, RPC: parseRPCError(info.Body)}
	}
	return resp, nil
}

// listen reads the stream of the session, if the server offers one, until the session
// ends. A server without one (405) is valid. It returns after the server has
// responded, or after a short time: messages sent before the stream is open are lost,
// so no call may be sent earlier.
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
		p := &protocol.EventParser{Limit: t.lim.Message}
		for idle := 0; idle < resumeTries; idle++ {
			resp, err := t.requestEvents(ctx, t.url, p.LastID)
			t.noteStream(ctx, err)
			settled()
			if err == nil {
				opened := time.Now()
				n := t.readAll(resp.Body, p, nil, nil)
				if n > 0 {
					idle = 0
				}
				t.noteEnd(ctx, n, time.Since(opened))
			} else if errors.As(err, new(*HTTPError)) {
				return
			}
			if !t.pause(ctx, pauseOf(p)) {
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

// noteStream notes why the stream of the session could not be opened.
func (t *HTTP) noteStream(ctx context.Context, err error) {
	if err == nil || ctx.Err() != nil {
		return
	}
	what := "could not be opened: " + err.Error()
	if refused, ok := errors.AsType[*HTTPError](err); ok {
		what = "was answered with " + strings.TrimPrefix(refused.Error(), "GET: ")
	}
	t.side.Add(SideStream, "this session's GET stream "+what+", so the server can send nothing outside of responses")
}

// noteEnd notes that the server has closed the stream of the session.
func (t *HTTP) noteEnd(ctx context.Context, events int, after time.Duration) {
	if ctx.Err() != nil || t.ctx.Err() != nil {
		return
	}
	how := "soon after it was opened"
	if after >= time.Second {
		how = "after " + Duration(after.Round(time.Second))
	}
	t.side.Add(SideStream, "the server closed this session's GET stream "+how+", with "+describeEvents(events)+" on it")
}

func describeEvents(n int) string {
	if n == 0 {
		return "nothing"
	}
	return countEvents(n)
}

// readAll delivers the events of a stream until it ends and returns their number.
func (t *HTTP) readAll(body io.ReadCloser, p *protocol.EventParser, out *Outgoing, info *HTTPInfo) (n int) {
	defer body.Close()
	buf := eventBuffers.Get().(*[]byte)
	defer eventBuffers.Put(buf)
	for {
		k, err := body.Read(*buf)
		if k > 0 {
			n += t.feed(p, (*buf)[:k], out, info)
		}
		if err != nil {
			return n
		}
	}
}
