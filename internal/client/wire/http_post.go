package wire

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"mcptest/internal/client/protocol"
)

// post sends one message to the endpoint and delivers the response. The error is nil
// if the call is complete or its caller has canceled it.
func (t *HTTP) post(ctx context.Context, out Outgoing) error {
	rctx, detach, cancel := t.requestContext(ctx, out.CancelAfter)
	x := &httpExchange{t: t, out: &out, ctx: rctx, cancel: cancel, release: detach}
	x.until, _ = ctx.Deadline()
	err := x.run()
	if !x.handedOver {
		detach()
		cancel()
	}
	return err
}

// httpExchange is one POST and its response.
type httpExchange struct {
	t       *HTTP
	out     *Outgoing
	ctx     context.Context
	until   time.Time // the caller's deadline, or zero
	cancel  context.CancelFunc
	release func() bool // detaches the exchange from the caller's context
	info    *HTTPInfo

	handedOver bool // the rest is read in the background
	events     int
	resumed    int
}

func (x *httpExchange) run() error {
	t := x.t
	r := &httpRequest{
		verb:   http.MethodPost,
		url:    t.url,
		header: t.makeHeaders(x.out),
		body:   x.out.Raw,
		until:  x.until,
	}
	t.mayRepeat(r, x.out)
	session := r.header.Get("Mcp-Session-Id")
	resp, err := t.sendRequest(x.ctx, r)
	if err != nil {
		return x.explainNoResponse(err)
	}
	x.info = &HTTPInfo{
		Status: resp.StatusCode, Header: resp.Header, ContentType: resp.Header.Get("Content-Type"),
		Attempts: r.attempts, Tries: r.tries, NotAgain: r.notAgain,
	}
	if x.out.Stream == "" {
		return x.acceptResponse(resp)
	}
	t.sink.OnHTTP(x.out.Stream, x.info)
	if ok(resp.StatusCode) {
		t.applyResponse(x.ctx, x.out, resp)
	}
	media := parseMediaType(x.info.ContentType)
	coding := resp.Header.Get("Content-Encoding")
	switch {
	case coding != "" && !strings.EqualFold(coding, "identity"):
		// net/http has removed the encoding that it requested.
		drain(resp.Body)
		return x.refuse(fmt.Sprintf("the body has the content encoding %s, which is not read: only gzip is, and only where no Accept-Encoding is set", quoteType(coding)), nil)
	case media == "text/event-stream" && ok(resp.StatusCode):
		return x.stream(resp.Body)
	case resp.StatusCode == http.StatusAccepted || resp.StatusCode == http.StatusNoContent:
		drain(resp.Body)
		return x.refuse("the request was accepted but got no response", nil)
	}
	return x.readResponse(resp, isJSON(media), session)
}

// mayRepeat sets the policy of 429 and 503 for a message.
func (t *HTTP) mayRepeat(r *httpRequest, out *Outgoing) {
	switch {
	case t.o.Patience > 0:
		r.retries = t.o.Patience
	case t.o.Retries != nil:
		r.retries, r.blindly = *t.o.Retries, true
	case out.Method == "tools/call" && out.Idempotent == nil:
	case out.Method == "tools/call":
		r.retries, r.asks = retryDefault, out
	default:
		r.retries = retryDefault
	}
}

// explainNoResponse returns the error of a request without a response.
func (x *httpExchange) explainNoResponse(err error) error {
	if x.ctx.Err() != nil && x.t.ctx.Err() == nil {
		return errGivenUp // canceled: the error is ignored
	}
	return &ConnectError{Method: x.out.Method, URL: x.t.address, Err: err, Info: x.info}
}

// acceptResponse handles the HTTP response to a notification or to a response of the client.
func (x *httpExchange) acceptResponse(resp *http.Response) error {
	if ok(resp.StatusCode) {
		if parseMediaType(x.info.ContentType) == "text/event-stream" {
			_ = resp.Body.Close() // it cannot contain a response
		} else {
			x.reportUnexpected(resp.Body)
		}
		x.t.applyResponse(x.ctx, x.out, resp)
		return nil
	}
	x.info.Body = readHead(resp.Body)
	return x.refuse("", parseRPCError(x.info.Body))
}

// reportUnexpected reports a JSON-RPC error in a body that accepts a message without a
// response.
func (x *httpExchange) reportUnexpected(body io.ReadCloser) {
	raw, _ := io.ReadAll(io.LimitReader(body, bodyExcerpt))
	drain(body)
	if parseRPCError(raw) == nil || protocol.MemberOf(raw, "jsonrpc") == nil {
		return
	}
	kind := protocol.UnknownID
	if id := protocol.MemberOf(raw, "id"); id == nil {
		kind = protocol.MissingID
	} else if string(id) == "null" {
		kind = protocol.NullID
	}
	msg := "an error as response to " + cmp.Or(x.out.Method, "a response") + ", which has none"
	x.t.sink.OnViolation("", protocol.Violation{Kind: kind, Msg: msg, Excerpt: protocol.Excerpt(raw)})
}

func ok(status int) bool { return status >= 200 && status < 300 }

