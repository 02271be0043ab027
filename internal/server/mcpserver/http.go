package mcpserver

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"mcptest/internal/base/web"
	"mcptest/internal/client/protocol"
	"mcptest/internal/client/wire"
)

// HTTPServer serves MCP over Streamable HTTP in both eras on one endpoint: with
// sessions that begin with initialize, and stateless (2026-07-28). A request is
// responded with one JSON body, or with an event stream as soon as the handler
// sends something before its response.
type HTTPServer struct {
	handler func() Handler
	ctx     context.Context
	stop    context.CancelFunc
	free    *stateless // nil when the handler supports no revision without sessions
	session bool       // the handler supports revisions with sessions
	offered []string   // all revisions of the handler, newest first
	host    string     // passed to ListenHTTP

	mu       sync.Mutex
	sessions map[string]*webSession
}

// NewHTTPServer returns a server. handler is called for each session, and for each
// stateless request; any shared state is up to the handlers.
func NewHTTPServer(handler func() Handler) *HTTPServer {
	s := &HTTPServer{handler: handler, sessions: map[string]*webSession{}}
	s.ctx, s.stop = context.WithCancel(context.Background())
	revisions := protocol.Versions()
	if sp, ok := handler().(VersionedHandler); ok {
		revisions = sp.Versions()
	}
	s.offered, s.free = revisions, newStateless(s.ctx, handler, revisions)
	s.session = s.free == nil || len(s.free.own()) < len(revisions)
	return s
}

// Close ends every session and request.
func (s *HTTPServer) Close() {
	s.stop()
	if s.free != nil {
		s.free.wg.Wait()
	}
}

// webSession is one session that began with initialize.
type webSession struct {
	asks    clientRequests
	handler Handler
	ctx     context.Context
	stop    context.CancelFunc

	running running

	mu     sync.Mutex
	stream *eventOut // the client's GET, nil while there is none
}

// ServeHTTP handles one request of a client.
func (s *HTTPServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if why := s.foreign(r); why != "" {
		refuseHTTP(w, http.StatusForbidden, protocol.CodeInvalidRequest, why)
		return
	}
	stateless := protocol.VersionOf(r.Header.Get("Mcp-Protocol-Version")).Stateless
	switch {
	case r.Method == http.MethodPost:
		s.post(w, r)
	case stateless && s.free != nil, !s.session, r.Method != http.MethodGet && r.Method != http.MethodDelete:
		w.Header().Set("Allow", "POST")
		w.WriteHeader(http.StatusMethodNotAllowed)
	default:
		if sess := s.sessionOf(w, r); sess != nil {
			s.control(w, r, sess)
		}
	}
}

// foreign returns the reason for refusing a request that a web page of another site
// may have caused: its Origin, or a Host whose owner points it at the loopback
// address (DNS rebinding). If the server accepts connections from other machines, any
// Host is accepted.
func (s *HTTPServer) foreign(r *http.Request) string {
	if origin := r.Header.Get("Origin"); origin != "" {
		if u, err := url.Parse(origin); err != nil || !s.near(u.Hostname()) {
			return "Origin is not allowed"
		}
	}
	local, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	if ok && local.IP.IsLoopback() && !s.near((&url.URL{Host: r.Host}).Hostname()) {
		return "Host is not allowed"
	}
	return ""
}

// near reports whether a host is this machine: a name of the loopback address, or the
// name that the server was configured to listen on.
func (s *HTTPServer) near(host string) bool {
	return web.IsLoopback(host) || host != "" && strings.EqualFold(host, s.host)
}

