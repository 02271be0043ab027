package mock

import (
	"context"
	"fmt"
	"slices"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/protocol"
	"mcptest/internal/server/mcpserver"
)

// codeNotFound is MCP's code for a resource that does not exist, in sessions.
const codeNotFound = -32002

// Admit implements [mcpserver.RequestFilter]. With the fault wedged, no request is answered
// from the first one that does work on, regardless of how fast earlier or later requests are
// handled.
func (s *Session) Admit(req *mcpserver.Request) bool {
	srv := s.server
	if srv.fault.Wedged && works(req.Method) && srv.m.methods[req.Method] == nil {
		srv.wedged.Store(true)
	}
	return !srv.wedged.Load()
}

// works reports whether faults affect the method.
func works(method string) bool {
	return method == "tools/call" || method == "resources/read" || method == "prompts/get"
}

// Handle implements [mcpserver.Handler].
func (s *Session) Handle(ctx context.Context, req *mcpserver.Request) *mcpserver.Reply {
	if req.Notification {
		return nil
	}
	sc := &scope{req: req, sess: s, asks: jsonv.Object()}
	if req.Params != nil {
		sc.params = parsed(req.Params)
		if sc.params.Kind() != jsonv.KindObject {
			return failure(protocol.CodeInvalidParams, "params must be an object, got %s", sc.params.Kind())
		}
	}
	sc.token = sc.params.Lookup("_meta", "progressToken")
	if r := s.server.m.methods[req.Method]; r != nil {
		sc.calls = s.server.world.called(r)
		return s.play(ctx, sc, r, resultOfMethod)
	}
	if works(req.Method) {
		return s.work(ctx, sc)
	}
	if r := s.aboutTasks(ctx, sc); r != nil || ctx.Err() != nil {
		return r
	}
	return s.housekeeping(sc)
}

// work handles the requests that faults affect.
func (s *Session) work(ctx context.Context, sc *scope) *mcpserver.Reply {
	f := s.server.fault
	switch {
	case f.Hang:
		return s.hang(ctx)
	case f.Slow > 0:
		if !sleep(ctx, f.Slow) {
			return nil
		}
	case f.Recover > 0:
		if nth, yes := s.server.world.failing(f.Recover); yes {
			return failure(protocol.CodeInternal, "not ready yet: call %d of %d that fail (fault recover-after:%d)", nth, f.Recover, f.Recover)
		}
	}
	switch sc.req.Method {
	case "tools/call":
		return s.callTool(ctx, sc)
	case "prompts/get":
		return s.getPrompt(ctx, sc)
	}
	return s.readResource(ctx, sc)
}

func (s *Session) housekeeping(sc *scope) *mcpserver.Reply {
	m := s.server.m
	switch sc.req.Method {
	case "initialize":
		return answer(s.initialize(sc))
	case "ping":
		return answer(jsonv.Object())
	case "tools/list":
		listed := func(t *tool) jsonv.Value { return t.listed }
		if sc.req.Caller == nil && sc.knowsTasks() {
			listed = (*tool).inSession
		}
		return list(m, sc, "tools", m.tools, listed)
	case "resources/list":
		return list(m, sc, "resources", m.resources, func(r *resource) jsonv.Value { return r.listed })
	case "resources/templates/list":
		return list(m, sc, "resourceTemplates", m.templates, func(t *resourceTemplate) jsonv.Value { return t.listed })
	case "prompts/list":
		return list(m, sc, "prompts", m.prompts, func(p *prompt) jsonv.Value { return p.listed })
	case "completion/complete":
		return s.complete(sc)
	case "logging/setLevel":
		return s.setLevel(sc)
	case "resources/subscribe", "resources/unsubscribe":
		return s.subscribe(sc)
	}
	return failure(protocol.CodeMethodNotFound, "Method not found: %s", sc.req.Method)
}

// hang waits until the request is canceled or the connection ends.
func (s *Session) hang(ctx context.Context) *mcpserver.Reply {
	select {
	case <-ctx.Done():
	case <-s.gone:
	}
	return nil
}

// sleep waits for d and reports whether it elapsed before ctx was done.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

func answer(result jsonv.Value) *mcpserver.Reply { return &mcpserver.Reply{Result: result.Append(nil)} }

func failure(code int64, format string, args ...any) *mcpserver.Reply {
	return &mcpserver.Reply{Error: &protocol.RPCError{Code: code, Message: fmt.Sprintf(format, args...)}}
}

// toolFailure returns a result with isError, which is how a tool's own failures are
// reported to the model.
func toolFailure(format string, args ...any) *mcpserver.Reply {
	block := jsonv.ObjectOf("type", "text", "text", fmt.Sprintf(format, args...))
	return answer(jsonv.ObjectOf("content", jsonv.Array(block), "isError", true))
}

func (s *Session) setLevel(sc *scope) *mcpserver.Reply {
	level := sc.params.Lookup("level").Text()
	i := slices.Index(logLevels, level)
	if i < 0 {
		return failure(protocol.CodeInvalidParams, "unknown log level %q", level)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.level = i
	return answer(jsonv.Object())
}

func (s *Session) subscribe(sc *scope) *mcpserver.Reply {
	uri := sc.params.Lookup("uri")
	if uri.Kind() != jsonv.KindString {
		return failure(protocol.CodeInvalidParams, "uri is missing")
	}
	if _, ok := s.server.m.find(uri.Text()); !ok {
		return notFound(sc, uri.Text())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if sc.req.Method == "resources/subscribe" {
		s.subscribed[uri.Text()] = true
	} else {
		delete(s.subscribed, uri.Text())
	}
	return answer(jsonv.Object())
}

func notFound(sc *scope, uri string) *mcpserver.Reply {
	code := int64(codeNotFound)
	if sc.req.Caller != nil {
		code = protocol.CodeInvalidParams
	}
	r := failure(code, "Resource not found: %s", uri)
	r.Error.Data = jsonv.ObjectOf("uri", uri).Append(nil)
	return r
}
