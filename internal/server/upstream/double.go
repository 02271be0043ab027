package upstream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
)

// Exchange is one request to a double with its response.
type Exchange struct {
	Request *Request
	Status  int    // 0: the connection was closed without a response
	Route   string // the source of the response: the position of the route in the suite, or the fallback
	// Unmatched is the reason why there is no response to the request; "" if there is
	// one.
	Unmatched string
	// Missing is the name of the value of the request that the response needed and
	// that was absent.
	Missing string
	// Late is set if the request came after the response of the test in Tests.
	Late bool
	// Examined is set if that test examines the requests to the upstream.
	Examined bool
	// Tests are the tests that were running.
	Tests []string
	// Done is the time when the response was sent, or the connection closed; zero
	// before.
	Done time.Time
}

// Double responds to the requests for one upstream on a loopback port.
type Double struct {
	Upstream *Upstream

	fallback Fallback
	report   func(Exchange) // receives requests that belong to no single test
	listener net.Listener
	server   *http.Server
	ctx      context.Context // ends with the double
	cancel   context.CancelFunc

	mu    sync.Mutex
	state doubleState
}

// NewDouble returns a double that does not listen: a proxy passes requests to it.
// report receives the requests that belong to no single test; fallback may be nil.
func NewDouble(u *Upstream, fallback Fallback, report func(Exchange)) *Double {
	d := &Double{Upstream: u, fallback: fallback, report: report, state: doubleState{used: map[*Route]int{}}}
	d.ctx, d.cancel = context.WithCancel(context.Background())
	return d
}

// Listen starts the double on a free loopback port.
func (d *Double) Listen() error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen for upstream %q: %w", d.Upstream.Name, err)
	}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true)
	d.listener = l
	d.server = &http.Server{
		Handler: d, Protocols: protocols, ReadHeaderTimeout: time.Minute, ErrorLog: log.New(io.Discard, "", 0),
		BaseContext: func(net.Listener) context.Context { return d.ctx }, DisableGeneralOptionsHandler: true,
		// Larger ones than ServeHTTP takes, because the server of HTTP/2 does not tell what it refuses.
		MaxHeaderBytes: MaxBody,
		HTTP2:          &http.HTTP2Config{CountError: d.http2Error},
	}
	guard := Guard(d.server, d.Refuse)
	go func() { _ = d.server.Serve(guard(l)) }()
	return nil
}

// Close ends the double and all responses in progress.
func (d *Double) Close() {
	d.cancel()
	if d.server != nil {
		_ = d.server.Close()
	}
}

// Host returns the host and port of the double.
func (d *Double) Host() string { return d.listener.Addr().String() }

// URL returns the address of the double, with the path of the API's address.
func (d *Double) URL() string {
	return "http://" + d.Host() + strings.TrimSuffix(d.Upstream.StandsFor.EscapedPath(), "/")
}

// Fill replaces {url}, {host} and {port} in a text.
func (d *Double) Fill(text string) string {
	host := d.Host()
	_, port, _ := net.SplitHostPort(host)
	return strings.NewReplacer("{url}", d.URL(), "{host}", host, "{port}", port).Replace(text)
}

