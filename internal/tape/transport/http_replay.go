package transport

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
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
	met     map[string][][]byte // messages of the client that calls wait for, by [cassette.Awaited]
	failed  error               // the latest failure of an exchange, for clients that resume its stream
	streams map[streamKey]*wire.Feed
	shared  map[streamKey]bool // recorded streams of sessions, which belong to no request
	offered *cassette.HTTP     // the response to the GET of such a stream; nil if the server had none
	session *wire.Feed         // the client's stream of its session; nil if it has none
	trails  int                // calls that are answered and have more messages to send
	sink    wire.Receiver
	held    bool // callers are to be woken as soon as there are no trails
}

// streamKey identifies a recorded HTTP exchange.
type streamKey struct{ session, stream int }

// newHTTPReplay returns a transport that answers like the recorded server. number
// counts the connections, from 1.
func newHTTPReplay(p *cassette.Player, number int) *httpReplay {
	t := &httpReplay{
		player:  p,
		client:  p.Client(number),
		met:     map[string][][]byte{},
		streams: map[streamKey]*wire.Feed{},
		shared:  map[streamKey]bool{},
	}
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
		return t.replayEvents(req)
	case req.Method == http.MethodDelete:
		return makeResponse(req, &cassette.HTTP{Status: http.StatusOK}, http.NoBody), nil
	}
	accepted := &cassette.HTTP{Status: http.StatusAccepted}
	if cassette.IsAnswer(body) {
		t.noteReached(body)
		return makeResponse(req, accepted, http.NoBody), nil
	}
	if protocol.MemberOf(body, "id") != nil {
		t.wait(req.Context(), func() bool { return t.trails == 0 })
	}
	call, miss := t.client.Take(body)
	switch {
	case miss != nil:
		return nil, miss
	case call == nil:
		if answer := cassette.MakeDefault(body); answer != nil {
			h := &cassette.HTTP{Status: http.StatusOK, Header: map[string][]string{"Content-Type": {"application/json"}}}
			return makeResponse(req, h, io.NopCloser(bytes.NewReader(answer))), nil
		}
		t.noteReached(body)
		return makeResponse(req, accepted, http.NoBody), nil
	}
	return t.call(req, call, body)
}

// call answers a recorded message.
func (t *httpReplay) call(req *http.Request, call *cassette.Call, body []byte) (*http.Response, error) {
	defer t.noteReached(body)
	if call.Head == nil {
		return nil, t.makeBrokenError(req.Context(), call)
	}
	stream := t.feed(call.Session, call.Stream)
	x := &exchangeReplay{t: t, Playback: t.player.Play(call, body), own: stream, sse: isStream(call.Head)}
	reader := stream.Open(req.Context())
	if call.ID == "" {
		x.replayTrail(true)
	}
	if t.shared[streamKey{call.Session, call.Stream}] {
		t.mu.Lock()
		t.session = stream
		t.mu.Unlock()
	}
	go x.play(req.Context())
	return makeResponse(req, call.Head, reader), nil
}

// makeBrokenError returns the error of an exchange that had no response.
func (t *httpReplay) makeBrokenError(ctx context.Context, call *cassette.Call) error {
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
	return recordedError{t.player.Cassette().ExplainNoResponse(call).Error()}
}

// replayEvents answers the GET of an event stream.
func (t *httpReplay) replayEvents(req *http.Request) (*http.Response, error) {
	last := req.Header.Get("Last-Event-Id")
	call := t.client.TakeStream(last)
	switch {
	case call == nil && last != "" && t.findFailure() != nil:
		return nil, t.findFailure()
	case call == nil && last != "": // the recorded client gave up before it resumed the stream
		<-req.Context().Done()
		return nil, req.Context().Err()
	case call == nil && t.offered != nil: // one more session than was recorded
		t.mu.Lock()
		defer t.mu.Unlock()
		t.session = wire.NewFeed(math.MaxInt)
		return makeResponse(req, t.offered, t.session.Open(req.Context())), nil
	case call == nil:
		return makeResponse(req, &cassette.HTTP{Status: http.StatusMethodNotAllowed}, http.NoBody), nil
	}
	return t.call(req, call, nil)
}

func (t *httpReplay) findFailure() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.failed
}

// feed returns the stream that replaces a recorded exchange.
func (t *httpReplay) feed(session, stream int) *wire.Feed {
	t.mu.Lock()
	defer t.mu.Unlock()
	k := streamKey{session, stream}
	if t.streams[k] == nil || t.streams[k].WasTaken() {
		t.streams[k] = wire.NewFeed(math.MaxInt)
	}
	return t.streams[k]
}

// findFeed returns the stream on which the client receives what was recorded on another
// one: its stream of the session replaces those of all recorded sessions.
func (t *httpReplay) findFeed(session, stream int) *wire.Feed {
	t.mu.Lock()
	k, own := streamKey{session, stream}, t.session
	elsewhere := t.shared[k] && own != nil && (t.streams[k] == nil || !t.streams[k].WasOpened())
	t.mu.Unlock()
	if elsewhere && !own.WasTaken() {
		return own
	}
	return t.feed(session, stream)
}

