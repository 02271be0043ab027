package mcpserver

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/protocol"
)

// stateless serves the requests of revisions without sessions, over any
// transport.
type stateless struct {
	ctx       context.Context // ends every call
	handler   func() Handler  // for one request
	revisions []string        // of the handler, newest first
	wg        sync.WaitGroup

	mu        sync.Mutex
	gone      bool                  // the client disconnected: no input will come
	waiting   map[string]*openRound // calls that wait for input, by requestState
	listeners map[*listener]struct{}
}

// responseWriter receives the messages that belong to one request.
type responseWriter interface {
	event(raw []byte) error        // a message before the response
	raw(b []byte) error            // bytes unchanged
	last(frame []byte, status int) // the response; status is its HTTP status
	end()                          // nothing is sent
	reset()                        // the connection is reset, if it is that of the request alone
}

// newStateless returns nil when all of the revisions have sessions.
func newStateless(ctx context.Context, handler func() Handler, revisions []string) *stateless {
	s := &stateless{
		ctx:       ctx,
		handler:   handler,
		revisions: revisions,
		waiting:   map[string]*openRound{},
		listeners: map[*listener]struct{}{},
	}
	if len(s.own()) == 0 {
		return nil
	}
	return s
}

// own returns the revisions without sessions.
func (s *stateless) own() []string {
	var own []string
	for _, r := range s.revisions {
		if protocol.VersionOf(r).Stateless {
			own = append(own, r)
		}
	}
	return own
}

// takes reports whether a message on a connection that both eras share belongs to no
// session: its _meta says so, its method exists only in these revisions, or the
// handler supports no other revisions.
func (s *stateless) takes(req *Request) bool {
	switch {
	case s == nil || req.Notification:
		return false
	case req.Method == protocol.MethodDiscover, req.Method == protocol.MethodListen, len(s.own()) == len(s.revisions):
		return true
	}
	return protocol.MemberOf(protocol.MemberOf(req.Params, "_meta"), protocol.MetaVersion) != nil
}

// refused says why a request was rejected; the zero value means that it was not.
type refused struct {
	status int // of HTTP
	err    *protocol.RPCError
}

func (r refused) tell(out responseWriter, id []byte) {
	out.last((&Reply{Error: r.err}).frame(id), r.status)
}

func refuse(status int, code int64, format string, args ...any) refused {
	return refused{status, &protocol.RPCError{Code: code, Message: fmt.Sprintf(format, args...)}}
}

// callerOf returns the description of the sender of a request.
func (s *stateless) callerOf(req *Request) (*Caller, refused) {
	meta := protocol.MemberOf(req.Params, "_meta")
	version, capabilities := protocol.TextOf(protocol.MemberOf(meta, protocol.MetaVersion)), protocol.MemberOf(meta, protocol.MetaCapabilities)
	switch {
	case version == "" && req.Method == "initialize":
		return nil, refuseUnsupported(s.revisions, protocol.TextOf(protocol.MemberOf(req.Params, "protocolVersion")))
	case version == "":
		return nil, refuse(http.StatusBadRequest, protocol.CodeInvalidParams, "params._meta[%q] is missing", protocol.MetaVersion)
	case protocol.KindOf(capabilities) != jsonv.KindObject:
		return nil, refuse(http.StatusBadRequest, protocol.CodeInvalidParams, "params._meta[%q] is missing or not an object", protocol.MetaCapabilities)
	case !slices.Contains(s.own(), version):
		return nil, refuseUnsupported(s.revisions, version)
	}
	m, _ := jsonv.Parse(meta)
	return &Caller{
		Version:      version,
		Client:       m.Lookup(protocol.MetaClient),
		Capabilities: m.Lookup(protocol.MetaCapabilities),
		LogLevel:     m.Lookup(protocol.MetaLogLevel).Text(),
	}, refused{}
}

// refuseUnsupported refuses a revision and lists the supported ones.
func refuseUnsupported(supported []string, version string) refused {
	return refused{http.StatusBadRequest, UnsupportedVersion("Unsupported protocol version", supported, version)}
}

// UnsupportedVersion returns the error that refuses a protocol version.
func UnsupportedVersion(message string, supported []string, version string) *protocol.RPCError {
	return &protocol.RPCError{
		Code: protocol.CodeUnsupportedVersion, Message: message,
		Data: jsonv.ObjectOf("supported", jsonv.From(supported), "requested", version).Append(nil),
	}
}

