package proxy

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"net/http/httputil"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"mcptest/internal/base/web"
	"mcptest/internal/server/upstream"
)

// Problem is a request of a program that the proxy could not fulfill.
type Problem struct {
	Kind    string // of the constants below
	Host    string
	Message string
}

// The kinds of problems.
const (
	Undeclared  = "undeclared-host"
	Untrusted   = "untrusted-certificate"
	Unsupported = "unsupported-protocol"
)

// Host handles the requests for a host, and records those that the proxy refused.
type Host interface {
	http.Handler
	Refuse(upstream.Refusal)
}

// Options configure a proxy.
type Options struct {
	// Hosts maps the declared hosts, without ports, to the handlers of their
	// requests.
	Hosts map[string]Host
	// Ports are the ports of those hosts that are not at 80 and 443.
	Ports map[string]string
	// Pass reports whether a connection to an address of this machine, such as that of
	// another double, is allowed.
	Pass func(addr string) bool
	// Report receives each problem once for each host.
	Report func(Problem)
}

// The limits of waiting for a client.
const (
	handshakeTime = 10 * time.Second
	headerTime    = 30 * time.Second
)

// Proxy is a running proxy.
type Proxy struct {
	options Options
	ca      *authority
	folder  string

	front net.Listener // of the proxy's clients
	outer *http.Server
	inner *http.Server // of requests within tunnels
	conns *connListener
	// guardOuter and guardInner are around the listeners of the two servers.
	guardOuter, guardInner func(net.Listener) net.Listener

	tunnels  closers
	reported sync.Map // of Problem without its message
}

// Start starts a proxy on a free loopback port. The certificate of its authority is
// in a separate folder, which Close removes.
func Start(o Options) (*Proxy, error) {
	ca, err := newAuthority(slices.Collect(maps.Keys(o.Hosts)))
	if err != nil {
		return nil, err
	}
	p := &Proxy{options: o, ca: ca}
	if p.folder, err = os.MkdirTemp("", "mcptest-proxy-"); err != nil {
		return nil, fmt.Errorf("write the certificate of the proxy: %w", err)
	}
	if err := os.WriteFile(p.certificate(), ca.pem, 0o600); err != nil {
		_ = os.RemoveAll(p.folder)
		return nil, fmt.Errorf("write the certificate of the proxy: %w", err)
	}
	if p.front, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		_ = os.RemoveAll(p.folder)
		return nil, fmt.Errorf("listen for the proxy: %w", err)
	}
	p.conns = &connListener{addr: p.front.Addr(), next: make(chan net.Conn), done: make(chan struct{})}
	quiet := log.New(io.Discard, "", 0)
	p.outer = &http.Server{Handler: http.HandlerFunc(p.serveProxy), ReadHeaderTimeout: headerTime, ErrorLog: quiet, DisableGeneralOptionsHandler: true}
	p.guardOuter = upstream.Guard(p.outer, p.refusal)
	p.inner = &http.Server{
		Handler: http.HandlerFunc(p.serveInner), ReadHeaderTimeout: headerTime, ErrorLog: quiet, DisableGeneralOptionsHandler: true,
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, tunnelKey{}, c.(*tunnel))
		},
	}
	p.guardInner = upstream.Guard(p.inner, p.refusal)
	go func() { _ = p.outer.Serve(p.guardOuter(p.front)) }()
	go func() { _ = p.inner.Serve(p.guardInner(p.conns)) }()
	return p, nil
}

// Addr returns the address of the proxy, HOST:PORT.
func (p *Proxy) Addr() string { return p.front.Addr().String() }

func (p *Proxy) certificate() string { return filepath.Join(p.folder, "ca.pem") }

// Close ends the proxy with all its connections, and removes the certificate.
func (p *Proxy) Close() {
	p.tunnels.end()
	_ = p.outer.Close()
	p.conns.Close()
	_ = p.inner.Close()
	_ = os.RemoveAll(p.folder)
}

// report reports a problem once.
func (p *Proxy) report(kind, host, format string, args ...any) string {
	x := Problem{kind, host, fmt.Sprintf(format, args...)}
	if _, known := p.reported.LoadOrStore(Problem{Kind: kind, Host: host}, true); !known && p.options.Report != nil {
		p.options.Report(x)
	}
	return x.Message
}

// handler returns the handler of the requests for a host.
func (p *Proxy) handler(host string) Host {
	return p.options.Hosts[strings.ToLower(strings.TrimSuffix(host, "."))]
}

// handlerAt returns the handler of the requests for a port of a host.
func (p *Proxy) handlerAt(host, port string) Host {
	want := p.options.Ports[strings.ToLower(strings.TrimSuffix(host, "."))]
	usual := port == "" || port == "80" || port == "443"
	if port == want || usual && (want == "" || want == "80" || want == "443") {
		return p.handler(host)
	}
	return nil
}

