package mcp

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"mcptest/internal/jsonv"
)

// abandoned is how long a call waits for the client to come back with the
// input it was asked for.
const abandoned = time.Minute

// modern handles one message of a stateless revision.
func (s *HTTPServer) modern(w http.ResponseWriter, r *http.Request, req *Request, meta []byte) {
	if req.Method == "" {
		refuseHTTP(w, http.StatusBadRequest, nil, CodeInvalidRequest, "this protocol revision has no responses of clients", nil)
		return
	}
	if req.Notification {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	if status, code, msg, data := checkModern(r, req, meta); status != 0 {
		refuseHTTP(w, status, req.ID, code, msg, data)
		return
	}
	if req.Method == methodListen {
		s.subscribe(w, r, req)
		return
	}
	if token := textOf(memberOf(req.Params, "requestState")); token != "" {
		s.resume(w, r, req, token)
		return
	}
	c := &webCall{s: s, asked: make(chan webAsk), done: make(chan *Reply, 1), handler: s.handler()}
	c.ctx, c.stop = context.WithCancel(s.ctx)
	hello := c.greet(meta)
	switch {
	case req.Method == methodDiscover:
		c.stop()
		(&eventOut{w: w}).last((&Reply{Result: discovery(hello)}).frame(req.ID), http.StatusOK)
		return
	case notModern(req.Method):
		c.stop()
		refuseHTTP(w, http.StatusNotFound, req.ID, CodeMethodNotFound, "Method not found: "+req.Method, nil)
		return
	}
	own := *req
	own.conn = c
	s.wg.Go(func() { c.done <- c.handler.Handle(c.ctx, &own) })
	c.serve(w, r, req)
}

// notModern lists methods that only sessions have.
func notModern(method string) bool {
	switch method {
	case "initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe":
		return true
	}
	return false
}

// checkModern finds what the protocol requires of a request and is not there.
// The status is 0 when nothing is wrong.
func checkModern(r *http.Request, req *Request, meta []byte) (status int, code int64, msg string, data []byte) {
	header := r.Header.Get("Mcp-Protocol-Version")
	version := textOf(memberOf(meta, metaVersion))
	bad := func(code int64, format string, args ...any) (int, int64, string, []byte) {
		return http.StatusBadRequest, code, fmt.Sprintf(format, args...), nil
	}
	switch {
	case version == "":
		return bad(CodeInvalidParams, "params._meta[%q] is missing", metaVersion)
	case memberOf(meta, metaCapabilities) == nil:
		return bad(CodeInvalidParams, "params._meta[%q] is missing", metaCapabilities)
	case header != version:
		return bad(CodeHeaderMismatch, "MCP-Protocol-Version is %q, _meta says %q", header, version)
	}
	if d, ok := dialectOf(version); !ok || !d.Stateless {
		supported := jsonv.From(Revisions())
		return http.StatusBadRequest, CodeUnsupportedVersion, "Unsupported protocol version",
			jsonv.Object(jsonv.Member{Key: "supported", Value: supported}, jsonv.Member{Key: "requested", Value: jsonv.String(version)}).Append(nil)
	}
	if got := r.Header.Get("Mcp-Method"); got != req.Method {
		return bad(CodeHeaderMismatch, "Mcp-Method is %q, the method is %q", got, req.Method)
	}
	name := Outgoing{Method: req.Method, Params: req.Params}.Name()
	if got := r.Header.Get("Mcp-Name"); name != "" && got != headerValue(name) {
		return bad(CodeHeaderMismatch, "Mcp-Name is %q, the message has %q", got, name)
	}
	return 0, 0, "", nil
}

// webCall is a stateless request that may be suspended while its client gets
// the input it was asked for.
type webCall struct {
	s       *HTTPServer
	handler Handler
	ctx     context.Context
	stop    context.CancelFunc
	asked   chan webAsk
	done    chan *Reply
	waits   chan asked // of the ask that is open
	out     *eventOut  // of the present round; guarded by s.mu
	expire  *time.Timer
}

// webAsk is a question of the handler to the client.
type webAsk struct {
	method string
	params []byte
	answer chan asked
}

// greet opens the handler as a session does, which tells it who asks and what
// for, and returns its answer to initialize.
func (c *webCall) greet(meta []byte) jsonv.Value {
	m, _ := jsonv.Parse(meta)
	params := jsonv.Object(
		jsonv.Member{Key: "protocolVersion", Value: jsonv.String(newestOf(EraSession).Revision)},
		jsonv.Member{Key: "capabilities", Value: m.Lookup(metaCapabilities)},
		jsonv.Member{Key: "clientInfo", Value: m.Lookup(metaClient)}).Append(nil)
	reply := c.handler.Handle(c.ctx, &Request{Method: "initialize", ID: []byte("0"), Params: params, conn: c})
	if level := m.Lookup(metaLogLevel); level.Kind() == jsonv.KindString {
		params = jsonv.Object(jsonv.Member{Key: "level", Value: level}).Append(nil)
		c.handler.Handle(c.ctx, &Request{Method: "logging/setLevel", ID: []byte("0"), Params: params, conn: c})
	}
	if reply == nil {
		return jsonv.Value{}
	}
	v, _ := jsonv.Parse(reply.Result)
	return v
}

// discovery turns an answer to initialize into one to server/discover.
func discovery(hello jsonv.Value) []byte {
	return jsonv.Object(
		jsonv.Member{Key: "resultType", Value: jsonv.String("complete")},
		jsonv.Member{Key: "supportedVersions", Value: jsonv.From(Revisions())},
		jsonv.Member{Key: "capabilities", Value: hello.Lookup("capabilities")},
		jsonv.Member{Key: "instructions", Value: hello.Lookup("instructions")},
		jsonv.Member{Key: "ttlMs", Value: jsonv.Int(0)},
		jsonv.Member{Key: "cacheScope", Value: jsonv.String("private")},
		jsonv.Member{Key: "_meta", Value: jsonv.Object(jsonv.Member{Key: metaServer, Value: hello.Lookup("serverInfo")})},
	).Append(nil)
}

// serve waits for the answer, or for a question to the client.
func (c *webCall) serve(w http.ResponseWriter, r *http.Request, req *Request) {
	out := &eventOut{w: w}
	c.s.mu.Lock()
	c.out = out
	c.s.mu.Unlock()
	select {
	case reply := <-c.done:
		defer c.stop()
		frame := completed(req, reply).frame(req.ID)
		if frame == nil {
			<-r.Context().Done()
			return
		}
		status := http.StatusOK
		if reply.Error != nil && reply.Error.Code == CodeMethodNotFound {
			status = http.StatusNotFound
		}
		out.last(frame, status)
	case q := <-c.asked:
		c.suspend(out, req, q)
	case <-r.Context().Done():
		c.stop()
		out.end()
	}
}

// suspend answers with the question and waits for the client to come back.
func (c *webCall) suspend(out *eventOut, req *Request, q webAsk) {
	token := rand.Text()
	c.waits = q.answer
	c.s.mu.Lock()
	c.out = &eventOut{}
	c.s.waiting[token] = c
	c.expire = time.AfterFunc(abandoned, func() {
		c.s.mu.Lock()
		delete(c.s.waiting, token)
		c.s.mu.Unlock()
		c.stop()
	})
	c.s.mu.Unlock()
	ask := []jsonv.Member{{Key: "method", Value: jsonv.String(q.method)}}
	if p, err := jsonv.Parse(q.params); err == nil {
		ask = append(ask, jsonv.Member{Key: "params", Value: p})
	}
	result := jsonv.Object(
		jsonv.Member{Key: "resultType", Value: jsonv.String("input_required")},
		jsonv.Member{Key: "inputRequests", Value: jsonv.Object(jsonv.Member{Key: "input", Value: jsonv.Object(ask...)})},
		jsonv.Member{Key: "requestState", Value: jsonv.String(token)}).Append(nil)
	out.last((&Reply{Result: result}).frame(req.ID), http.StatusOK)
}

// resume goes on with a suspended call.
func (s *HTTPServer) resume(w http.ResponseWriter, r *http.Request, req *Request, token string) {
	s.mu.Lock()
	c := s.waiting[token]
	delete(s.waiting, token)
	s.mu.Unlock()
	answer := memberOf(memberOf(req.Params, "inputResponses"), "input")
	if c == nil || answer == nil {
		refuseHTTP(w, http.StatusOK, req.ID, CodeInvalidParams, "requestState is not known, or inputResponses does not answer it", nil)
		return
	}
	c.expire.Stop()
	c.waits <- asked{result: bytes.Clone(answer)}
	c.serve(w, r, req)
}

// completed adds what each result of a stateless revision has.
func completed(req *Request, reply *Reply) *Reply {
	if reply == nil || reply.Raw != nil || reply.Error != nil || kindOf(reply.Result) != jsonv.KindObject {
		return reply
	}
	out := *reply
	switch req.Method {
	case "tools/list", "resources/list", "resources/templates/list", "prompts/list", "resources/read":
		if memberOf(out.Result, "ttlMs") == nil {
			out.Result = splice(out.Result, `"ttlMs":0,"cacheScope":`, []byte(`"private"`))
		}
	}
	if memberOf(out.Result, "resultType") == nil {
		out.Result = splice(out.Result, `"resultType":`, []byte(`"complete"`))
	}
	return &out
}

func (c *webCall) present() *eventOut {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	if c.out == nil {
		return &eventOut{}
	}
	return c.out
}

// notify sends what belongs to the request on its stream, and changes to those
// who listen for them.
func (c *webCall) notify(raw []byte) error {
	method := textOf(memberOf(raw, "method"))
	if _, ok := listened[method]; ok || method == "notifications/resources/updated" {
		c.s.publish(method, raw)
		return nil
	}
	return c.present().event(raw)
}

func (c *webCall) writeRaw(b []byte) error { return c.present().event(b) }

func (c *webCall) ask(ctx context.Context, method string, params []byte) (jsonv.Value, error) {
	q := webAsk{method: method, params: params, answer: make(chan asked, 1)}
	select {
	case c.asked <- q:
	case <-ctx.Done():
		return jsonv.Value{}, context.Cause(ctx)
	}
	select {
	case a := <-q.answer:
		return jsonv.Parse(a.result)
	case <-ctx.Done():
		return jsonv.Value{}, errors.New("the client did not come back with the input")
	}
}

// listener is one open subscription.
type listener struct {
	id     []byte
	filter jsonv.Value
	out    *eventOut
}

// listened maps notifications to what a subscription calls them.
var listened = map[string]string{
	"notifications/tools/list_changed":     "toolsListChanged",
	"notifications/prompts/list_changed":   "promptsListChanged",
	"notifications/resources/list_changed": "resourcesListChanged",
}

// subscribe serves subscriptions/listen until the client leaves.
func (s *HTTPServer) subscribe(w http.ResponseWriter, r *http.Request, req *Request) {
	p, _ := jsonv.Parse(req.Params)
	l := &listener{id: req.ID, filter: p.Lookup("notifications"), out: &eventOut{w: w}}
	ack := jsonv.Object(jsonv.Member{Key: "notifications", Value: l.filter}).Append(nil)
	s.mu.Lock() // nothing may come before the acknowledgement, nor be lost after it
	_ = l.out.event(appendNotification(nil, acknowledged, l.tagged(ack)))
	s.listeners[l] = struct{}{}
	s.mu.Unlock()
	select {
	case <-r.Context().Done():
	case <-s.ctx.Done():
	}
	s.mu.Lock()
	delete(s.listeners, l)
	s.mu.Unlock()
	l.out.end()
}

// tagged adds the subscription's id.
func (l *listener) tagged(params []byte) []byte {
	v, err := jsonv.Parse(params)
	id, err2 := jsonv.Parse(l.id)
	if err != nil || err2 != nil || v.Kind() != jsonv.KindObject {
		v = jsonv.Object()
	}
	m, _ := v.Get("_meta")
	if m.Kind() != jsonv.KindObject {
		m = jsonv.Object()
	}
	return v.With("_meta", m.With(metaSubscription, id)).Append(nil)
}

// publish sends a change to those who asked for it.
func (s *HTTPServer) publish(method string, raw []byte) {
	s.mu.Lock()
	var to []*listener
	for l := range s.listeners {
		if l.wants(method, raw) {
			to = append(to, l)
		}
	}
	s.mu.Unlock()
	for _, l := range to {
		_ = l.out.event(appendNotification(nil, method, l.tagged(memberOf(raw, "params"))))
	}
}

func (l *listener) wants(method string, raw []byte) bool {
	if name := listened[method]; name != "" {
		return l.filter.Lookup(name).Bool()
	}
	uri := textOf(memberOf(memberOf(raw, "params"), "uri"))
	var uris []string
	for _, e := range l.filter.Lookup("resourceSubscriptions").Elems() {
		uris = append(uris, e.Text())
	}
	return slices.Contains(uris, uri)
}