// ServeHTTP answers a request.
func (d *Double) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q := &Request{
		Upstream: d.Upstream.Name,
		Method:   r.Method,
		Host:     d.Upstream.StandsFor.Host,
		Path:     r.URL.EscapedPath(),
		Query:    parseQuery(r.URL.RawQuery),
		Header:   r.Header,
		Time:     time.Now(),
		Origin:   "http://" + r.Host,
	}
	if d.listener == nil { // the request came through a proxy
		q.Origin = d.Upstream.StandsFor.Scheme + "://" + d.Upstream.StandsFor.Host
	}
	if r.URL.IsAbs() {
		q.Host = r.URL.Host
	}
	x, watch := d.arrive(q) // it counts even if its body never arrives
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBody))
	var refusal *Refusal
	switch {
	case err != nil && errors.As(err, new(*http.MaxBytesError)):
		refusal = &Refusal{Status: http.StatusRequestEntityTooLarge, Why: fmt.Sprintf("its body has more than %d MiB", MaxBody>>20)}
	case err != nil:
		refusal = &Refusal{Status: http.StatusBadRequest, Why: "its body could not be read: " + err.Error()}
	case headerSize(r) > http.DefaultMaxHeaderBytes:
		refusal = &Refusal{Status: http.StatusRequestHeaderFieldsTooLarge, Why: fmt.Sprintf("its headers have more than %d MiB", http.DefaultMaxHeaderBytes>>20)}
	}
	if refusal == nil {
		whole := *q // a test may be reading q
		q, whole.Body = &whole, body
		d.update(func(*doubleState) { x.Request = q })
	}
	res := d.respond(x, watch, refusal)
	defer d.update(func(*doubleState) { x.Done = time.Now() })
	d.send(w, r, res)
}

func headerSize(r *http.Request) (n int) {
	n = len(r.RequestURI)
	for name, values := range r.Header {
		for _, v := range values {
			n += len(name) + len(v)
		}
	}
	return n
}

// Refuse records a request that a server of the double refused. It counts as an
// unmatched one.
func (d *Double) Refuse(r Refusal) {
	if d.ctx.Err() != nil { // the connections are being closed
		return
	}
	q := &Request{Upstream: d.Upstream.Name, Host: d.Upstream.StandsFor.Host, Time: time.Now()}
	line, _, _ := strings.Cut(r.Head, "\n")
	if words := strings.Fields(strings.ToValidUTF8(line, "\uFFFD")); len(words) > 1 {
		q.Method, q.Path = words[0], words[1]
	}
	x, watch := d.arrive(q)
	d.respond(x, watch, &r)
	d.update(func(*doubleState) { x.Done = time.Now() })
}

// http2Error records a malformed request of HTTP/2. kind is a name that net/http gives
// to an error.
func (d *Double) http2Error(kind string) {
	for _, of := range []string{"bad_", "first_", "frame_headers", "headers_", "trailers_"} {
		if strings.HasPrefix(kind, of) {
			d.Refuse(Refusal{Status: http.StatusBadRequest, Why: "HTTP/2 error " + kind})
		}
	}
}

// arrive attributes a request to the test that it belongs to; watch may be nil.
func (d *Double) arrive(q *Request) (x *Exchange, watch *Watch) {
	x = &Exchange{Request: q}
	d.update(func(s *doubleState) {
		s.requested = true
		if watch = s.attribute(x); watch != nil {
			q.Scope = watch.scope
		}
	})
	return x, watch
}

// respond returns the response to a request, which may be refused.
func (d *Double) respond(x *Exchange, watch *Watch, refusal *Refusal) *Response {
	q := x.Request
	var routes []*Route
	if watch != nil {
		routes = watch.routes
	}
	var res *Response
	if refusal == nil {
		res = d.find(q, x, routes)
	} else {
		res = d.refusal(q, x, refusal)
	}
	copied := *x
	d.update(func(*doubleState) {
		x.Status = res.Status
		if res.Ending == EndDropped || res.Ending == EndReset {
			x.Status = 0
		}
		if watch != nil && !watch.asking && (x.Unmatched != "" || x.Missing != "") { // the body came late
			x.Late, x.Examined = true, watch.examines
		}
		copied = *x
	})
	if watch == nil || !watch.alone || copied.Late {
		d.report(copied)
	}
	return res
}

