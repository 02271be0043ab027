package tee

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"mime"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/web"
	"mcptest/internal/client/protocol"
	"mcptest/internal/tape/cassette"
)

// Proxy forwards the requests of HTTP clients to the server at an address, and
// records those that belong to MCP.
type Proxy struct {
	target *url.URL
	sse    bool
	tap    *Tap
	proxy  *httputil.ReverseProxy
	active sync.WaitGroup

	failed    func(error)
	elsewhere sync.Once // the client is sent to another server

	mu       sync.Mutex
	ids      map[string]int  // Mcp-Session-Id → session
	moved    map[string]bool // paths that the server's address redirects to
	sessions int
	latest   int         // the session of requests without an id
	streams  map[int]int // session → its exchanges so far
}

// NewProxy returns a proxy for the server at target, with sse one for the HTTP+SSE
// transport. failed is called with the error if a request could not be forwarded, or the
// client is sent to another server.
func NewProxy(target *url.URL, sse bool, tap *Tap, failed func(error)) *Proxy {
	p := &Proxy{
		target:  target,
		sse:     sse,
		tap:     tap,
		failed:  failed,
		ids:     map[string]int{},
		moved:   map[string]bool{},
		streams: map[int]int{},
	}
	p.proxy = &httputil.ReverseProxy{
		Transport:      web.NewForwarding(),        // recorded data must be readable
		FlushInterval:  -1,                         // immediately
		ErrorLog:       log.New(io.Discard, "", 0), // the recording says how a stream ended
		Rewrite:        p.rewrite,
		ModifyResponse: p.recordResponse,
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			x := exchangeOf(r)
			x.end(&cassette.End{Reason: err.Error(), Client: r.Context().Err() != nil})
			if r.Context().Err() == nil {
				failed(fmt.Errorf("%s %s: %w", r.Method, r.URL.Host, err))
			}
			w.WriteHeader(http.StatusBadGateway)
		},
	}
	return p
}

// Listen serves on addr, which is a port of the loopback or has a host, until ctx
// ends. ready is called with the address for clients.
func (p *Proxy) Listen(ctx context.Context, addr string, ready func(url string)) error {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		host, port = "", addr
	}
	host = cmp.Or(host, "127.0.0.1")
	l, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return err
	}
	srv := &http.Server{Handler: p}
	stop := context.AfterFunc(ctx, func() { srv.Close() })
	defer stop()
	ready("http://" + l.Addr().String() + p.target.EscapedPath())
	if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	p.active.Wait() // their records are complete
	return nil
}

// ServeHTTP forwards one request.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.active.Add(1)
	defer p.active.Done()
	if !p.checkAllowed(r) {
		http.Error(w, "Host is not allowed", http.StatusForbidden)
		return
	}
	x := &exchange{
		proxy:    p,
		host:     r.Host,
		moved:    p.hasMoved(r.URL.Path),
		method:   r.Method,
		header:   r.Header.Clone(),
		endpoint: strings.TrimSuffix(r.URL.Path, "/") == strings.TrimSuffix(p.target.Path, "/"),
	}
	r = r.WithContext(context.WithValue(r.Context(), exchangeKey{}, x))
	// The request is read to its end before it is forwarded: a server can respond before
	// it has read all of it, and net/http closes the request with the first byte of a
	// response.
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, "the request ended early: "+err.Error(), http.StatusBadRequest)
		return
	}
	x.recordSent(body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	p.proxy.ServeHTTP(w, r)
}

// checkAllowed refuses requests that a web page sends to the loopback address under its
// own name (DNS rebinding), because the server only sees its own name.
func (p *Proxy) checkAllowed(r *http.Request) bool {
	local, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	if !ok || !local.IP.IsLoopback() {
		return true
	}
	return web.IsLoopback((&url.URL{Host: r.Host}).Hostname())
}

func (p *Proxy) rewrite(r *httputil.ProxyRequest) {
	r.Out.URL.Scheme, r.Out.URL.Host, r.Out.Host = p.target.Scheme, p.target.Host, p.target.Host
	web.ForwardUnchanged(r)
	if exchangeOf(r.In).endpoint && p.target.RawQuery != "" {
		r.Out.URL.RawQuery = strings.TrimSuffix(p.target.RawQuery+"&"+r.In.URL.RawQuery, "&")
	}
	r.Out.Header.Del("Accept-Encoding")
}

