package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"mcptest/internal/client/protocol"
)

// endpointStream is a connection of HTTP+SSE (MCP 2024-11-05): one stream for all
// messages of the server, whose first event contains the address to post to.
type endpointStream struct {
	post *url.URL
	info *HTTPInfo
}

// connectOld opens the stream and waits for the endpoint event.
func (t *HTTP) connectOld(ctx context.Context) (*endpointStream, error) {
	sctx, cancel := context.WithCancel(t.ctx)
	detach := context.AfterFunc(ctx, cancel)
	late := newLateDeadline(ctx, cancel)
	defer late.stop()
	resp, err := t.requestEvents(sctx, t.url, "")
	if err != nil {
		detach()
		cancel()
		if late.over.Load() && ctx.Err() == nil {
			err = &EndpointError{Err: late.explain(0, err)}
		}
		return nil, err
	}
	s := &endpointStream{info: &HTTPInfo{Status: resp.StatusCode, Header: resp.Header, ContentType: resp.Header.Get("Content-Type")}}
	p := &protocol.EventParser{Limit: t.lim.Message}
	if err := s.await(t, resp.Body, p, late); err != nil {
		detach()
		cancel()
		_ = resp.Body.Close()
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, &EndpointError{Err: err, Info: s.info}
	}
	detach()
	t.mu.Lock()
	t.old = s
	t.mu.Unlock()
	if !t.spawn(func() {
		defer cancel()
		t.readAll(resp.Body, p, nil, nil)
		t.sink.OnEnd(&ClosedError{Reason: "the server ended the event stream"})
	}) {
		cancel()
	}
	return s, nil
}

// await reads until the endpoint event.
func (s *endpointStream) await(t *HTTP, body io.Reader, p *protocol.EventParser, late *deadline) error {
	buf := make([]byte, eventBuffer)
	var wrong error
	others := 0
	for s.post == nil && wrong == nil {
		n, err := body.Read(buf)
		at := time.Now()
		p.Feed(buf[:n], func(ev protocol.Event) {
			switch {
			case s.post != nil:
				t.handleEvent(ev, nil, at, nil)
			case wrong == nil && ev.Type == "endpoint":
				s.post, wrong = parseEndpoint(t.url, string(ev.Data))
			case ev.Type != "endpoint":
				others++
			}
		})
		if err != nil && s.post == nil && wrong == nil {
			return late.explain(others, err)
		}
	}
	return wrong
}

// parseEndpoint resolves the address to post to. It must have the same origin: the server
// must not choose where credentials are sent.
func parseEndpoint(base *url.URL, text string) (*url.URL, error) {
	u, err := base.Parse(strings.TrimSpace(text))
	if err != nil {
		return nil, fmt.Errorf("the endpoint event contains %q, which is not an address", protocol.Excerpt([]byte(text)))
	}
	if u.Scheme != base.Scheme || !strings.EqualFold(u.Host, base.Host) {
		return nil, fmt.Errorf("the endpoint event names another origin: %s://%s", u.Scheme, protocol.Excerpt([]byte(u.Host)))
	}
	u.User = nil
	return u, nil
}

// postOld posts one message; the response arrives on the stream.
func (t *HTTP) postOld(ctx context.Context, s *endpointStream, out Outgoing) error {
	if out.Stream != "" {
		// The response may arrive before the status of the POST, so a call shows the
		// HTTP response of the stream.
		t.sink.OnHTTP(out.Stream, s.info)
	}
	rctx, detach, cancel := t.requestContext(ctx, 0)
	defer cancel()
	defer detach()
	r := &httpRequest{verb: http.MethodPost, url: s.post, header: t.makeHeaders(&out), body: out.Raw}
	t.mayRepeat(r, &out)
	resp, err := t.sendRequest(rctx, r)
	if err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if errors.Is(err, context.Canceled) {
			return nil // the session is being closed, which is the better error
		}
		return &ConnectError{Method: out.Method, URL: s.post.String(), Err: err}
	}
	info := &HTTPInfo{
		Status:      resp.StatusCode,
		Header:      resp.Header,
		ContentType: resp.Header.Get("Content-Type"),
		Attempts:    r.attempts,
		Tries:       r.tries,
	}
	if ok(resp.StatusCode) {
		drain(resp.Body)
		return nil
	}
	info.Body = readHead(resp.Body)
	return &HTTPError{Method: out.Method, Info: info, RPC: parseRPCError(info.Body)}
}