// noteReached records a message of the client, for calls that wait for it.
func (t *httpReplay) noteReached(raw []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if key := cassette.Awaited(raw); key != "" {
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
	t *httpReplay
	*cassette.Playback
	own *wire.Feed
	sse bool

	last   *wire.Feed // that something was sent on
	trails bool       // see [httpReplay.trails]
}

// replayTrail sets whether the call has more messages to send although it is answered. Its
// caller and the next request wait for those.
func (x *exchangeReplay) replayTrail(on bool) {
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

// hasMore reports whether the server sent messages after the response.
func (x *exchangeReplay) hasMore() bool {
	after := x.Frames[slices.Index(x.Frames, x.Response)+1:]
	return slices.ContainsFunc(after, func(f *cassette.Frame) bool { return f.Dir == cassette.FromServer && f.Has() })
}

// replayOn returns a stream to send on. The client has processed what was sent on another
// one before, so that it sees the recorded order.
func (x *exchangeReplay) replayOn(f *wire.Feed) *wire.Feed {
	if x.last != nil && x.last != f {
		x.last.AwaitDelivered()
	}
	x.last = f
	return f
}

func (x *exchangeReplay) play(ctx context.Context) {
	defer func() {
		if x.trails && x.last != nil {
			x.last.AwaitDelivered()
		}
		x.replayTrail(false)
	}()
	reach := func(key string, recorded *cassette.Frame) error {
		x.replayTrail(false)
		met := x.t.await(ctx, key)
		if met == nil {
			return cassette.ErrWaits
		}
		return x.t.player.CheckAnswer(x.Call, recorded, met)
	}
	for {
		f, data, err := x.Next(reach)
		switch {
		case err == cassette.ErrWaits:
			return
		case err == io.EOF:
			// The rest of an answered stream was of no use to the recorded client.
			if x.Response != nil || x.Verb == "" && !x.sse {
				x.replayOn(x.own).End(io.EOF)
			}
			return
		case err != nil:
			x.fail(err)
			return
		}
		x.send(f, data)
	}
}

// send sends a frame on its stream.
func (x *exchangeReplay) send(f *cassette.Frame, data []byte) {
	to, sse := x.own, x.sse
	if f.Stream != x.Stream {
		to, sse = x.t.findFeed(f.Session, f.Stream), true
	}
	if f == x.Response && x.hasMore() {
		x.replayTrail(true)
	}
	switch {
	case f.End != nil:
		if f.Stream > 0 && !f.End.Client {
			x.replayOn(to).End(streamEnd(f.End.Reason))
		}
		return
	case f.Dir == "":
		return
	}
	data = growTo(data, f.Omitted)
	if sse {
		data = appendEvent(nil, f.Event, data, f.Has() || f.Unterminated)
		if f.Unterminated {
			data = bytes.TrimRight(data, "\n")
		}
	}
	_, _ = x.replayOn(to).Write(data)
}

// streamEnd returns the error with which a recorded stream ended.
func streamEnd(reason string) error {
	switch reason {
	case "":
		return io.EOF
	case io.ErrUnexpectedEOF.Error():
		return io.ErrUnexpectedEOF
	}
	return recordedError{reason}
}

// fail ends the live call with an error: that of its stream or, if responses arrive on
// the stream of the session, a response.
func (x *exchangeReplay) fail(err error) {
	x.t.mu.Lock()
	x.t.failed = err
	x.t.mu.Unlock()
	if r := x.Response; r != nil && r.Stream != x.Stream {
		answer, _ := protocol.AppendResponse(nil, []byte(x.Live.ID), nil, &protocol.RPCError{
			Code:    -32603,
			Message: err.Error(),
		})
		_, _ = x.t.findFeed(r.Session, r.Stream).Write(appendEvent(nil, nil, answer, true))
		return
	}
	x.own.End(err)
}

// growTo returns the beginning of a message that is not kept whole, extended to its
// size up to the client's limit.
func growTo(data []byte, size int64) []byte {
	if size <= int64(len(data)) {
		return data
	}
	padding := bytes.Repeat([]byte{' '}, int(min(size, cassette.MaxMessage)))
	return append(slices.Clip(data), padding...)
}

func isStream(h *cassette.HTTP) bool {
	for k, v := range h.Header {
		if strings.EqualFold(k, "Content-Type") && len(v) > 0 {
			return strings.HasPrefix(strings.ToLower(v[0]), "text/event-stream")
		}
	}
	return false
}

// makeResponse returns the response to a request.
func makeResponse(req *http.Request, h *cassette.HTTP, body io.ReadCloser) *http.Response {
	header := http.Header{}
	for k, v := range h.Header {
		header[http.CanonicalHeaderKey(k)] = v
	}
	n := int64(-1)
	if body == http.NoBody {
		n = 0
	}
	return &http.Response{
		Status:        fmt.Sprintf("%d %s", h.Status, http.StatusText(h.Status)),
		StatusCode:    h.Status,
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    1,
		Header:        header,
		Body:          body,
		ContentLength: n,
		Request:       req,
	}
}