// subscribes starts the subscription that a message requests. It returns nil when the
// message requests none or is invalid.
func (s *stateless) subscribes(ctx context.Context, out responseWriter, req *Request) *listener {
	if req.Method != protocol.MethodListen || !s.takes(req) {
		return nil
	}
	if _, bad := s.callerOf(req); bad.err != nil {
		return nil
	}
	return s.subscribe(ctx, out, req)
}

// serve handles one request. It returns when the request is answered, or when ctx
// ends because the client canceled it.
func (s *stateless) serve(ctx context.Context, out responseWriter, req *Request) {
	caller, bad := s.callerOf(req)
	switch {
	case bad.err != nil:
		bad.tell(out, req.ID)
		return
	case notModern(req.Method):
		refuse(http.StatusNotFound, protocol.CodeMethodNotFound, "Method not found: %s", req.Method).tell(out, req.ID)
		return
	case req.Method == protocol.MethodListen:
		s.listen(ctx, s.subscribe(ctx, out, req))
		return
	}
	own := *req
	own.Caller = caller
	if req.Method == protocol.MethodDiscover {
		out.last((&Reply{Result: s.discovery(ctx, &own)}).frame(req.ID), http.StatusOK)
		return
	}
	s.round(ctx, out, &own)
}

// notModern reports whether only sessions have the method.
func notModern(method string) bool {
	switch method {
	case "initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe":
		return true
	}
	return false
}

// discovery responds to server/discover with the handler's response to initialize.
func (s *stateless) discovery(ctx context.Context, req *Request) []byte {
	params := jsonv.ObjectOf(
		"protocolVersion", protocol.SessionVersions()[0], "capabilities", req.Caller.Capabilities, "clientInfo", req.Caller.Client,
	).Append(nil)
	hello := jsonv.Value{}
	greeting := &Request{Method: "initialize", ID: []byte("0"), Params: params, Caller: req.Caller, conn: noPeer{}}
	if reply := s.handler().Handle(ctx, greeting); reply != nil {
		hello, _ = jsonv.Parse(reply.Result)
	}
	return jsonv.ObjectOf(
		"resultType", "complete", "supportedVersions", jsonv.From(s.revisions), "capabilities", hello.Lookup("capabilities"),
		"instructions", hello.Lookup("instructions"), "ttlMs", 0, "cacheScope", "private",
		"_meta", jsonv.ObjectOf(protocol.MetaServer, hello.Lookup("serverInfo")),
	).Append(nil)
}

// noPeer is the peer of a request during which nothing may be sent to the client.
type noPeer struct{}

func (noPeer) notify([]byte) error { return errNoStream }

func (noPeer) writeRaw([]byte) error { return errNoStream }

func (noPeer) askAll(context.Context, []Question) ([]jsonv.Value, error) { return nil, errNoStream }

// completeResult adds the members that each result of a stateless revision has.
func completeResult(method string, reply *Reply) *Reply {
	if reply == nil || reply.Raw != nil || reply.Error != nil || protocol.KindOf(reply.Result) != jsonv.KindObject {
		return reply
	}
	out := *reply
	switch method {
	case "tools/list", "resources/list", "resources/templates/list", "prompts/list", "resources/read":
		if protocol.MemberOf(out.Result, "ttlMs") == nil {
			out.Result = protocol.PrependMember(out.Result, `"ttlMs":0,"cacheScope":`, []byte(`"private"`))
		}
	}
	if protocol.MemberOf(out.Result, "resultType") == nil {
		out.Result = protocol.PrependMember(out.Result, `"resultType":`, []byte(`"complete"`))
	}
	return &out
}

// statusOf returns the HTTP status of a reply.
func statusOf(r *Reply) int {
	if r == nil || r.Error == nil {
		return http.StatusOK
	}
	switch r.Error.Code {
	case protocol.CodeMethodNotFound:
		return http.StatusNotFound
	case protocol.CodeMissingCapability, protocol.CodeUnsupportedVersion, protocol.CodeHeaderMismatch:
		return http.StatusBadRequest
	}
	return http.StatusOK
}
