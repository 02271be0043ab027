package transport

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"syscall"

	"mcptest/internal/client/protocol"
	"mcptest/internal/client/wire"
	"mcptest/internal/tape/cassette"
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
	shared  map[streamKey]bool // recorded streams of sessions, which belong to no request
	offered *cassette.HTTP     // the response to the GET of such a stream; nil if the server had none
	session *feed              // the client's stream of its session; nil if it has none
	trails  int                // calls that are answered and have more messages to send
	sink    wire.Receiver
	held    bool // callers are to be woken as soon as there are no trails
}

// streamKey identifies a recorded HTTP exchange.
type streamKey struct{ session, stream int }

// newHTTPReplay returns a transport that answers like the recorded server. number
// counts the connections, from 1.
func newHTTPReplay(p *cassette.Player, number int) *httpReplay {
	t := &httpReplay{player: p, client: p.Client(number), met: map[string][][]byte{}, streams: map[streamKey]*feed{}, shared: map[streamKey]bool{}}
	t.change.L = &t.mu
	for _, call := range p.Calls() {
		if call.Verb == http.MethodGet && call.Resumes() == "" {
			t.shared[streamKey{call.Session, call.Stream}] = true
			if call.Head != nil && isStream(call.Head) && p.Cassette().Transport == cassette.StreamableHTTP {
				t.offered = call.Head
			}
		}
	}
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
	if protocol.MemberOf(body, "id") != nil {
		t.wait(req.Context(), func() bool { return t.trails == 0 })
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
	reader := stream.open(req.Context())
	if call.ID == "" {
		x.trail(true)
	}
	if t.shared[streamKey{call.Session, call.Stream}] {
		t.mu.Lock()
		t.session = stream
		t.mu.Unlock()
	}
	go x.play(req.Context())
	return response(req, head, reader), nil
}

// broken returns the error of an exchange that had no response.
func (t *httpReplay) broken(ctx context.Context, call *cassette.Call) error {
	for _, f := range call.Frames {
		switch {
		case f.End == nil || f.Stream != call.Stream:
		case f.End.Client && call.Method != "initialize":
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
	case call == nil && t.offered != nil: // one more session than was recorded
		t.mu.Lock()
		defer t.mu.Unlock()
		t.session = newFeed()
		return response(req, t.offered, t.session.open(req.Context())), nil
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

// target returns the stream on which the client receives what was recorded on another
// one: its stream of the session replaces those of all recorded sessions.
func (t *httpReplay) target(session, stream int) *feed {
	t.mu.Lock()
	k, own := streamKey{session, stream}, t.session
	elsewhere := t.shared[k] && own != nil && (t.streams[k] == nil || !t.streams[k].opened())
	t.mu.Unlock()
	if elsewhere && !own.taken() {
		return own
	}
	return t.feed(session, stream)
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
func (t *httpReplay) await(ctx context.Context, key string) (raw []byte) {
	t.wait(ctx, func() bool {
		if met := t.met[key]; len(met) > 0 {
			raw, t.met[key] = met[0], met[1:]
		}
		return raw != nil
	})
	return raw
}

// wait waits until a condition holds, or the context ends.
func (t *httpReplay) wait(ctx context.Context, holds func() bool) {
	stop := context.AfterFunc(ctx, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.change.Broadcast()
	})
	defer stop()
	t.mu.Lock()
	defer t.mu.Unlock()
	for ctx.Err() == nil && !holds() {
		t.change.Wait()
	}
}

// exchangeReplay delivers the frames of one call.
type exchangeReplay struct {
	t    *httpReplay
	call *cassette.Call
	live cassette.Live
	own  *feed
	sse  bool

	last   *feed // that something was sent on
	trails bool  // see [httpReplay.trails]
}

// trail sets whether the call has more messages to send although it is answered. Its
// caller and the next request wait for those.
func (x *exchangeReplay) trail(on bool) {
	if on == x.trails {
		return
	}
	x.trails = on
	t := x.t
	t.mu.Lock()
	if on {
		t.trails++
	} else {
		t.trails--
	}
	wake := t.held && t.trails == 0
	if wake {
		t.held = false
	}
	t.change.Broadcast()
	t.mu.Unlock()
	if wake {
		t.sink.OnDrained()
	}
}

// more reports whether the server sent messages after the response.
func (x *exchangeReplay) more() bool {
	after := x.call.Frames[slices.Index(x.call.Frames, x.call.Response)+1:]
	return slices.ContainsFunc(after, func(f *cassette.Frame) bool { return f.Dir == cassette.FromServer && f.Has() })
}

// on returns a stream to send on. The client has processed what was sent on another
// one before, so that it sees the recorded order.
func (x *exchangeReplay) on(f *feed) *feed {
	if x.last != nil && x.last != f {
		x.last.delivered()
	}
	x.last = f
	return f
}

func (x *exchangeReplay) play(ctx context.Context) {
	defer func() {
		if x.trails && x.last != nil {
			x.last.delivered()
		}
		x.trail(false)
	}()
	for _, f := range x.call.Frames {
		to, sse := x.own, x.sse
		if x.call.Stream > 0 && f.Stream != x.call.Stream {
			to, sse = x.t.target(f.Session, f.Stream), true
		}
		if f == x.call.Response && x.more() {
			x.trail(true)
		}
		if f.End != nil {
			if f.Stream > 0 && !f.End.Client {
				x.on(to).end(f.End.Reason)
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
			x.trail(false)
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
			x.on(to).write(grown(x.call.Rewrite(data, x.live), f.Omitted))
		case f.Unterminated:
			x.on(to).write(bytes.TrimRight(appendEvent(nil, f.Event, grown(x.call.Rewrite(data, x.live), f.Omitted), true), "\n"))
		default:
			x.on(to).write(appendEvent(nil, f.Event, grown(x.call.Rewrite(data, x.live), f.Omitted), f.Has()))
		}
	}
	if err := x.t.player.Unanswered(x.call); err != nil {
		x.fail(err)
	}
	// The rest of an answered stream was of no use to the recorded client.
	if x.call.Response != nil || x.call.Verb == "" && (!x.sse || x.call.Stream == 0) {
		x.on(x.own).end("")
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
		x.t.target(r.Session, r.Stream).write(appendEvent(nil, nil, answer, true))
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