func (x *httpExchange) refuse(note string, rpc *protocol.RPCError) error {
	return &HTTPError{Method: x.out.Method, Note: note, RPC: rpc, Info: x.info}
}

// readResponse reads a response that is a single body.
func (x *httpExchange) readResponse(resp *http.Response, json bool, session string) error {
	defer resp.Body.Close()
	b := bodies.Get().(*bytes.Buffer)
	defer func() {
		if b.Cap() <= keepBuffer {
			b.Reset()
			bodies.Put(b)
		}
	}()
	limit := int64(x.t.lim.Message)
	if !ok(resp.StatusCode) && !json {
		limit = bodyExcerpt
	}
	if n := resp.ContentLength; n > 0 && n <= limit {
		b.Grow(int(n) + bytes.MinRead)
	}
	n, err := b.ReadFrom(io.LimitReader(resp.Body, limit+1))
	if err != nil && n <= limit {
		x.info.Body = bytes.Clone(b.Bytes()[:min(b.Len(), bodyExcerpt)])
		if x.ctx.Err() != nil && x.t.ctx.Err() == nil {
			return errGivenUp
		}
		return &ConnectError{
			Method: x.out.Method, URL: x.t.address, Info: x.info,
			Err: fmt.Errorf("the connection broke in the body of the response, after %s: %w", FormatByteSize(n), err),
		}
	}
	if n > limit && ok(resp.StatusCode) {
		x.t.reportTooLong(x.out.Stream, x.out.Method, "a message over the limit of "+FormatByteSize(limit),
			b.Bytes(), x.info)
		return nil
	}
	return x.readBody(b, json, session)
}

// readBody delivers a body that contains the response, or returns an error.
func (x *httpExchange) readBody(b *bytes.Buffer, json bool, session string) error {
	raw := protocol.TrimSpace(b.Bytes())
	good, call := ok(x.info.Status), x.out.ID != ""
	answers := func() bool {
		if !call || len(raw) == 0 || raw[0] != '{' {
			return false
		}
		return bytes.Equal(protocol.MemberOf(raw, "id"), []byte(x.out.ID))
	}
	switch {
	case !good && answers() && protocol.MemberOf(raw, "result") != nil && protocol.MemberOf(raw, "error") == nil:
		// A client that checks the status never sees this result.
		x.info.Body = bytes.Clone(raw[:min(len(raw), bodyExcerpt)])
		return x.refuse("a response with this status can't contain a result", nil)
	case session != "" && x.out.Method != "" && x.out.Method != "initialize" && losesSession(x.info.Status, raw):
		x.info.Body = bytes.Clone(raw[:min(len(raw), bodyExcerpt)])
		return &SessionLostError{Method: x.out.Method, Info: x.info, session: session}
	case json && (good || answers() || x.out.Method == "" || !call), answers():
	default:
		x.info.Body = bytes.Clone(raw[:min(len(raw), bodyExcerpt)])
		note := ""
		if good {
			note = "this is not a response"
		}
		return x.refuse(note, parseRPCError(raw))
	}
	if len(raw) == 0 {
		return x.refuse("the body is empty", nil)
	}
	if !json {
		x.t.sink.OnViolation(x.out.Stream, protocol.Violation{
			Kind: protocol.ContentType, Msg: "the response has the content type " + quoteType(x.info.ContentType) + ", expected application/json",
			Excerpt: protocol.Excerpt(raw),
		})
	}
	kept := x.t.sink.OnFrame(Frame{
		Dir:    FromServer,
		At:     time.Now(),
		Raw:    raw,
		Stream: x.out.Stream,
		Whole:  true,
	})
	if kept {
		*b = bytes.Buffer{}
	}
	x.t.sink.OnDrained()
	if !x.t.sink.Pending(x.out.Stream) {
		return nil
	}
	if !kept {
		x.info.Body = bytes.Clone(raw[:min(len(raw), bodyExcerpt)])
	}
	return x.refuse("the body is not a response to the request", nil)
}

func quoteType(s string) string {
	if s == "" {
		return "none"
	}
	return `"` + protocol.Excerpt([]byte(s)) + `"`
}

// bodies are buffers for complete bodies.
var bodies = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// readHead reads the beginning of a body.
func readHead(b io.ReadCloser) []byte {
	defer b.Close()
	out, _ := io.ReadAll(io.LimitReader(b, bodyExcerpt))
	return protocol.TrimSpace(out)
}

// parseRPCError returns the JSON-RPC error in a body, or nil.
func parseRPCError(body []byte) *protocol.RPCError {
	e := protocol.MemberOf(body, "error")
	if protocol.KindOf(e).String() != "object" {
		return nil
	}
	return protocol.ParseRPCError(e)
}

func parseMediaType(contentType string) string {
	m, _, _ := strings.Cut(contentType, ";")
	return strings.ToLower(strings.TrimSpace(m))
}

func isJSON(media string) bool {
	return media == "application/json" || strings.HasSuffix(media, "+json")
}

// errGivenUp ends an exchange whose caller has stopped waiting.
var errGivenUp = errors.New("given up")

// errComplete stops reading a stream whose call is complete.
var errComplete = errors.New("the call is complete")
