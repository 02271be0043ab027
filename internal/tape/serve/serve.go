package serve

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/secret"
	"mcptest/internal/client/protocol"
	"mcptest/internal/server/mcpserver"
	"mcptest/internal/tape/cassette"
)

// Options configure how a cassette is served.
type Options struct {
	Nearest bool // answer requests that are not recorded with the nearest recording
	Paced   bool // at the speed of the recorded server
	HTTP    bool // over HTTP, where nothing can follow a response
	Report  func(message string)
	// Crash ends the process as the recorded one ended during a call; nil: the
	// connection is reset.
	Crash func(cassette.Exit)
}

// Server serves one cassette to any number of clients. Each session begins with
// all recordings unused.
type Server struct {
	c        *cassette.Cassette
	o        Options
	redact   *secret.Redactor
	versions []string // that were recorded, newest first
	shared   *cassette.Player
	schemas  map[string]jsonv.Value // of the inputs of tools

	mu       sync.Mutex
	sessions int
}

// New prepares a cassette for serving.
func New(c *cassette.Cassette, o Options) (*Server, error) {
	s := &Server{c: c, o: o, redact: secret.NewRedactor(), schemas: map[string]jsonv.Value{}}
	var err error
	if s.shared, err = s.newPlayer(); err != nil {
		return nil, err
	}
	seen := map[string]bool{c.Protocol: true}
	for _, call := range s.shared.Calls() {
		if call.Request == nil || call.Response == nil {
			continue
		}
		request, response := c.Data(call.Request), c.Data(call.Response)
		// A refusal of a protocol version is not a use of it.
		if result := protocol.MemberOf(response, "result"); result != nil {
			seen[protocol.TextOf(protocol.MemberOf(result, "protocolVersion"))] = true
			seen[protocol.VersionIn(protocol.MemberOf(request, "params"))] = true
			tools, _ := jsonv.Elements(protocol.MemberOf(result, "tools"))
			for _, tool := range tools {
				s.schemas[protocol.TextOf(protocol.MemberOf(tool, "name"))], _ = jsonv.Parse(protocol.MemberOf(tool, "inputSchema"))
			}
		}
	}
	if err := c.Err(); err != nil {
		return nil, err
	}
	s.versions = slices.DeleteFunc(protocol.Versions(), func(v string) bool { return !seen[v] })
	if len(s.versions) == 0 {
		return nil, &cassette.Error{File: c.File, Says: "no handshake is recorded: a client could not connect"}
	}
	return s, nil
}

// Versions returns the recorded protocol versions, newest first.
func (s *Server) Versions() []string { return s.versions }

// Handler returns the server's end of a new connection.
func (s *Server) Handler() mcpserver.Handler { return &session{s: s, taken: map[string]taken{}} }

// begin returns a separate player for a session.
func (s *Server) begin() (*cassette.Client, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sessions++
	player, err := s.newPlayer()
	if err != nil {
		return nil, err
	}
	return player.Client(s.sessions), nil
}

func (s *Server) newPlayer() (*cassette.Player, error) {
	p, err := cassette.NewPlayer(s.c, s.redact)
	if err != nil {
		return nil, err
	}
	p.OmitRefusals()
	return p, nil
}

// session is one connection. Over HTTP a request without a session has its own
// connection.
type session struct {
	s *Server

	mu     sync.Mutex
	client *cassette.Client // nil before the first message
	taken  map[string]taken // by the id of the request
	noted  []*cassette.Call // notifications over HTTP, until the next request
	busy   int              // requests that are being answered
}

// taken is the recording assigned to a request.
type taken struct {
	call  *cassette.Call
	early []*cassette.Call // notifications and streams, whose messages came before the call
	reply *mcpserver.Reply // in place of a call
}

// Versions implements [mcpserver.VersionedHandler].
func (x *session) Versions() []string { return x.s.versions }

// InputSchema implements [mcpserver.SchemaProvider]: the server checks the headers
// of a call as the recorded one did.
func (x *session) InputSchema(tool string) jsonv.Value { return x.s.schemas[tool] }

