package mcpserver

import (
	"context"
	"fmt"
	"strconv"
	"sync"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/protocol"
)

// Handler implements the behavior of a server. Each request is handled on its own
// goroutine; notifications are handled one after another, in order, before any later
// message, so a handler must not block in them.
type Handler interface {
	// Handle answers a request. Nil, or a reply for a notification, sends nothing.
	Handle(ctx context.Context, req *Request) *Reply
}

// HandlerFunc is an adapter that makes a function a [Handler].
type HandlerFunc func(ctx context.Context, req *Request) *Reply

// Handle calls f.
func (f HandlerFunc) Handle(ctx context.Context, req *Request) *Reply { return f(ctx, req) }

// VersionedHandler is a [Handler] that declares its protocol versions, newest first.
// A handler without this method supports those with sessions over stdio, and all of
// them over HTTP.
type VersionedHandler interface {
	Handler
	Versions() []string
}

// SchemaProvider is a [Handler] that knows the input schemas of its tools, absent for
// a tool that it does not have. The HTTP server uses them to determine which
// arguments of a call are repeated in headers.
type SchemaProvider interface {
	Handler
	InputSchema(tool string) jsonv.Value
}

// RequestFilter is a [Handler] that receives each request before it is handled, in
// the order of arrival. A request that it does not admit is never answered. It must
// not block.
type RequestFilter interface {
	Handler
	Admit(req *Request) bool
}

// Announcer is a [Handler] that sends notifications which belong to no request. It gets
// the function that sends them when its session begins. Over HTTP they go to the stream
// that the client opened with GET, and are lost without one.
type Announcer interface {
	Handler
	Announce(send func(method string) error)
}

// announce passes the function that sends frames to a handler that announces.
func announce(h Handler, send func(raw []byte) error) {
	if a, ok := h.(Announcer); ok {
		a.Announce(func(method string) error { return send(protocol.AppendNotification(nil, method, nil)) })
	}
}

func admits(h Handler, req *Request) bool {
	a, ok := h.(RequestFilter)
	return !ok || a.Admit(req)
}

// Request is one request or notification of a client, as a server sees it.
type Request struct {
	Method       string
	ID           []byte // JSON text, nil for a notification
	Params       []byte // JSON text, nil when absent
	Raw          []byte // the whole frame
	Notification bool
	Caller       *Caller // the sender of a request that belongs to no session; otherwise nil

	conn peer
}

// Caller describes the sender of a request of a stateless revision, as declared in
// the request.
type Caller struct {
	Version      string
	Client       jsonv.Value // clientInfo, absent when the request has none
	Capabilities jsonv.Value // an object
	LogLevel     string      // "" when it requests no log messages
}

// Question is one request to the client, made while one of its own requests is
// handled.
type Question struct {
	Key    string // identifies the response when several questions are asked together
	Method string
	Params []byte // JSON text, nil for none
}

// Reply answers a request. Exactly one of Result, Error and Raw is used, in
// the order Raw, Error, Result; a reply with none of them sends nothing.
type Reply struct {
	Result []byte // JSON text
	Error  *protocol.RPCError
	Raw    []byte     // bytes put on the wire unchanged, line ends included
	Reset  bool       // over HTTP, the connection is reset in place of a response
	HTTP   *HTTPFault // over HTTP, it replaces the rest of the reply; may be nil
}

// Failure returns the reply of a request that fails.
func Failure(code int64, format string, args ...any) *Reply {
	return &Reply{Error: &protocol.RPCError{Code: code, Message: fmt.Sprintf(format, args...)}}
}

// frame returns the bytes that a reply puts on the wire.
func (r *Reply) frame(id []byte) []byte {
	switch {
	case r == nil:
		return nil
	case r.Raw != nil:
		return r.Raw
	case r.Error == nil && r.Result == nil:
		return nil
	}
	raw, _ := protocol.AppendResponse(nil, id, r.Result, r.Error)
	return append(raw, '\n')
}

// Notify sends a notification to the client.
func (r *Request) Notify(method string, params []byte) error {
	return r.conn.notify(protocol.AppendNotification(nil, method, params))
}

