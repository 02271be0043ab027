package wire

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"mcptest/internal/base/web"
	"mcptest/internal/client/protocol"
	"mcptest/internal/process/proc"
)

// Kinds of HTTP transport, as HTTPOptions.Kind names them.
const (
	HTTPAuto       = "auto"            // Streamable HTTP, or HTTP+SSE if the server only supports that
	StreamableHTTP = "streamable-http" // one endpoint (MCP 2025-03-26 and later)
	HTTPSSE        = "sse"             // two endpoints (MCP 2024-11-05)
)

// HTTPOptions configure an HTTP transport.
type HTTPOptions struct {
	Kind      string      // HTTPAuto (or ""), StreamableHTTP or HTTPSSE
	Header    http.Header // sent with every request
	TLS       *tls.Config // nil: the system's certificate authorities
	UserAgent string      // default "mcptest"
	Limits    Limits
	// Retries limits how often a request that was answered with 429 or 503 is sent
	// again. Nil means twice, if the server sends Retry-After, and never for a
	// tools/call unless the tool declares idempotentHint.
	Retries *int
	// Patience limits how often any request, also a call without idempotentHint, is
	// sent again after 429 or 503 with Retry-After: it was not carried out. 0 means
	// that Retries applies.
	Patience int
	// Auth handles challenges; nil: a 401 is an error.
	Auth Authorizer
	// Wrap, if not nil, returns the RoundTripper that replaces the given one.
	Wrap func(http.RoundTripper) http.RoundTripper
	// Receive, if not nil, returns the Receiver that replaces the given one.
	Receive func(Receiver) Receiver
}

// Authorizer adds credentials to requests.
type Authorizer interface {
	// Authorize is called before each request; it may set headers.
	Authorize(ctx context.Context, req *http.Request) error
	// Challenged is called with a 401 or 403 response, whose body it must not keep.
	// It reports whether to send the request again.
	Challenged(ctx context.Context, resp *http.Response) (again bool, err error)
	// Reuse adds the token that Authorize or Challenged got last, if there is one. It
	// gets no other, and waits for nothing.
	Reuse(req *http.Request)
}

// Limits of HTTP.
const (
	bodyExcerpt    = 2 << 10
	maxIdleConns   = 64
	drainTime      = 500 * time.Millisecond // for reading the rest of a stream after its response
	drainBytes     = 64 << 10               // of a body that is discarded
	deleteTime     = 2 * time.Second        // for ending the session
	maxHeaderBytes = 1 << 20
	dialTime       = 30 * time.Second
)

// HTTP communicates with one server over HTTP: Streamable HTTP in both eras, or
// HTTP+SSE. The caller of Send sends a request and reads its response.
type HTTP struct {
	o    HTTPOptions
	url  *url.URL
	lim  Limits
	pool *http.Transport
	rt   http.RoundTripper // pool, unless it is wrapped
	sink Receiver
	base http.Header // sent with every POST
	// Created once, for every request.
	address string
	proto   *http.Request

	guest bool         // see AsGuest
	wrote atomic.Bool  // a request was written
	heard atomic.Int64 // time of the last response or token, in Unix nanoseconds
	busy  atomic.Int32 // number of logins and requested pauses in progress

	ctx  context.Context // canceled at the end of the transport
	stop context.CancelFunc
	wg   sync.WaitGroup

	mu       sync.Mutex
	session  string // Mcp-Session-Id, "" for none
	usual    *usualHeaders
	protocol string // of the last initialized message, for GET and DELETE
	stream   context.CancelFunc
	bye      int // see Facts
	side     SideEvents
	old      *endpointStream // non-nil: HTTP+SSE
	closed   bool
}

// NewHTTP returns a transport over HTTP. Nothing is sent before the first message.
// The address is http or https; user information in it is sent as an Authorization
// header.
func NewHTTP(address string, o HTTPOptions) (Transport, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, &OpenError{Phase: "start", Cause: fmt.Errorf("%q is not an http or https address", address)}
	}
	o.Kind = cmp.Or(o.Kind, HTTPAuto)
	o.UserAgent = cmp.Or(o.UserAgent, "mcptest")
	t := &HTTP{o: o, url: u, lim: o.Limits.FillDefaults()}
	t.base = http.Header{}
	if u.User != nil {
		password, _ := u.User.Password()
		t.base.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(u.User.Username()+":"+password)))
		clean := *u
		clean.User = nil
		t.url = &clean
	}
	t.base.Set("User-Agent", o.UserAgent)
	for k, v := range o.Header {
		t.base[http.CanonicalHeaderKey(k)] = v
	}
	t.address = t.url.String()
	t.proto = &http.Request{Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}
	t.pool = &http.Transport{
		Proxy:                  findProxy(t.url),
		DialContext:            (&net.Dialer{Timeout: dialTime, KeepAlive: 30 * time.Second}).DialContext,
		TLSClientConfig:        o.TLS,
		TLSHandshakeTimeout:    dialTime,
		ForceAttemptHTTP2:      true,
		MaxIdleConns:           maxIdleConns,
		MaxIdleConnsPerHost:    maxIdleConns,
		IdleConnTimeout:        web.KeepIdle,
		MaxResponseHeaderBytes: maxHeaderBytes,
	}
	t.rt = t.pool
	if o.Wrap != nil {
		t.rt = o.Wrap(t.pool)
	}
	t.ctx, t.stop = context.WithCancel(context.Background())
	return t, nil
}