// find searches for the response to a request.
func (d *Double) find(q *Request, x *Exchange, routes []*Route) *Response {
	note := func(route, unmatched string) {
		d.update(func(*doubleState) { x.Route, x.Unmatched = route, unmatched })
	}
	if strings.EqualFold(q.Header.Get("Upgrade"), "websocket") {
		msg := fmt.Sprintf("upstream %q got a WebSocket request (%s): doubles speak HTTP only", q.Upstream, q.Path)
		note("", msg)
		return plain(http.StatusNotImplemented, msg)
	}
	all := append(routes[:len(routes):len(routes)], d.Upstream.Routes...)
	for _, r := range all {
		vars, ok := r.match(q)
		if !ok {
			continue
		}
		var n int
		d.update(func(s *doubleState) {
			n = s.used[r]
			if r.times == 0 || n < r.times {
				s.used[r] = n + 1
			}
		})
		if r.times > 0 && n >= r.times {
			continue
		}
		note(r.Path, "")
		v := &values{request: q, vars: vars}
		res := r.replies[min(n, len(r.replies)-1)].response(v)
		if v.missing == "" {
			return res
		}
		msg := fmt.Sprintf("%s: the response needs {{%s}}, which the request %s %s does not have", r.Path, v.missing, q.Method, q.Path)
		d.update(func(*doubleState) { x.Missing = msg })
		return plain(http.StatusNotImplemented, msg)
	}
	if d.fallback != nil {
		if res, ok := d.fallback(q); ok {
			note("fallback", "")
			return res
		}
	}
	msg := explain(all, q)
	if q.Nearest != "" {
		msg += "; " + q.Nearest
	}
	note("", msg)
	if d.Upstream.Allowed {
		return plain(http.StatusNotFound, msg)
	}
	return plain(http.StatusNotImplemented, msg)
}

// refusal describes a refused request.
func (d *Double) refusal(q *Request, x *Exchange, r *Refusal) *Response {
	sent := "a request that is not valid HTTP"
	if q.Method != "" {
		sent = display.Truncate(q.Method+" "+q.Path, 200)
	}
	msg := fmt.Sprintf("upstream %q refused %s with status %d: %s", q.Upstream, sent, r.Status, r.Why)
	if strings.HasPrefix(r.Head, "\x16\x03") {
		msg += "; it is TLS: the address of the double begins with http://"
	}
	d.update(func(*doubleState) { x.Unmatched = msg })
	return plain(r.Status, msg)
}

// plain returns a response of the double itself.
func plain(status int, msg string) *Response {
	body := jsonv.ObjectOf("error", "mcptest: "+msg).Append(nil)
	return &Response{Status: status, Header: http.Header{"Content-Type": {"application/json"}}, Body: body}
}

// send delivers a response.
func (d *Double) send(w http.ResponseWriter, r *http.Request, res *Response) {
	if !d.pause(r, res.Delay) {
		panic(http.ErrAbortHandler)
	}
	switch res.Ending {
	case EndDropped:
		panic(http.ErrAbortHandler)
	case EndReset:
		reset(w)
		panic(http.ErrAbortHandler)
	}
	maps.Copy(w.Header(), res.Header)
	chunks := res.Chunks
	if chunks == nil {
		chunks = [][]byte{res.Body}
		if bodiless := res.Status == http.StatusNoContent || res.Status == http.StatusNotModified; !bodiless && w.Header().Get("Transfer-Encoding") == "" {
			w.Header().Set("Content-Length", strconv.Itoa(len(res.Body)))
		}
	}
	w.WriteHeader(res.Status)
	left := res.Truncate
	for i, chunk := range chunks {
		if i > 0 && !d.pause(r, res.Interval) {
			panic(http.ErrAbortHandler)
		}
		if res.Ending == EndTruncated && len(chunk) >= left {
			_, _ = w.Write(chunk[:left])
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}
		left -= len(chunk)
		_, _ = w.Write(chunk)
		if res.Chunks != nil {
			_ = http.NewResponseController(w).Flush()
		}
	}
}

// pause waits, and returns false if the request or the double ended before.
func (d *Double) pause(r *http.Request, t time.Duration) bool {
	if t <= 0 {
		return true
	}
	timer := time.NewTimer(t)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-r.Context().Done():
	case <-d.ctx.Done():
	}
	return false
}

// reset closes the connection so that its peer receives a reset.
func reset(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	if g, ok := conn.(*guarded); ok {
		conn = g.Conn
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	conn.Close()
}
