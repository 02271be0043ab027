package upstream

import (
	"context"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// Refusal is a request that an HTTP server refused before a handler saw it, because it is malformed or
// too large.
type Refusal struct {
	Conn   net.Conn
	Head   string // the beginning of the request, if known
	Status int
	Why    string
}

// Host returns the host that the request is for, with its port; "" if it is not known.
func (r *Refusal) Host() string {
	host := ""
	lines := strings.Split(r.Head, "\n")
	for _, line := range lines[1:] {
		if name, v, ok := strings.Cut(line, ":"); ok && strings.EqualFold(strings.TrimSpace(name), "host") {
			host = strings.TrimSpace(v)
		}
	}
	if words := strings.Fields(lines[0]); len(words) > 1 && words[1][0] != '/' && words[1] != "*" {
		_, absolute, ok := strings.Cut(words[1], "://")
		if !ok {
			absolute = words[1] // of CONNECT
		}
		host, _, _ = strings.Cut(absolute, "/")
	}
	return host[strings.LastIndexByte(host, '@')+1:]
}

// headKept is the number of bytes that are kept of the beginning of a request.
const headKept = 1 << 10

// Guard makes a server report the requests that it refuses itself. It must serve its
// listeners with the returned function around them.
func Guard(s *http.Server, refused func(Refusal)) func(net.Listener) net.Listener {
	type key struct{}
	handler, base := s.Handler, s.ConnContext
	s.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		g := c.(*guarded)
		if base != nil {
			ctx = base(ctx, g.Conn)
		}
		return context.WithValue(ctx, key{}, g)
	}
	s.ConnState = func(c net.Conn, state http.ConnState) { c.(*guarded).noteState(state) }
	s.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g := r.Context().Value(key{}).(*guarded)
		g.update(func() { g.handled, g.over = true, g.over || r.ProtoMajor > 1 })
		handler.ServeHTTP(w, r)
	})
	return func(l net.Listener) net.Listener { return &guardedListener{l, refused} }
}

type guardedListener struct {
	net.Listener
	refused func(Refusal)
}

// Accept waits for the next connection.
func (l *guardedListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &guarded{Conn: c, refused: l.refused}, nil
}

// guarded is a connection of a guarded server.
type guarded struct {
	net.Conn
	refused func(Refusal)

	mu      sync.Mutex
	head    []byte // of the current request
	handled bool   // a handler got it
	over    bool   // nothing more is examined
}

func (g *guarded) update(fn func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	fn()
}

// Read keeps the beginning of a request.
func (g *guarded) Read(b []byte) (int, error) {
	n, err := g.Conn.Read(b)
	g.update(func() {
		if !g.handled && !g.over {
			g.head = append(g.head, b[:min(n, headKept-len(g.head))]...)
		}
	})
	return n, err
}

// Write notices a response that no handler wrote.
func (g *guarded) Write(b []byte) (int, error) {
	if text := string(b[:min(len(b), headKept)]); strings.HasPrefix(text, "HTTP/1.") && len(text) > 12 {
		if status, _ := strconv.Atoi(text[9:12]); status >= http.StatusBadRequest {
			line, _, _ := strings.Cut(text[9:], "\r\n")
			g.refuse(status, line)
		}
	}
	return g.Conn.Write(b)
}

func (g *guarded) refuse(status int, why string) {
	var r Refusal
	g.update(func() {
		if !g.handled && !g.over {
			g.over = true
			r = Refusal{g.Conn, string(g.head), status, why}
		}
	})
	if r.Conn != nil {
		g.refused(r)
	}
}

func (g *guarded) noteState(state http.ConnState) {
	switch state {
	case http.StateIdle:
		g.update(func() { g.head, g.handled = nil, false })
	case http.StateHijacked:
		g.update(func() { g.over = true })
	}
}

// CloseWrite ends the sent data, so that the client can read the refusal.
func (g *guarded) CloseWrite() error {
	if c, ok := g.Conn.(interface{ CloseWrite() error }); ok {
		return c.CloseWrite()
	}
	return nil
}