// findProxy reads the proxy from the environment once, because every request goes to
// the same origin.
func findProxy(u *url.URL) func(*http.Request) (*url.URL, error) {
	proxy, err := http.ProxyFromEnvironment(&http.Request{URL: u})
	if proxy == nil && err == nil {
		return nil
	}
	return func(*http.Request) (*url.URL, error) { return proxy, err }
}

// Start sets the receiver; nothing is sent before the first message.
func (t *HTTP) Start(sink Receiver) error {
	t.sink = sink
	if t.o.Receive != nil {
		t.sink = t.o.Receive(sink)
	}
	return nil
}

// Facts describes the connection.
func (t *HTTP) Facts() Facts {
	t.mu.Lock()
	defer t.mu.Unlock()
	f := Facts{Kind: StreamableHTTP, URL: t.address, Bye: t.bye}
	if t.old != nil || t.o.Kind == HTTPSSE {
		f.Kind = HTTPSSE
	}
	return f
}

// SideEvents returns what became of the stream of the session.
func (t *HTTP) SideEvents() []SideEvent { return t.side.List() }

// Send posts one message. For a call it returns after the response was read, or
// earlier if the call was canceled; it reports a failure to Receiver.OnFailure.
func (t *HTTP) Send(ctx context.Context, out Outgoing) error {
	if out.Stream == "" {
		out.Stream = out.ID
		if out.Method == "" {
			out.Stream = "" // nothing responds to a response of the client
		}
	}
	if protocol.VersionOf(out.Protocol).Stateless && out.Method == "notifications/cancelled" {
		return nil // the end of the response stream has reported it
	}
	old, err := t.openOldStream(ctx)
	if err == nil && old == nil {
		err = t.post(ctx, out)
		if out.Method == "initialize" && t.o.Kind == HTTPAuto && isNotStreamable(err) {
			old, err = t.fallBack(ctx, err)
		}
	}
	if err == nil && old != nil {
		err = t.postOld(ctx, old, out)
	}
	if err == nil || out.Stream == "" {
		return err
	}
	if !errors.Is(err, errGivenUp) && (ctx.Err() == nil || t.ctx.Err() != nil) {
		t.sink.OnFailure(out.Stream, err, findInfo(err))
	}
	return nil
}

// openOldStream returns the HTTP+SSE connection if there is, or must be, one.
func (t *HTTP) openOldStream(ctx context.Context) (*endpointStream, error) {
	t.mu.Lock()
	old := t.old
	t.mu.Unlock()
	if old != nil || t.o.Kind != HTTPSSE {
		return old, nil
	}
	return t.connectOld(ctx)
}

// requestContext returns a context for one request that outlives its caller, because
// the rest of a stream is read in the background.
func (t *HTTP) requestContext(ctx context.Context, cancelAfter time.Duration) (context.Context, func() bool, context.CancelFunc) {
	rctx, cancel := context.WithCancel(t.ctx)
	detach := context.AfterFunc(ctx, cancel)
	if cancelAfter > 0 {
		timer := time.AfterFunc(cancelAfter, cancel)
		inner := detach
		detach = func() bool { timer.Stop(); return inner() }
	}
	return rctx, detach, cancel
}

// usualHeaders are the headers of messages without their own headers. They are never
// modified.
type usualHeaders struct {
	session, protocol string
	header            http.Header
}

// makeHeaders returns the headers of one message. They may be shared and must be copied
// before a modification.
func (t *HTTP) makeHeaders(out *Outgoing) http.Header {
	v := protocol.VersionOf(out.Protocol)
	if out.Header != nil || out.Mirror != nil || out.Method == "initialize" || v.Stateless {
		return t.build(out)
	}
	t.mu.Lock()
	u, session := t.usual, t.session
	t.mu.Unlock()
	if u == nil || u.session != session || u.protocol != out.Protocol {
		u = &usualHeaders{session, out.Protocol, t.build(out)}
		t.mu.Lock()
		t.usual = u
		t.mu.Unlock()
	}
	return u.header
}

