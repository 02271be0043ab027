//go:build linux

package faults_test

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"time"
)

// web defines how a server over HTTP misbehaves.
type web struct {
	call func(*visit)      // the first test's tools/call
	any  func(*visit) bool // sees everything before that; true: it has answered
	// modern makes it a server of revision 2026-07-28, without sessions.
	modern bool
	tls    bool
	// listen replaces the server: it returns its address and a function that stops it.
	listen func() (url string, stop func())
}

// visit is one request to such a server.
type visit struct {
	http.ResponseWriter
	r      *http.Request
	id     string // raw
	method string // of the message, or GET and DELETE
	body   []byte
	marked bool          // it is the first test's tools/call
	n      int64         // how many requests came before
	seen   *atomic.Int64 // for the rows' own counting
}

func (w *web) handler() http.Handler {
	var n, seen atomic.Int64
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		v := &visit{ResponseWriter: rw, r: r, method: r.Method, n: n.Add(1) - 1, seen: &seen}
		if r.Method == http.MethodPost {
			v.body, _ = io.ReadAll(r.Body)
			var m struct {
				ID     json.RawMessage
				Method string
				Params struct{ Arguments struct{ Fault bool } }
			}
			_ = json.Unmarshal(v.body, &m)
			v.id, v.method, v.marked = string(m.ID), m.Method, m.Params.Arguments.Fault
		}
		switch {
		case w.any != nil && w.any(v):
		case v.marked && w.call != nil:
			w.call(v)
		default:
			v.behave(w.modern)
		}
	})
}

func (v *visit) behave(modern bool) {
	switch {
	case v.r.Method == http.MethodGet:
		v.WriteHeader(http.StatusMethodNotAllowed)
	case v.r.Method == http.MethodDelete:
	case v.id == "":
		v.WriteHeader(http.StatusAccepted)
	case v.method == "server/discover" && modern:
		v.json(200, answer(v.id, goodFound))
	case v.method == "server/discover":
		v.json(400, refusal("null", -32000, "Bad Request: Server not initialized"))
	case v.method == "initialize":
		v.Header().Set("Mcp-Session-Id", "session-1")
		v.json(200, answer(v.id, goodHello))
	case v.method == "tools/list" && modern:
		v.json(200, answer(v.id, `{"resultType":"complete","ttlMs":0,"cacheScope":"private",`+goodTools[1:]))
	case v.method == "tools/list":
		v.json(200, answer(v.id, goodTools))
	default:
		v.ok()
	}
}

// ok responds correctly to the call.
func (v *visit) ok() { v.json(200, v.good()) }

// good returns the correct text.
func (v *visit) good() string { return answer(v.id, goodResult) }

func (v *visit) json(status int, body string) { v.send(status, "application/json", body) }

func (v *visit) send(status int, contentType, body string) {
	if contentType != "" {
		v.Header().Set("Content-Type", contentType)
	}
	v.WriteHeader(status)
	io.WriteString(v, body)
}

// sse writes text unchanged into an event stream.
func (v *visit) sse(text string) {
	v.Header().Set("Content-Type", "text/event-stream")
	io.WriteString(v, text)
	v.Flush()
}

func (v *visit) Flush() { v.ResponseWriter.(http.Flusher).Flush() }

// hang waits until the client has disconnected.
func (v *visit) hang() { <-v.r.Context().Done() }

// raw writes bytes in place of a response, and closes or resets the connection.
func (v *visit) raw(text string, reset bool) {
	c, b, err := v.ResponseWriter.(http.Hijacker).Hijack()
	if err != nil {
		panic(err)
	}
	b.WriteString(text)
	b.Flush()
	if t, ok := c.(*net.TCPConn); ok && reset {
		t.SetLinger(0)
	}
	c.Close()
}

// flood writes text until the client has disconnected, at most n bytes.
func (v *visit) flood(text string, n int) {
	big := strings.Repeat(text, 1+(1<<16)/len(text))
	endless := n >= 1<<40
	for ; n > 0 && v.r.Context().Err() == nil; n -= len(big) {
		if endless { // at full speed, a limit of size may come before the limit of time
			delay(200 * time.Microsecond)
		}
		if _, err := io.WriteString(v, big); err != nil {
			return
		}
	}
}

func event(msg string) string { return "data: " + strings.TrimSpace(msg) + "\n\n" }

// open starts it and returns its address and a function that stops it.
func (w *web) open() (url string, stop func()) {
	if w.listen != nil {
		return w.listen()
	}
	srv := httptest.NewUnstartedServer(w.handler())
	srv.Config.ErrorLog = nil
	if w.tls {
		srv.StartTLS()
	} else {
		srv.Start()
	}
	return srv.URL, func() {
		srv.CloseClientConnections()
		srv.Close()
	}
}