// recordResponse records the head of a response, and arranges for its body to be recorded.
func (p *Proxy) recordResponse(res *http.Response) error {
	x := exchangeOf(res.Request)
	if x.session == 0 || res.StatusCode == http.StatusSwitchingProtocols {
		return nil
	}
	head := cassette.Frame{
		Session: x.session,
		Stream:  x.stream,
		Dir:     cassette.FromServer,
		HTTP:    &cassette.HTTP{Status: res.StatusCode, Header: res.Header.Clone()},
	}
	p.remember(res.Header.Get("Mcp-Session-Id"), x.session)
	p.rewriteRedirect(res, x)
	body := &tapped{body: res.Body}
	if kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")); kind == "text/event-stream" {
		p.tap.Frame(head)
		stream := p.tap.Events(cassette.Frame{Session: x.session, Stream: x.stream, Dir: cassette.FromServer})
		body.data = stream.Write
		body.end = func(eof bool) {
			stream.End()
			x.end(&cassette.End{Client: !eof})
		}
	} else {
		var whole bytes.Buffer
		record := sync.OnceFunc(func() {
			if whole.Len() > 0 {
				head.Data = whole.Bytes()
			}
			p.tap.Frame(head)
		})
		body.data = func(b []byte) {
			whole.Write(b)
			if complete(whole.Bytes(), res.ContentLength) {
				record() // before the client has it, and sends the next request
			}
		}
		body.end = func(bool) { record() }
		if res.ContentLength == 0 {
			record()
		}
	}
	res.Body = body
	if p.sse && x.method == http.MethodGet {
		res.Header.Del("Content-Length")
		res.Body = &endpointBody{ReadCloser: body, address: func(a string) string {
			return p.rewriteAddress(a, x.host)
		}}
	}
	return nil
}

// checkedBody is the size up to which a body of unknown length is checked for
// completeness.
const checkedBody = 1 << 20

func complete(b []byte, length int64) bool {
	if length >= 0 {
		return int64(len(b)) >= length
	}
	return len(b) < checkedBody && b[len(b)-1] == '}' && jsonv.Valid(b) == nil
}

// remember records the session of an id chosen by the server.
func (p *Proxy) remember(id string, session int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if id != "" {
		p.ids[id] = session
	}
}

// place returns the session of a request, and numbers its exchange.
func (p *Proxy) place(id string, begins bool) (session, stream int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	known := p.ids[id]
	switch {
	case id != "" && known > 0:
		session = known
	case begins || id != "" || p.latest == 0:
		p.sessions++
		session = p.sessions
		p.latest = session
		if id != "" {
			p.ids[id] = session
		}
	default:
		session = p.latest
	}
	p.streams[session]++
	return session, p.streams[session]
}

// exchange is one request with its response.
type exchange struct {
	proxy    *Proxy
	host     string // at which the client reached the proxy
	method   string
	header   http.Header
	endpoint bool // it was sent to the server's address
	moved    bool // it was sent to an address that this one redirects to

	session, stream int // 0: the exchange is not part of MCP
}

type exchangeKey struct{}

func exchangeOf(r *http.Request) *exchange {
	return r.Context().Value(exchangeKey{}).(*exchange) //nolint:forcetypeassert // set in ServeHTTP
}

// recordSent records the request.
func (x *exchange) recordSent(body []byte) {
	// Messages of HTTP+SSE are sent to a separate address.
	if !bytes.Contains(body, []byte(`"jsonrpc"`)) && (!x.endpoint && !x.moved || x.method == http.MethodOptions) {
		return
	}
	begins := x.method == http.MethodGet
	if !x.proxy.sse {
		begins = protocol.TextOf(protocol.MemberOf(body, "method")) == "initialize"
	}
	x.session, x.stream = x.proxy.place(x.header.Get("Mcp-Session-Id"), begins)
	f := cassette.Frame{
		Session: x.session,
		Stream:  x.stream,
		Dir:     cassette.ToServer,
		HTTP:    &cassette.HTTP{Method: x.method, Header: x.header},
	}
	if len(body) > 0 {
		f.Data = body
	}
	x.proxy.tap.Frame(f)
}

func (x *exchange) end(e *cassette.End) {
	if x.session > 0 {
		x.proxy.tap.Frame(cassette.Frame{Session: x.session, Stream: x.stream, Dir: cassette.FromServer, End: e})
	}
}

// tapped is a body that is recorded as it is read.
type tapped struct {
	body io.ReadCloser
	data func([]byte)
	end  func(eof bool)
	once sync.Once
}

// Read reads from the body.
func (t *tapped) Read(b []byte) (int, error) {
	n, err := t.body.Read(b)
	if n > 0 {
		t.data(b[:n])
	}
	if err != nil {
		t.once.Do(func() { t.end(errors.Is(err, io.EOF)) })
	}
	return n, err
}

// Close closes the body.
func (t *tapped) Close() error {
	t.once.Do(func() { t.end(false) })
	return t.body.Close()
}