// build returns new headers of one message.
func (t *HTTP) build(out *Outgoing) http.Header {
	h := make(http.Header, len(t.base)+len(out.Header)+8)
	h["Content-Type"] = jsonType
	h["Accept"] = acceptBoth
	maps.Copy(h, t.base)
	v := protocol.VersionOf(out.Protocol)
	if v.VersionHeader {
		h["Mcp-Protocol-Version"] = []string{out.Protocol}
	}
	switch {
	case v.Stateless:
		addStatelessHeaders(h, out)
	case out.Method != "initialize":
		t.mu.Lock()
		if t.session != "" {
			h["Mcp-Session-Id"] = []string{t.session}
		}
		t.mu.Unlock()
	}
	maps.Copy(h, out.Mirror)
	for k, v := range out.Header {
		h[http.CanonicalHeaderKey(k)] = v
	}
	return h
}

var (
	jsonType   = []string{"application/json"}
	acceptBoth = []string{"application/json, text/event-stream"}
	acceptSSE  = []string{"text/event-stream"}
)

// Awaits returns the time of the last response, and whether the client waits for
// another one. It does not while it connects, before it has written a request, during a
// login, and during a pause that the server requested.
func (t *HTTP) Awaits() (heard time.Time, waits bool) {
	return time.Unix(0, t.heard.Load()), t.wrote.Load() && t.busy.Load() == 0
}

// AsGuest restricts the transport, before its first message, to the requests of its
// caller: it uses the token that exists, but never logs in, and does not try another
// kind of transport.
func (t *HTTP) AsGuest() {
	t.guest = true
	if t.o.Kind == HTTPAuto {
		t.o.Kind = StreamableHTTP
	}
}

// beginPause marks such a wait, until the function it returns is called.
func (t *HTTP) beginPause() (over func()) {
	t.busy.Add(1)
	return func() {
		t.heard.Store(time.Now().UnixNano())
		t.busy.Add(-1)
	}
}

// Close ends the session with DELETE and closes every stream.
func (t *HTTP) Close(ctx context.Context) proc.Stopped {
	t.mu.Lock()
	again, session := t.closed, t.session
	t.closed = true
	t.mu.Unlock()
	if !again && session != "" {
		t.endSession(ctx, session)
	}
	t.stop()
	t.wg.Wait()
	t.pool.CloseIdleConnections()
	return proc.Stopped{}
}

// endSession requests the end of the session. The server may reject that (405).
func (t *HTTP) endSession(ctx context.Context, session string) {
	ctx, cancel := context.WithTimeout(ctx, deleteTime)
	defer cancel()
	resp, err := t.sendWithoutBody(ctx, http.MethodDelete, t.url, http.Header{"Mcp-Session-Id": {session}})
	if err != nil {
		return
	}
	drain(resp.Body)
	t.mu.Lock()
	t.bye = resp.StatusCode
	t.mu.Unlock()
}

// sendWithoutBody sends a request without a body.
func (t *HTTP) sendWithoutBody(ctx context.Context, verb string, u *url.URL, h http.Header) (*http.Response, error) {
	for k, v := range t.base {
		if _, ok := h[k]; !ok {
			h[k] = v
		}
	}
	t.mu.Lock()
	if protocol.VersionOf(t.protocol).VersionHeader {
		h["Mcp-Protocol-Version"] = []string{t.protocol}
	}
	t.mu.Unlock()
	return t.sendRequest(ctx, &httpRequest{verb: verb, url: u, header: h})
}

// applyResponse stores what a message changes for later ones.
func (t *HTTP) applyResponse(ctx context.Context, out *Outgoing, resp *http.Response) {
	switch out.Method {
	case "initialize":
		id := resp.Header.Get("Mcp-Session-Id")
		t.mu.Lock()
		if t.stream != nil {
			t.stream()
			t.stream = nil
		}
		t.session = id
		t.mu.Unlock()
		if !isVisibleASCII(id) {
			t.sink.OnViolation(out.Stream, protocol.Violation{Kind: protocol.SessionID, Msg: "Mcp-Session-Id has characters that are not visible ASCII", Excerpt: protocol.Excerpt([]byte(id))})
		}
	case "notifications/initialized":
		t.mu.Lock()
		t.protocol = out.Protocol
		t.mu.Unlock()
		t.listen(ctx)
	}
}

func isVisibleASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r < 0x21 || r > 0x7e }) < 0
}

// addStatelessHeaders sets the headers that repeat parts of a message (MCP
// 2026-07-28 transports).
func addStatelessHeaders(h http.Header, out *Outgoing) {
	if out.Method == "" {
		return
	}
	h["Mcp-Method"] = []string{protocol.HeaderValue(out.Method)}
	if name := protocol.NameOf(out.Method, out.Params); name != "" {
		h["Mcp-Name"] = []string{protocol.HeaderValue(name)}
	}
}

// Replaced reports whether a new session was opened since the lost one.
func (t *HTTP) Replaced(lost *SessionLostError) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.session != lost.session
}