// sessionOf returns the session of a request, or refuses the request.
func (s *HTTPServer) sessionOf(w http.ResponseWriter, r *http.Request) *webSession {
	id := r.Header.Get("Mcp-Session-Id")
	if id == "" {
		refuseHTTP(w, http.StatusBadRequest, protocol.CodeInvalidRequest, "Mcp-Session-Id is missing")
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	sess := s.sessions[id]
	if sess == nil {
		refuseHTTP(w, http.StatusNotFound, protocol.CodeInvalidRequest, "Session not found")
	}
	return sess
}

// control handles GET and DELETE.
func (s *HTTPServer) control(w http.ResponseWriter, r *http.Request, sess *webSession) {
	if r.Method == http.MethodDelete {
		s.mu.Lock()
		delete(s.sessions, r.Header.Get("Mcp-Session-Id"))
		s.mu.Unlock()
		sess.stop()
		sess.asks.hangUp()
		w.WriteHeader(http.StatusNoContent)
		return
	}
	out := &eventOut{w: w}
	sess.mu.Lock()
	taken := sess.stream != nil
	if !taken {
		sess.stream = out
	}
	sess.mu.Unlock()
	if taken {
		refuseHTTP(w, http.StatusConflict, protocol.CodeInvalidRequest, "the session already has a stream")
		return
	}
	out.begin()
	select {
	case <-r.Context().Done():
	case <-sess.ctx.Done():
	}
	out.end()
	sess.mu.Lock()
	sess.stream = nil
	sess.mu.Unlock()
}

// post handles one message.
func (s *HTTPServer) post(w http.ResponseWriter, r *http.Request) {
	limit := wire.Limits{}.FillDefaults().Message
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, int64(limit)))
	if err != nil {
		refuseHTTP(w, http.StatusRequestEntityTooLarge, protocol.CodeInvalidRequest, "message over "+wire.FormatByteSize(int64(limit)))
		return
	}
	sc := protocol.NewScanner()
	if err := sc.Scan(raw); err != nil {
		refuseHTTP(w, http.StatusBadRequest, protocol.CodeParse, "Parse error: "+protocol.SyntaxText(err))
		return
	}
	e := sc.Envelope
	method := protocol.TextOf(e.Method)
	if e.Has&protocol.HasMethod != 0 && (method == "" || hasInvalidID(e)) {
		refuseHTTP(w, http.StatusBadRequest, protocol.CodeInvalidRequest, "Invalid Request")
		return
	}
	req := &Request{Method: method, ID: e.ID, Params: e.Params, Raw: raw, Notification: e.Has&protocol.HasID == 0}
	asked := cmp.Or(protocol.VersionIn(e.Params), r.Header.Get("Mcp-Protocol-Version"))
	stateless := protocol.VersionOf(asked).Stateless
	switch {
	case s.free != nil && (!s.session || stateless || protocol.MemberOf(protocol.MemberOf(e.Params, "_meta"), protocol.MetaVersion) != nil):
		s.modern(w, r, req)
		return
	case stateless && !req.Notification && r.Header.Get("Mcp-Session-Id") == "":
		refuseUnsupported(s.offered, asked).tell(&eventOut{w: w}, req.ID)
		return
	}
	if method == "initialize" && !req.Notification {
		s.initialize(w, r, req)
		return
	}
	if version := r.Header.Get("Mcp-Protocol-Version"); version != "" && !protocol.VersionOf(version).Known() {
		refuseHTTP(w, http.StatusBadRequest, protocol.CodeInvalidRequest, "Unsupported MCP-Protocol-Version "+version)
		return
	}
	sess := s.sessionOf(w, r)
	if sess == nil {
		return
	}
	switch {
	case method == "":
		sess.asks.passAnswer(&e)
		w.WriteHeader(http.StatusAccepted)
	case req.Notification:
		if method == "notifications/cancelled" {
			sess.running.cancel(e.Params)
		}
		req.conn = &httpPeer{out: &eventOut{}, asks: &sess.asks}
		sess.handler.Handle(sess.ctx, req)
		w.WriteHeader(http.StatusAccepted)
	default:
		s.serve(w, r, sess, req)
	}
}

// push sends a message on the stream of the client, if there is one.
func (s *webSession) push(raw []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stream == nil {
		return errNoStream
	}
	return s.stream.event(raw)
}

// initialize starts a session.
func (s *HTTPServer) initialize(w http.ResponseWriter, r *http.Request, req *Request) {
	sess := &webSession{handler: s.handler()}
	sess.ctx, sess.stop = context.WithCancel(s.ctx)
	announce(sess.handler, sess.push)
	id := rand.Text()
	s.mu.Lock()
	s.sessions[id] = sess
	s.mu.Unlock()
	w.Header().Set("Mcp-Session-Id", id)
	s.serve(w, r, sess, req)
}

// serve handles a request of a session.
func (s *HTTPServer) serve(w http.ResponseWriter, r *http.Request, sess *webSession, req *Request) {
	ctx, cancel := context.WithCancel(sess.ctx)
	defer cancel()
	// The end of the connection is not a cancellation in these revisions, but there
	// is no client left to answer either.
	defer context.AfterFunc(r.Context(), cancel)()
	id := string(req.ID)
	sess.running.Store(id, cancel)
	out := &eventOut{w: w}
	req.conn = &httpPeer{out: out, asks: &sess.asks}
	var reply *Reply
	if admits(sess.handler, req) {
		reply = sess.handler.Handle(ctx, req)
	}
	sess.running.Delete(id)
	if reply != nil && reply.HTTP != nil {
		if reply.HTTP.Expire {
			s.expire(r.Header.Get("Mcp-Session-Id"))
		}
		out.fault(reply.HTTP)
		return
	}
	if reply != nil && reply.Reset {
		out.reset()
		return
	}
	if frame := reply.frame(req.ID); frame != nil {
		out.last(frame, http.StatusOK)
		return
	}
	<-ctx.Done() // a handler that returns no response leaves the client waiting
}

// refuseHTTP responds with a status and a JSON-RPC error.
func refuseHTTP(w http.ResponseWriter, status int, code int64, msg string) {
	raw, _ := protocol.AppendResponse(nil, []byte("null"), nil, &protocol.RPCError{Code: code, Message: msg})
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(raw)
}

// ListenHTTP serves on addr until ctx ends. An address without a host is on the
// loopback interface. ready is called with the URL of the server.
func (s *HTTPServer) ListenHTTP(ctx context.Context, addr string, ready func(url string)) error {
	if host, port, err := net.SplitHostPort(addr); err == nil && host == "" {
		addr = net.JoinHostPort("127.0.0.1", port)
	} else if err != nil && !strings.Contains(addr, ":") {
		addr = net.JoinHostPort("127.0.0.1", addr)
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	s.host, _, _ = net.SplitHostPort(addr)
	srv := &http.Server{Handler: s}
	done := make(chan error, 1)
	go func() { done <- srv.Serve(l) }()
	ready("http://" + l.Addr().String() + "/mcp")
	select {
	case err = <-done:
	case <-ctx.Done():
		s.stop()
		_ = srv.Close()
		//nolint:errcheck // it says that the server was closed, which we did
		<-done
		err = nil
	}
	s.Close()
	return err
}
