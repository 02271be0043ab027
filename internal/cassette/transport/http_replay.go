package transport

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"syscall"

	"mcptest/internal/cassette"
	"mcptest/internal/mcp/protocol"
)

// httpReplay answers the requests of one HTTP client from a cassette.
type httpReplay struct {
	player *cassette.Player
	client *cassette.Client

	mu      sync.Mutex
	change  sync.Cond
	met     map[string][][]byte // messages of the client that calls wait for, by [awaited]
	failed  error               // the latest failure of an exchange, for clients that resume its stream
	streams map[streamKey]*feed
}

// streamKey identifies a recorded HTTP exchange.
type streamKey struct{ session, stream int }

// newHTTPReplay returns a transport that answers like the recorded server. number
// counts the connections, from 1.
func newHTTPReplay(p *cassette.Player, number int) *httpReplay {
	t := &httpReplay{player: p, client: p.Client(number), met: map[string][][]byte{}, streams: map[streamKey]*feed{}}
	t.change.L = &t.mu
	return t
}

// RoundTrip answers a request.
func (t *httpReplay) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := takeBody(req)
	switch {
	case err != nil:
		return nil, err
	case req.Method == http.MethodGet:
		return t.events(req)
	case req.Method == http.MethodDelete:
		return response(req, &cassette.HTTP{Status: http.StatusOK}, http.NoBody), nil
	}
	accepted := &cassette.HTTP{Status: http.StatusAccepted}
	if isAnswer(body) {
		t.reached(body)
		return response(req, accepted, http.NoBody), nil
	}
	call, miss := t.client.Take(body)
	switch {
	case miss != nil:
		return nil, miss
	case call == nil:
		if answer := cassette.Default(body); answer != nil {
			h := &cassette.HTTP{Status: http.StatusOK, Header: map[string][]string{"Content-Type": {"application/json"}}}
			return response(req, h, io.NopCloser(bytes.NewReader(answer))), nil
		}
		t.reached(body)
		return response(req, accepted, http.NoBody), nil
	}
	return t.call(req, call, body)
}

// call answers a recorded message.
func (t *httpReplay) call(req *http.Request, call *cassette.Call, body []byte) (*http.Response, error) {
	defer t.reached(body)
	if call.Head == nil && call.Stream > 0 {
		return nil, t.broken(req.Context(), call)
	}
	head, stream := call.Head, t.feed(call.Session, call.Stream)
	if head == nil { // recorded over stdio
		head = &cassette.HTTP{Status: http.StatusAccepted}
		if call.ID != "" {
			head = &cassette.HTTP{Status: http.StatusOK, Header: map[string][]string{"Content-Type": {"text/event-stream"}}}
		}
		stream = newFeed()
	}
	x := &exchangeReplay{t: t, call: call, live: cassette.LiveOf(body), own: stream, sse: isStream(head)}
	go x.play(req.Context())
	return response(req, head, stream.reader(req.Context())), nil
}

// broken returns the error of an exchange that had no response.
func (t *httpReplay) broken(ctx context.Context, call *cassette.Call) error {
	for _, f := range call.Frames {
		switch {
		case f.End == nil || f.Stream != call.Stream:
		case f.End.Client:
			<-ctx.Done()
			return ctx.Err()
		case strings.Contains(f.End.Reason, "connection refused"):
			return fmt.Errorf("%s%w", strings.TrimSuffix(f.End.Reason, "connection refused"), syscall.ECONNREFUSED)
		case f.End.Reason == io.EOF.Error():
			return io.EOF
		case f.End.Reason != "":
			return recordedError{f.End.Reason}
		}
	}
	return recordedError{t.player.Cassette().NoResponse(call).Error()}
}

// events answers the GET of an event stream.
func (t *httpReplay) events(req *http.Request) (*http.Response, error) {
	last := req.Header.Get("Last-Event-Id")
	call := t.client.TakeStream(last)
	switch {
	case call == nil && last != "" && t.failure() != nil:
		return nil, t.failure()
	case call == nil && last != "": // the recorded client gave up before it resumed the stream
		<-req.Context().Done()
		return nil, req.Context().Err()
	case call == nil:
		return response(req, &cassette.HTTP{Status: http.StatusMethodNotAllowed}, http.NoBody), nil
	}
	return t.call(req, call, nil)
}

func (t *httpReplay) failure() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.failed
}

// feed returns the stream that replaces a recorded exchange.
func (t *httpReplay) feed(session, stream int) *feed {
	t.mu.Lock()
	defer t.mu.Unlock()
	k := streamKey{session, stream}
	if t.streams[k] == nil || t.streams[k].taken() {
		t.streams[k] = newFeed()
	}
	return t.streams[k]
}

// reached records a message of the client, for calls that wait for it.
func (t *httpReplay) reached(raw []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if key := awaited(raw, ""); key != "" {
		t.met[key] = append(t.met[key], raw)
		t.change.Broadcast()
	}
}

// await waits until the client has sent the message that a recorded message
// represents. It returns nil if the context ends first.
func (t *httpReplay) await(ctx context.Context, key string) []byte {
	stop := context.AfterFunc(ctx, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.change.Broadcast()
	})
	defer stop()
	t.mu.Lock()
	defer t.mu.Unlock()
	for ctx.Err() == nil {
		if met := t.met[key]; len(met) > 0 {
			t.met[key] = met[1:]
			return met[0]
		}
		t.change.Wait()
	}
	return nil
}

