package openings

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/web"
	"mcptest/internal/client/protocol"
	"mcptest/internal/offer/opening"
	"mcptest/internal/run/connect"
)

// Limits of one response.
const (
	maxBody     = 16 << 20
	maxShown    = 2 << 10
	maxResumes  = 3
	resumePause = 100 * time.Millisecond // unless the server names another one
	endLimit    = 2 * time.Second        // of the end of a session
)

// posts is a line over HTTP.
type posts struct {
	r         *runner
	s         *opening.Script
	in        *inbox
	ctx       context.Context
	cancel    context.CancelFunc
	running   sync.WaitGroup
	transport *http.Transport

	mu        sync.Mutex
	session   string
	version   string // of the last request, for those that end the session
	listening bool
	made      bool // a connection was made
}

func newPosts(ctx context.Context, r *runner, s *opening.Script) (*posts, error) {
	config, err := connect.TLSConfig(r.o.Server)
	if err != nil {
		return nil, err
	}
	l := &posts{r: r, s: s, transport: web.Once(config)}
	l.transport.DisableKeepAlives = false
	l.ctx, l.cancel = context.WithCancel(ctx)
	l.in = newInbox(s, func(raw []byte) {
		l.running.Go(func() { l.answer(raw) })
	})
	return l, nil
}

// request makes a request with the server's credentials.
func (l *posts) request(ctx context.Context, method string, body []byte, header http.Header) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, l.r.o.Server.URL, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
	}
	req.Header.Set("User-Agent", l.r.o.Connect.UserAgent)
	if _, err := connect.Authorize(req, l.r.o.Server, l.r.o.Connect); err != nil {
		return nil, err
	}
	for name, values := range header {
		req.Header[name] = values
	}
	l.mu.Lock()
	if l.session != "" {
		req.Header.Set("Mcp-Session-Id", l.session)
	}
	if v := header.Get("MCP-Protocol-Version"); v != "" {
		l.version = v
	}
	l.mu.Unlock()
	client := &http.Client{Transport: l.transport, CheckRedirect: web.CheckSameOrigin}
	return client.Do(req)
}

// Send implements opening.Line.
func (l *posts) Send(ctx context.Context, f opening.Frame) opening.Answer {
	limit := l.r.limit(f, false)
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	l.in.expect(f)
	resp, err := l.request(ctx, http.MethodPost, f.Raw, f.Header)
	if err != nil {
		if ctx.Err() != nil {
			return opening.Answer{Silent: limit}
		}
		return l.newBroken(err)
	}
	defer resp.Body.Close()
	l.mu.Lock()
	l.made = true
	if id := resp.Header.Get("Mcp-Session-Id"); id != "" && f.Method == "initialize" {
		l.session = id
	}
	l.mu.Unlock()
	a := opening.Answer{Status: resp.StatusCode, ContentType: resp.Header.Get("Content-Type")}
	if !f.Asks {
		_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, maxShown))
		return a
	}
	l.readBody(ctx, resp, &a)
	wait := time.Duration(0)
	if l.mayStillCome(a) {
		wait = time.Until(findDeadline(ctx))
	}
	got := l.in.await(ctx, f, wait)
	got.Status, got.ContentType, got.Body, got.Ended = a.Status, a.ContentType, a.Body, a.Ended
	if got.Silent > 0 {
		got.Silent = 0
		if ctx.Err() != nil {
			got.Silent = limit
		}
	}
	return got
}

func findDeadline(ctx context.Context) time.Time {
	at, _ := ctx.Deadline()
	return at
}

// mayStillCome reports whether the response can come on the stream of the session.
func (l *posts) mayStillCome(a opening.Answer) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return a.Status == http.StatusAccepted && l.listening
}

// newBroken is the answer of a request that failed.
func (l *posts) newBroken(err error) opening.Answer {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	text := err.Error()
	if i := strings.LastIndex(text, ": "); i >= 0 {
		text = text[i+2:]
	}
	refused := strings.Contains(text, "refused")
	return opening.Answer{Ended: "closes the connection (" + text + ")", Gone: refused}
}