func (p *Proxy) refuse(w http.ResponseWriter, host string) {
	http.Error(w, "mcptest: "+p.reportUndeclared(host), http.StatusBadGateway)
}

func (p *Proxy) reportUndeclared(host string) string {
	return p.report(Undeclared, host, "the server tried to connect to %s, which is not declared as an upstream: the proxy responded with 502", host)
}

// serveProxy handles the requests of a program that uses the proxy.
func (p *Proxy) serveProxy(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == http.MethodConnect:
		p.connect(w, r)
	case r.Method == "PRI":
		http.Error(w, "mcptest: "+p.report(Unsupported, r.Host, "the server speaks HTTP/2 to the proxy: it must use HTTP/1.1"), http.StatusHTTPVersionNotSupported)
	case r.URL.IsAbs(): // also https, as some clients ask
		host := r.URL.Hostname()
		if h := p.handlerAt(host, r.URL.Port()); h != nil {
			p.answer(h, w, r, host)
			return
		}
		if p.passes(r.URL.Host) {
			p.forward(w, r)
			return
		}
		p.refuse(w, r.URL.Host)
	default:
		const why = "this is a proxy: a request must have an absolute address"
		p.refusal(upstream.Refusal{Head: r.Method + " " + r.RequestURI + "\nHost: " + r.Host, Status: http.StatusBadRequest, Why: why})
		http.Error(w, "mcptest: "+why, http.StatusBadRequest)
	}
}

// refusal passes on a request that the proxy refused.
func (p *Proxy) refusal(r upstream.Refusal) {
	host := r.Host()
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		name, port = host, ""
	}
	h := p.handlerAt(name, port)
	if t, ok := r.Conn.(*tunnel); ok && p.handler(t.host) != nil {
		h = p.handler(t.host)
	}
	switch {
	case h != nil:
		h.Refuse(r)
	case host != "" && !p.passes(host) && host != p.Addr():
		p.reportUndeclared(host)
	default:
		p.report(Unsupported, host, "the proxy refused a request of the server with status %d: %s", r.Status, r.Why)
	}
}

// answer passes a request to its double.
func (p *Proxy) answer(h http.Handler, w http.ResponseWriter, r *http.Request, host string) {
	if strings.EqualFold(r.Header.Get("Upgrade"), "websocket") { // which the double refuses
		p.report(Unsupported, host, "the server requested a WebSocket from %s: doubles speak HTTP only", host)
	}
	for _, name := range []string{"Proxy-Connection", "Proxy-Authorization"} {
		r.Header.Del(name)
	}
	r.URL.Scheme, r.URL.Host, r.Host = "", "", host
	h.ServeHTTP(w, r)
}

func (p *Proxy) passes(addr string) bool { return p.options.Pass != nil && p.options.Pass(addr) }

// forward passes a request to an address of this machine.
func (p *Proxy) forward(w http.ResponseWriter, r *http.Request) {
	// net/http closes the request with the first byte of a response, which can precede
	// the end of the request.
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, "mcptest: the request ended early: "+err.Error(), http.StatusBadRequest)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	(&httputil.ReverseProxy{
		Transport:     &http.Transport{DisableKeepAlives: true, DisableCompression: true},
		FlushInterval: -1, // immediately
		ErrorLog:      p.outer.ErrorLog,
		Rewrite:       web.ForwardUnchanged,
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			http.Error(w, "mcptest: "+err.Error(), http.StatusBadGateway)
		},
	}).ServeHTTP(w, r)
}

// connect opens a tunnel.
func (p *Proxy) connect(w http.ResponseWriter, r *http.Request) {
	host, port, err := net.SplitHostPort(r.Host)
	if err != nil {
		host = r.Host
	}
	declared := p.handlerAt(host, port) != nil
	pass := !declared && p.passes(r.Host)
	if !declared && !pass {
		p.refuse(w, r.Host)
		return
	}
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	if !p.tunnels.hold(conn) {
		return
	}
	if _, err := io.WriteString(conn, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		p.tunnels.drop(conn)
		return
	}
	c := &peeked{
		Conn: conn,
		r:    bufio.NewReader(io.MultiReader(io.LimitReader(buffered, int64(buffered.Reader.Buffered())), conn)),
	}
	if pass {
		p.pipe(c, r.Host)
		return
	}
	p.tunnel(c, host)
}

// pipe connects two ends until one is closed.
func (p *Proxy) pipe(c net.Conn, addr string) {
	defer p.tunnels.drop(c.(*peeked).Conn)
	other, err := net.DialTimeout("tcp", addr, handshakeTime)
	if err != nil {
		return
	}
	if !p.tunnels.hold(other) {
		return
	}
	defer p.tunnels.drop(other)
	done := make(chan struct{}, 2)
	for _, pair := range [][2]net.Conn{{c, other}, {other, c}} {
		go func() {
			_, _ = io.Copy(pair[0], pair[1])
			done <- struct{}{}
		}()
	}
	<-done
}
