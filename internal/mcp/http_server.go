package mcp

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"mcptest/internal/jsonv"
)

// HTTPServer serves MCP over Streamable HTTP in both eras on one endpoint: with
// sessions that begin with initialize, and stateless (2026-07-28). A request is
// answered with one JSON body, or with an event stream as soon as the handler
// sends something before its answer.
type HTTPServer struct {
	handler func() Handler
	ctx     context.Context
	stop    context.CancelFunc
	free    *stateless // nil when the handler speaks no revision without sessions
	session bool       // the handler speaks revisions with sessions

	mu       sync.Mutex
	sessions map[string]*webSession
}

// NewHTTPServer makes a server. handler is called for each session, and for
// each stateless request; the handlers share what they want to share.
func NewHTTPServer(handler func() Handler) *HTTPServer {
	s := &HTTPServer{handler: handler, sessions: map[string]*webSession{}}
	s.ctx, s.stop = context.WithCancel(context.Background())
	revisions := Revisions()
	if sp, ok := handler().(Speaker); ok {
		revisions = sp.Revisions()
	}
	s.free = newStateless(s.ctx, handler, revisions)
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
	asks    asks
	handler Handler
	ctx     context.Context
	stop    context.CancelFunc

	mu      sync.Mutex
	stream  *eventOut // the client's GET, nil while there is none
	running map[string]context.CancelFunc
}

// ServeHTTP handles one request of a client.
func (s *HTTPServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !sameSite(r) {
		refuseHTTP(w, http.StatusForbidden, nil, CodeInvalidRequest, "Origin is not allowed", nil)
		return
	}
	version := r.Header.Get("Mcp-Protocol-Version")
	d, known := dialectOf(version)
	switch {
	case r.Method == http.MethodPost:
		s.post(w, r)
	case known && d.Stateless && s.free != nil, !s.session, r.Method != http.MethodGet && r.Method != http.MethodDelete:
		w.Header().Set("Allow", "POST")
		w.WriteHeader(http.StatusMethodNotAllowed)
	default:
		if sess := s.sessionOf(w, r); sess != nil {
			s.control(w, r, sess)
		}
	}
}

// sameSite refuses requests of web pages of other sites, which could otherwise
// reach a server on the loopback (DNS rebinding).
func sameSite(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" {
		return true
	}
	u, err := url.Parse(origin)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

// sessionOf finds the session a request names, or refuses it.
func (s *HTTPServer) sessionOf(w http.ResponseWriter, r *http.Request) *webSession {
	id := r.Header.Get("Mcp-Session-Id")
	if id == "" {
		refuseHTTP(w, http.StatusBadRequest, nil, CodeInvalidRequest, "Mcp-Session-Id is missing", nil)
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	sess := s.sessions[id]
	if sess == nil {
		refuseHTTP(w, http.StatusNotFound, nil, CodeInvalidRequest, "Session not found", nil)
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
		refuseHTTP(w, http.StatusConflict, nil, CodeInvalidRequest, "the session has a stream already", nil)
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
	limit := Limits{}.withDefaults().Message
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, int64(limit)))
	if err != nil {
		refuseHTTP(w, http.StatusRequestEntityTooLarge, nil, CodeInvalidRequest, "message over "+byteSize(int64(limit)), nil)
		return
	}
	sc := newScanner()
	if err := sc.scan(raw); err != nil {
		refuseHTTP(w, http.StatusBadRequest, nil, CodeParse, "Parse error: "+syntaxText(err), nil)
		return
	}
	e := sc.envelope
	method := textOf(e.method)
	if e.has&hasMethod != 0 && (method == "" || e.has&hasID != 0 && kindOf(e.id) != jsonv.KindString && kindOf(e.id) != jsonv.KindNumber) {
		refuseHTTP(w, http.StatusBadRequest, nil, CodeInvalidRequest, "Invalid Request", nil)
		return
	}
	req := &Request{Method: method, ID: e.id, Params: e.params, Raw: raw, Notification: e.has&hasID == 0}
	d, ok := dialectOf(r.Header.Get("Mcp-Protocol-Version"))
	if s.free != nil && (!s.session || ok && d.Stateless || memberOf(memberOf(e.params, "_meta"), metaVersion) != nil) {
		s.modern(w, r, req)
		return
	}
	if method == "initialize" && !req.Notification {
		s.initialize(w, r, req)
		return
	}
	sess := s.sessionOf(w, r)
	if sess == nil {
		return
	}
	switch {
	case method == "":
		sess.asks.answered(&e)
		w.WriteHeader(http.StatusAccepted)
	case req.Notification:
		if method == "notifications/cancelled" {
			sess.mu.Lock()
			if cancel := sess.running[string(memberOf(e.params, "requestId"))]; cancel != nil {
				cancel()
			}
			sess.mu.Unlock()
		}
		req.conn = &webLink{out: &eventOut{}, asks: &sess.asks}
		sess.handler.Handle(sess.ctx, req)
		w.WriteHeader(http.StatusAccepted)
	default:
		s.serve(w, r, sess, req)
	}
}

// initialize begins a session.
func (s *HTTPServer) initialize(w http.ResponseWriter, r *http.Request, req *Request) {
	sess := &webSession{handler: s.handler(), running: map[string]context.CancelFunc{}}
	sess.ctx, sess.stop = context.WithCancel(s.ctx)
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
	// The end of the connection is no cancellation in these revisions, but
	// there is nobody left to answer either.
	defer context.AfterFunc(r.Context(), cancel)()
	id := string(req.ID)
	sess.mu.Lock()
	sess.running[id] = cancel
	sess.mu.Unlock()
	out := &eventOut{w: w}
	req.conn = &webLink{out: out, asks: &sess.asks}
	var reply *Reply
	if admits(sess.handler, req) {
		reply = sess.handler.Handle(ctx, req)
	}
	sess.mu.Lock()
	delete(sess.running, id)
	sess.mu.Unlock()
	if frame := reply.frame(req.ID); frame != nil {
		out.last(frame, http.StatusOK)
		return
	}
	<-ctx.Done() // a handler that gives no answer leaves the client waiting
}

// refuseHTTP answers with a status and a JSON-RPC error.
func refuseHTTP(w http.ResponseWriter, status int, id []byte, code int64, msg string, data []byte) {
	if id == nil {
		id = []byte("null")
	}
	raw, _ := appendResponse(nil, id, nil, &RPCError{Code: code, Message: msg, Data: data})
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(raw)
}

// ListenHTTP serves on addr until ctx ends. An address without a host is one
// on the loopback. ready is called with the address that is listened on.
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