// WriteRaw puts bytes on the wire unchanged, without a line end.
func (r *Request) WriteRaw(b []byte) error { return r.conn.writeRaw(b) }

// Ask sends a request to the client and waits for its response. The error wraps an
// *mcp.RPCError when the client responded with one.
func (r *Request) Ask(ctx context.Context, method string, params []byte) (jsonv.Value, error) {
	got, err := r.AskAll(ctx, []Question{{Key: "input", Method: method, Params: params}})
	if err != nil {
		return jsonv.Value{}, err
	}
	return got[0], nil
}

// AskAll asks several questions together and returns the responses in their order: in a
// session as requests to the client, otherwise in one result that asks for input, by
// their keys. When it returns, ID and Params are those of the client's last request.
// The error wraps an *mcp.RPCError when the client responded with one; it has
// [mcp.CodeMissingCapability] when the request belongs to no session and its sender
// did not declare the capability to answer.
func (r *Request) AskAll(ctx context.Context, qs []Question) ([]jsonv.Value, error) {
	return r.conn.askAll(ctx, qs)
}

// peer sends messages to the client of a request before the request is answered.
type peer interface {
	notify(raw []byte) error
	writeRaw(b []byte) error
	askAll(ctx context.Context, qs []Question) ([]jsonv.Value, error)
}

// clientResponse is the response of a client.
type clientResponse struct {
	result []byte
	err    *protocol.RPCError
}

// clientRequests are the requests of a server that wait for the client's response.
type clientRequests struct {
	mu     sync.Mutex
	lastID int64
	open   map[string]chan clientResponse
	gone   bool
}

// askAll sends the questions, one after another, and waits for all responses.
func (a *clientRequests) askAll(ctx context.Context, qs []Question, send func(context.Context, []byte) error) ([]jsonv.Value, error) {
	waits := make([]func() (jsonv.Value, error), len(qs))
	for i, q := range qs {
		wait, err := a.ask(ctx, q, send)
		if err != nil {
			return nil, err
		}
		waits[i] = wait
	}
	out := make([]jsonv.Value, len(qs))
	var first error
	for i, wait := range waits {
		v, err := wait()
		if err != nil && first == nil {
			first = fmt.Errorf("%s failed: %w", qs[i].Method, err)
		}
		out[i] = v
	}
	if first != nil {
		return nil, first
	}
	return out, nil
}

// ask sends one question. wait returns its response.
func (a *clientRequests) ask(
	ctx context.Context, q Question, send func(context.Context, []byte) error,
) (wait func() (jsonv.Value, error), err error) {
	ch := make(chan clientResponse, 1)
	a.mu.Lock()
	if a.gone {
		a.mu.Unlock()
		return nil, errHangUp
	}
	a.lastID++
	id := strconv.FormatInt(a.lastID, 10)
	if a.open == nil {
		a.open = map[string]chan clientResponse{}
	}
	a.open[id] = ch
	a.mu.Unlock()
	raw, _ := protocol.AppendRequest(id, q.Method, q.Params, false)
	if err := send(ctx, raw); err != nil {
		return nil, err
	}
	return func() (jsonv.Value, error) {
		select {
		case r, ok := <-ch:
			switch {
			case !ok:
				return jsonv.Value{}, errHangUp
			case r.err != nil:
				return jsonv.Value{}, r.err
			}
			return jsonv.Parse(r.result)
		case <-ctx.Done():
			a.mu.Lock()
			delete(a.open, id)
			a.mu.Unlock()
			return jsonv.Value{}, context.Cause(ctx)
		}
	}, nil
}

// passAnswer passes the client's response to the pending question.
func (a *clientRequests) passAnswer(e *protocol.Envelope) {
	if !e.IsResponse() {
		return
	}
	id := string(e.ID)
	a.mu.Lock()
	defer a.mu.Unlock()
	if ch := a.open[id]; ch != nil {
		delete(a.open, id)
		r := clientResponse{result: e.Result}
		if e.Has&protocol.HasError != 0 {
			r.err = protocol.ParseRPCError(e.Err)
		}
		ch <- r
	}
}

// hangUp ends all waits for a response.
func (a *clientRequests) hangUp() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.gone = true
	for id, ch := range a.open {
		delete(a.open, id)
		close(ch)
	}
}