// Admit implements [mcpserver.RequestFilter]: recordings are chosen in the order
// of the requests, which are then answered at the same time.
func (x *session) Admit(req *mcpserver.Request) bool {
	if x.s.o.HTTP && isStateless(req.Params) {
		return true // it is handled on a separate connection
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.taken[string(req.ID)] = x.take(req)
	return true
}

// isStateless reports whether a request with these parameters belongs to no session.
func isStateless(params []byte) bool { return protocol.VersionIn(params) != "" }

func (x *session) take(req *mcpserver.Request) taken {
	if version := protocol.VersionIn(req.Params); version != "" && req.Method != protocol.MethodDiscover && !slices.Contains(x.s.versions, version) {
		why := fmt.Sprintf("%s was recorded with protocol version %s: a request with %s is not served", x.s.c.File, strings.Join(x.s.versions, " and "), version)
		x.s.o.Report(why)
		return taken{reply: &mcpserver.Reply{Error: mcpserver.UnsupportedVersion(why, x.s.versions, version)}}
	}
	if x.client == nil {
		if x.s.o.HTTP && isStateless(req.Params) {
			x.client = x.s.shared.Client(1)
		} else {
			client, err := x.s.begin()
			if err != nil {
				return taken{reply: mcpserver.Failure(-32603, "%v", err)}
			}
			x.client = client
		}
	}
	call, miss := x.client.Take(req.Raw)
	switch {
	case call != nil && req.Notification && x.s.o.HTTP:
		x.noted = append(x.noted, call) // its response has no stream for messages
		return taken{}
	case call != nil && req.Notification:
		return taken{call: call}
	case call != nil:
		early := append(x.noted, x.client.TakeEarly(call)...)
		x.noted = nil
		return taken{call: call, early: early}
	case miss == nil && req.Method == protocol.MethodDiscover:
		return taken{reply: mcpserver.Failure(-32601, "%s was recorded with protocol version %s, which has no server/discover", x.s.c.File, x.s.versions[0])}
	case miss == nil && req.Method == "ping":
		return taken{reply: &mcpserver.Reply{Result: []byte("{}")}}
	case miss == nil && req.Notification:
		return taken{}
	case miss == nil:
		x.s.o.Report(x.s.c.File + " has no recording of " + req.Method)
		return taken{reply: mcpserver.Failure(-32601, "%s has no recording of %s", x.s.c.File, req.Method)}
	case miss.Nearest != nil && miss.Differs == "":
		x.s.o.Report(miss.Error() + ": it is used again")
		return taken{call: miss.Nearest}
	case miss.Nearest != nil && x.s.o.Nearest:
		x.s.o.Report(miss.Error() + ": it is used")
		return taken{call: miss.Nearest}
	}
	x.s.o.Report(miss.Error())
	return taken{reply: mcpserver.Failure(-32601, "%s", miss.Error())}
}

// Handle implements [mcpserver.Handler].
func (x *session) Handle(ctx context.Context, req *mcpserver.Request) *mcpserver.Reply {
	if req.Caller != nil && req.Method == "initialize" {
		return x.s.introduce()
	}
	x.mu.Lock()
	id := string(req.ID)
	t, ok := x.taken[id]
	delete(x.taken, id)
	if !ok {
		t = x.take(req)
	}
	x.busy++
	x.mu.Unlock()
	defer func() {
		x.mu.Lock()
		x.busy--
		x.mu.Unlock()
	}()
	switch {
	case req.Notification && t.call == nil:
		return nil
	case req.Notification && x.asks(t.call):
		// The caller reads the input, from which the client's answers come.
		go func() { _, _ = x.play(ctx, req, t.call) }()
		return nil
	case req.Notification:
		_, _ = x.play(ctx, req, t.call)
		return nil
	}
	if t.call == nil {
		return t.reply
	}
	for _, stream := range t.early {
		_, _ = x.play(ctx, req, stream)
	}
	reply, err := x.play(ctx, req, t.call)
	if err != nil {
		return mcpserver.Failure(-32603, "%v", err)
	}
	return reply
}

// asks reports whether the recorded server sent a request after a message.
func (x *session) asks(call *cassette.Call) bool {
	return slices.ContainsFunc(call.Frames, func(f *cassette.Frame) bool {
		data := x.s.c.Data(f)
		return f.Dir == cassette.FromServer && protocol.MemberOf(data, "method") != nil && protocol.MemberOf(data, "id") != nil
	})
}

// play sends the recorded messages of a call and returns its response. A client that
// cancels the call gets none.
func (x *session) play(ctx context.Context, req *mcpserver.Request, call *cassette.Call) (*mcpserver.Reply, error) {
	p := &playing{call: call, http: x.s.o.HTTP, at: call.Request.At}
	p.paced = x.s.o.Paced && call.Verb == "" // a stream of the session came before the request
	played := x.s.shared.Play(call, req.Raw)
	reach := func(key string, _ *cassette.Frame) error { return p.reach(ctx, key) }
	for {
		f, data, err := played.Next(reach)
		if err == io.EOF {
			break
		}
		if err == nil && p.follows() {
			p.add(f, data)
			continue
		}
		if err == nil {
			p.keepPace(ctx, f)
		}
		if err == cassette.ErrWaits || ctx.Err() != nil {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		switch {
		case f == call.Response:
			p.keepApart(ctx)
			if canAsk(req, data) {
				return x.replyInput(ctx, req, call, data)
			}
			p.respond(f, data)
		case call.IsMessage(f) && len(data) > 0:
			if err := send(ctx, req, data); err != nil {
				return nil, err
			}
			p.sent = true
		}
	}
	if p.reply != nil || req.Notification {
		return p.reply, nil
	}
	return x.replyUnanswered(ctx, call), nil
}

// canAsk reports whether a response asks for input that the client can be asked for.
func canAsk(req *mcpserver.Request, data []byte) bool {
	return req.Caller != nil && asksInput(data)
}

// playing is a recorded call while its messages are sent.
type playing struct {
	call  *cassette.Call
	http  bool
	paced bool
	at    time.Duration // in the recording, of the frame before
	sent  bool          // a message, before the response
	reply *mcpserver.Reply
}

// reach waits until the client has sent what it had sent when the next frame was recorded.
func (p *playing) reach(ctx context.Context, key string) error {
	if cassette.Cancels(key) && (p.reply == nil || p.http) {
		<-ctx.Done()
		return cassette.ErrWaits
	}
	return nil // the answer of the client was awaited when it was asked
}

// follows reports whether a message is sent with the response, because it comes after it.
func (p *playing) follows() bool { return p.reply != nil && !p.http }

// add adds a message to the response.
func (p *playing) add(f *cassette.Frame, data []byte) {
	if p.call.IsMessage(f) && len(data) > 0 {
		p.reply.Raw = slices.Concat(p.reply.Raw, data, []byte("\n"))
	}
}

// keepPace waits as long as the recorded server did.
func (p *playing) keepPace(ctx context.Context, f *cassette.Frame) {
	if p.paced {
		wait(ctx, f.At-p.at)
		p.at = f.At
	}
}

// keepApart makes it likely that a message and the response are read one after the other.
func (p *playing) keepApart(ctx context.Context) {
	if p.sent && !p.http {
		wait(ctx, apart)
	}
}

func (p *playing) respond(f *cassette.Frame, data []byte) {
	p.reply = makeReply(data, f.Omitted)
	if !p.http {
		p.reply.Raw = slices.Concat(data, []byte("\n"))
	}
}

// replyUnanswered returns the reply to a request without a recorded response.
func (x *session) replyUnanswered(ctx context.Context, call *cassette.Call) *mcpserver.Reply {
	if exit, broken := call.FindCrash(); broken {
		if x.s.o.Crash != nil && exit != nil {
			x.finish(ctx)
			x.s.o.Crash(*exit)
		}
		return &mcpserver.Reply{Reset: x.s.o.HTTP}
	}
	return mcpserver.Failure(-32603, "%v", x.s.c.ExplainNoResponse(call))
}

// finish waits before a crash until the other requests are answered, but not for the
// answer of a client that does not come.
func (x *session) finish(ctx context.Context) {
	for end := time.Now().Add(time.Second); ctx.Err() == nil && time.Now().Before(end); {
		wait(ctx, apart) // responses are written a moment later
		x.mu.Lock()
		rest := len(x.taken) + x.busy - 1
		x.mu.Unlock()
		if rest == 0 {
			return
		}
	}
}

// apart is the time between notifications and the response over stdio: clients of the
// TypeScript SDK 1.x lose progress that they read together with the response.
const apart = 20 * time.Millisecond

// send forwards a message that a server sent before its response. It waits for the
// answer to a request of the server.
func send(ctx context.Context, req *mcpserver.Request, data []byte) error {
	scan := protocol.NewScanner()
	if data[0] != '{' || scan.Scan(data) != nil || scan.Has&protocol.HasMethod == 0 {
		return req.WriteRaw(slices.Concat(data, []byte("\n")))
	}
	method := protocol.TextOf(scan.Method)
	if scan.Has&protocol.HasID == 0 {
		return req.Notify(method, scan.Params)
	}
	_, _ = req.Ask(ctx, method, scan.Params) // an error is an answer too
	return nil
}

// makeReply converts a recorded response to a reply.
func makeReply(data []byte, omitted int64) *mcpserver.Reply {
	if omitted > 0 {
		return mcpserver.Failure(-32603, "the recorded response has %d bytes, and only its beginning is in the cassette", omitted)
	}
	if result := protocol.MemberOf(data, "result"); result != nil {
		return &mcpserver.Reply{Result: result}
	}
	if e := protocol.MemberOf(data, "error"); e != nil {
		return &mcpserver.Reply{Error: protocol.ParseRPCError(e)}
	}
	return &mcpserver.Reply{Raw: slices.Concat(data, []byte("\n"))}
}

func wait(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