// readBody reads the body of a response to a request; a stream that ends early is resumed.
func (l *posts) readBody(ctx context.Context, resp *http.Response, a *opening.Answer) {
	if protocol.IsEventStream(a.ContentType) && resp.StatusCode < http.StatusBadRequest {
		last, pause := l.readEvents(resp.Body)
		for n := 0; last != "" && n < maxResumes && l.isMissing() && ctx.Err() == nil; n++ {
			last, pause = l.resume(ctx, last, pause)
		}
		return
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxBody))
	a.Body = body[:min(len(body), maxShown)]
	if err != nil && ctx.Err() == nil {
		a.Ended = "breaks off its response"
		return
	}
	if v, err := jsonv.Parse(body); err == nil && v.Kind() >= jsonv.KindArray {
		l.in.put(body)
	}
}

// isMissing reports whether the response has not come.
func (l *posts) isMissing() bool {
	l.in.mu.Lock()
	defer l.in.mu.Unlock()
	return l.in.message.IsAbsent()
}

// readEvents reads an event stream until the response has come. It returns the id of the last
// event, with which the stream can be resumed, and the pause before that.
func (l *posts) readEvents(body io.Reader) (last string, pause time.Duration) {
	parser := protocol.EventParser{Limit: maxBody}
	buf := make([]byte, 32<<10)
	for l.isMissing() {
		n, err := body.Read(buf)
		parser.Feed(buf[:n], func(e protocol.Event) {
			if e.Type == "" || e.Type == "message" {
				l.in.put(e.Data)
			}
		})
		if err != nil {
			break
		}
	}
	pause = resumePause
	if parser.Wants {
		pause = parser.Retry
	}
	return parser.LastID, pause
}

// resume continues a stream that the server closed before its response.
func (l *posts) resume(ctx context.Context, last string, pause time.Duration) (string, time.Duration) {
	select {
	case <-time.After(pause):
	case <-ctx.Done():
		return "", 0
	}
	resp, err := l.request(ctx, http.MethodGet, nil, http.Header{
		"Accept": {"text/event-stream"}, "Last-Event-Id": {last}, "Mcp-Protocol-Version": {l.findLastVersion()},
	})
	if err != nil {
		return "", 0
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return "", 0
	}
	next, pause := l.readEvents(resp.Body)
	if next == "" {
		next = last
	}
	return next, pause
}

func (l *posts) findLastVersion() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.version
}

// answer sends a response to a request of the server.
func (l *posts) answer(raw []byte) {
	ctx, cancel := context.WithTimeout(l.ctx, endLimit)
	defer cancel()
	header := http.Header{}
	if v := l.findLastVersion(); v != "" {
		header.Set("MCP-Protocol-Version", v)
	}
	if resp, err := l.request(ctx, http.MethodPost, raw, header); err == nil {
		resp.Body.Close()
	}
}

// Listen implements opening.Line. A server without such a stream refuses it, which is right.
func (l *posts) Listen(_ context.Context, header http.Header) {
	h := header.Clone()
	h.Set("Accept", "text/event-stream")
	l.mu.Lock()
	l.listening = true
	l.mu.Unlock()
	l.running.Go(func() {
		defer func() {
			l.mu.Lock()
			l.listening = false
			l.mu.Unlock()
		}()
		resp, err := l.request(l.ctx, http.MethodGet, nil, h)
		if err != nil {
			return
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK || !protocol.IsEventStream(resp.Header.Get("Content-Type")) {
			return
		}
		parser := protocol.EventParser{Limit: maxBody}
		buf := make([]byte, 32<<10)
		for {
			n, err := resp.Body.Read(buf)
			parser.Feed(buf[:n], func(e protocol.Event) { l.in.put(e.Data) })
			if err != nil {
				return
			}
		}
	})
}

// Fresh implements opening.Line.
func (l *posts) Fresh(context.Context) error {
	l.end()
	return nil
}

// end ends the session.
func (l *posts) end() {
	l.mu.Lock()
	session := l.session
	l.mu.Unlock()
	if session == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(l.ctx), endLimit)
	defer cancel()
	header := http.Header{}
	if v := l.findLastVersion(); v != "" {
		header.Set("MCP-Protocol-Version", v)
	}
	if resp, err := l.request(ctx, http.MethodDelete, nil, header); err == nil {
		resp.Body.Close()
	}
	l.mu.Lock()
	l.session = ""
	l.mu.Unlock()
}

// close ends the session and every request.
func (l *posts) close() {
	l.end()
	l.cancel()
	l.running.Wait()
	l.transport.CloseIdleConnections()
}
