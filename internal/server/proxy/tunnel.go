package proxy

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"mcptest/internal/server/upstream"
)

// peeked is a connection whose first bytes can be examined.
type peeked struct {
	net.Conn
	r *bufio.Reader
}

func newPeeked(c net.Conn) *peeked { return &peeked{Conn: c, r: bufio.NewReader(c)} }

// Read reads the examined bytes before the rest.
func (c *peeked) Read(b []byte) (int, error) { return c.r.Read(b) }

// tunnel is a connection to a declared host, with TLS removed.
type tunnel struct {
	net.Conn
	host   string
	closed func()
	once   sync.Once
	other  func() // called if the client does not speak HTTP
	begin  []byte // of the client's data, up to the first line
	known  bool   // whether it is HTTP
}

// Read examines the first line that the client sends.
func (t *tunnel) Read(b []byte) (int, error) {
	n, err := t.Conn.Read(b)
	if !t.known && n > 0 {
		t.begin = append(t.begin, b[:n]...)
		var http bool
		if http, t.known = isHTTP(t.begin); t.known {
			t.begin = nil
			if !http {
				t.other()
			}
		}
	}
	return n, err
}

// isHTTP reports whether a connection that begins with these bytes speaks HTTP; known
// is false if more bytes are needed.
func isHTTP(begin []byte) (is, known bool) {
	line, _, ended := bytes.Cut(begin, []byte("\n"))
	method, _, _ := bytes.Cut(line, []byte(" "))
	for _, c := range bytes.TrimRight(method, "\r") {
		if !isMethodByte(c) {
			return false, true
		}
	}
	return bytes.Contains(line, []byte(" HTTP/")), ended || len(begin) > 1<<14
}

// isMethodByte reports whether a byte occurs in methods of HTTP that are in use.
func isMethodByte(c byte) bool {
	switch {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z':
		return true
	}
	return c == '-' || c == '_'
}

// Close ends the tunnel.
func (t *tunnel) Close() error {
	t.once.Do(t.closed)
	return t.Conn.Close()
}

type tunnelKey struct{}

// recordHandshake is the first byte of TLS.
const recordHandshake = 0x16

// tunnel handles the requests of a program to a host, with or without TLS.
func (p *Proxy) tunnel(c *peeked, host string) {
	raw := c.Conn
	_ = raw.SetReadDeadline(time.Now().Add(handshakeTime))
	first, err := c.r.Peek(1)
	if err != nil {
		if errors.Is(err, io.EOF) { // opened and not used
			p.tunnels.drop(raw)
			return
		}
		p.report(Unsupported, host, "the server opened a connection to %s and sent nothing for %s: doubles speak HTTP and HTTPS only", host, handshakeTime)
		p.tunnels.drop(raw)
		return
	}
	_ = raw.SetReadDeadline(time.Time{})
	if first[0] != recordHandshake {
		p.serve(c, raw, host)
		return
	}
	config := &tls.Config{
		MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"},
		GetCertificate: func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
			if hello.ServerName != "" && !strings.EqualFold(hello.ServerName, host) {
				if p.handler(hello.ServerName) == nil {
					p.reportUndeclared(hello.ServerName)
					return nil, errors.New("undeclared host")
				}
				host = strings.ToLower(hello.ServerName)
			}
			return p.ca.leaf(host)
		},
	}
	t := tls.Server(c, config)
	ctx, cancel := context.WithTimeout(context.Background(), handshakeTime)
	err = t.HandshakeContext(ctx)
	cancel()
	if err != nil {
		p.reportRefused(host, err)
		p.tunnels.drop(raw)
		return
	}
	p.serve(t, raw, host)
}

// serve passes a connection to the server of requests within tunnels.
func (p *Proxy) serve(c, raw net.Conn, host string) {
	other := func() {
		p.report(Unsupported, host, "the server sent %s data that is not HTTP: doubles speak HTTP and HTTPS only", host)
	}
	if !p.conns.add(&tunnel{
		Conn:   c,
		host:   host,
		closed: func() { p.tunnels.drop(raw) },
		other:  other,
	}) {
		p.tunnels.drop(raw)
	}
}

// reportRefused reports why a TLS handshake failed.
func (p *Proxy) reportRefused(host string, err error) {
	const pinned = "the server refused the certificate for %s (%s): it checks for a certificate of its own (pinning), or none of the variables that name trusted authorities reaches it"
	alert, alerted := errors.AsType[tls.AlertError](err)
	switch {
	case strings.Contains(err.Error(), "application protocol"):
		p.report(Unsupported, host, "the server requested HTTP/2 or another protocol from %s, but only HTTP/1.1 is supported", host)
	case errors.Is(err, context.DeadlineExceeded):
		p.report(Unsupported, host, "the server did not finish the TLS handshake with %s within %s", host, handshakeTime)
	case alerted:
		p.report(Untrusted, host, pinned, host, alert)
	case strings.Contains(err.Error(), "remote error"):
		p.report(Untrusted, host, pinned, host, strings.TrimPrefix(err.Error(), "remote error: "))
	case errors.Is(err, io.EOF) || strings.Contains(err.Error(), "reset"):
		p.report(Untrusted, host, pinned, host, "the connection was closed within the handshake")
	case strings.Contains(err.Error(), "undeclared host"):
	default:
		p.report(Unsupported, host, "the TLS handshake of the server with %s failed: %s", host, err)
	}
}

// serveInner handles a request within a tunnel.
func (p *Proxy) serveInner(w http.ResponseWriter, r *http.Request) {
	t := r.Context().Value(tunnelKey{}).(*tunnel)
	host := t.host
	if r.Method == "PRI" { // how HTTP/2 without TLS begins
		p.refusal(upstream.Refusal{Conn: t, Head: "PRI *", Status: http.StatusHTTPVersionNotSupported, Why: "it is HTTP/2"})
		http.Error(w, "mcptest: "+p.report(Unsupported, host, "the server speaks HTTP/2 to %s: only HTTP/1.1 is supported", host), http.StatusHTTPVersionNotSupported)
		return
	}
	if named, _, err := net.SplitHostPort(r.Host); err == nil && p.handler(named) != nil {
		host = named
	} else if p.handler(r.Host) != nil {
		host = r.Host
	}
	h := p.handler(host)
	if h == nil {
		p.refuse(w, host)
		return
	}
	p.answer(h, w, r, host)
}

// connListener passes connections that are already open to an HTTP server.
type connListener struct {
	addr net.Addr
	next chan net.Conn
	done chan struct{}
	once sync.Once
}

func (l *connListener) add(c net.Conn) bool {
	select {
	case l.next <- c:
		return true
	case <-l.done:
		return false
	}
}

// Accept waits for the next connection.
func (l *connListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.next:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

// Close ends the listener.
func (l *connListener) Close() error {
	l.once.Do(func() { close(l.done) })
	return nil
}

// Addr returns the address of the proxy.
func (l *connListener) Addr() net.Addr { return l.addr }

// closers are the resources that must be closed at the end.
type closers struct {
	mu    sync.Mutex
	open  map[io.Closer]bool
	ended bool
}

// hold records a resource. After the end, it closes the resource and returns false.
func (l *closers) hold(c io.Closer) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		c.Close()
		return false
	}
	if l.open == nil {
		l.open = map[io.Closer]bool{}
	}
	l.open[c] = true
	return true
}

func (l *closers) drop(c io.Closer) {
	l.mu.Lock()
	delete(l.open, c)
	l.mu.Unlock()
	c.Close()
}

// end closes all resources.
func (l *closers) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
	for c := range l.open {
		c.Close()
	}
}