// exchangeReplay delivers the frames of one call.
type exchangeReplay struct {
	t    *httpReplay
	call *cassette.Call
	live cassette.Live
	own  *feed
	sse  bool
}

func (x *exchangeReplay) play(ctx context.Context) {
	for _, f := range x.call.Frames {
		to, sse := x.own, x.sse
		if x.call.Stream > 0 && f.Stream != x.call.Stream {
			to, sse = x.t.feed(f.Session, f.Stream), true
		}
		if f.End != nil {
			if f.Stream > 0 && !f.End.Client {
				to.end(f.End.Reason)
			}
			continue
		}
		data, err := x.t.player.Cassette().Data(f)
		if err != nil {
			to.end(err.Error())
			return
		}
		switch {
		case f.Dir == cassette.ToServer:
			met := x.t.await(ctx, awaited(data, x.live.ID))
			if met == nil {
				return
			}
			if err := x.t.player.CheckAnswer(x.call, f, met); err != nil {
				x.fail(err)
				return
			}
		case f.Dir == "":
		case !sse:
			to.write(grown(x.call.Rewrite(data, x.live), f.Omitted))
		case f.Unterminated:
			to.write(bytes.TrimRight(appendEvent(nil, f.Event, grown(x.call.Rewrite(data, x.live), f.Omitted), true), "\n"))
		default:
			to.write(appendEvent(nil, f.Event, grown(x.call.Rewrite(data, x.live), f.Omitted), f.Has()))
		}
	}
	if err := x.t.player.Unanswered(x.call); err != nil {
		x.fail(err)
	}
	// The rest of an answered stream was of no use to the recorded client.
	if x.call.Response != nil || x.call.Verb == "" && (!x.sse || x.call.Stream == 0) {
		x.own.end("")
	}
}

// fail ends the live call with an error: that of its stream or, if responses arrive on
// the stream of the session, a response.
func (x *exchangeReplay) fail(err error) {
	x.t.mu.Lock()
	x.t.failed = err
	x.t.mu.Unlock()
	if r := x.call.Response; r != nil && r.Stream != x.call.Stream {
		answer, _ := protocol.AppendResponse(nil, []byte(x.live.ID), nil, &protocol.RPCError{Code: -32603, Message: err.Error()})
		x.t.feed(r.Session, r.Stream).write(appendEvent(nil, nil, answer, true))
		return
	}
	x.own.end(err.Error())
}

// grown returns the beginning of a message that is not kept whole, extended to its
// size up to the client's limit.
func grown(data []byte, size int64) []byte {
	if size <= int64(len(data)) {
		return data
	}
	return append(data[:len(data):len(data)], bytes.Repeat([]byte{' '}, int(min(size, cassette.MaxMessage)))...)
}

func isStream(h *cassette.HTTP) bool {
	for k, v := range h.Header {
		if strings.EqualFold(k, "Content-Type") && len(v) > 0 {
			return strings.HasPrefix(strings.ToLower(v[0]), "text/event-stream")
		}
	}
	return false
}

// response returns the response to a request.
func response(req *http.Request, h *cassette.HTTP, body io.ReadCloser) *http.Response {
	header := http.Header{}
	for k, v := range h.Header {
		header[http.CanonicalHeaderKey(k)] = v
	}
	n := int64(-1)
	if body == http.NoBody {
		n = 0
	}
	return &http.Response{
		Status: fmt.Sprintf("%d %s", h.Status, http.StatusText(h.Status)), StatusCode: h.Status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: header, Body: body, ContentLength: n, Request: req,
	}
}

// feed is a body that is written while it is read.
type feed struct {
	mu     sync.Mutex
	change sync.Cond
	buf    bytes.Buffer
	err    error // after what is in buf
	read   bool  // it has a reader
}

func newFeed() *feed {
	f := &feed{}
	f.change.L = &f.mu
	return f
}

func (f *feed) update(fn func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	fn()
	f.change.Broadcast()
}

func (f *feed) write(b []byte) {
	f.update(func() {
		if f.err == nil {
			f.buf.Write(b)
		}
	})
}

// end ends the body, with an error unless the reason is "".
func (f *feed) end(reason string) {
	f.update(func() {
		if f.err != nil {
			return
		}
		switch reason {
		case "":
			f.err = io.EOF
		case io.ErrUnexpectedEOF.Error():
			f.err = io.ErrUnexpectedEOF
		default:
			f.err = recordedError{reason}
		}
	})
}

// taken reports whether the body has already been read and has ended.
func (f *feed) taken() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.read && f.err != nil
}

// reader returns the body for a request, which ends with its context.
func (f *feed) reader(ctx context.Context) io.ReadCloser {
	f.update(func() { f.read = true })
	return &feedReader{f: f, ctx: ctx, stop: context.AfterFunc(ctx, func() { f.update(func() {}) })}
}

type feedReader struct {
	f      *feed
	ctx    context.Context
	stop   func() bool
	closed bool
}

func (r *feedReader) Read(b []byte) (int, error) {
	f := r.f
	f.mu.Lock()
	defer f.mu.Unlock()
	for {
		switch {
		case r.closed:
			return 0, http.ErrBodyReadAfterClose
		case r.ctx.Err() != nil:
			return 0, r.ctx.Err()
		case f.buf.Len() > 0:
			return f.buf.Read(b)
		case f.err != nil:
			return 0, f.err
		}
		f.change.Wait()
	}
}

func (r *feedReader) Close() error {
	r.stop()
	r.f.update(func() { r.closed = true })
	return nil
}
