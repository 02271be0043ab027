package mock

import (
	"context"
	"slices"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/protocol"
	"mcptest/internal/server/manifest"
	"mcptest/internal/server/mcpserver"
)

// Admit implements [mcpserver.RequestFilter]. With the fault wedged, no request is answered
// from the first one that does work on, regardless of how fast earlier or later requests are
// handled.
func (s *Session) Admit(req *mcpserver.Request) bool {
	srv := s.server
	if srv.fault.Wedged && works(req.Method) && srv.m.Methods[req.Method] == nil {
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
		sc.params = parseKnown(req.Params)
		if sc.params.Kind() != jsonv.KindObject {
			return mcpserver.Failure(protocol.CodeInvalidParams, "params must be an object, got %s", sc.params.Kind())
		}
	}
	sc.token = sc.params.Lookup("_meta", "progressToken")
	if r := s.server.m.Methods[req.Method]; r != nil {
		sc.calls = s.server.world.countUse(r)
		return s.play(ctx, sc, r, manifest.ResultOfMethod)
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
			return mcpserver.Failure(protocol.CodeInternal, "not ready yet: call %d of %d that fail (fault recover-after:%d)", nth, f.Recover, f.Recover)
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
		listed := func(t *manifest.Tool) jsonv.Value { return t.Listed }
		if sc.req.Caller == nil && sc.knowsTasks() {
			listed = (*manifest.Tool).InSession
		}
		return list(m, sc.params, "tools", s.server.tools(), listed)
	case "resources/list":
		return list(m, sc.params, "resources", m.Resources, func(r *manifest.Resource) jsonv.Value { return r.Listed })
	case "resources/templates/list":
		return list(m, sc.params, "resourceTemplates", m.Templates, func(t *manifest.ResourceTemplate) jsonv.Value { return t.Listed })
	case "prompts/list":
		return list(m, sc.params, "prompts", m.Prompts, func(p *manifest.Prompt) jsonv.Value { return p.Listed })
	case "completion/complete":
		return s.complete(sc)
	case "logging/setLevel":
		return s.setLevel(sc)
	case "resources/subscribe", "resources/unsubscribe":
		return s.subscribe(sc)
	}
	return mcpserver.Failure(protocol.CodeMethodNotFound, "Method not found: %s", sc.req.Method)
}

func (s *Session) setLevel(sc *scope) *mcpserver.Reply {
	level := sc.params.Lookup("level").Text()
	i := slices.Index(manifest.LogLevels, level)
	if i < 0 {
		return mcpserver.Failure(protocol.CodeInvalidParams, "unknown log level %q", level)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.level = i
	return answer(jsonv.Object())
}

func (s *Session) subscribe(sc *scope) *mcpserver.Reply {
	uri := sc.params.Lookup("uri")
	if uri.Kind() != jsonv.KindString {
		return mcpserver.Failure(protocol.CodeInvalidParams, "uri is missing")
	}
	if _, ok := s.server.m.Find(uri.Text()); !ok {
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

// initialize negotiates a revision: the client's if the server supports it, otherwise
// the server's newest that has sessions (MCP 2025-11-25, lifecycle).
func (s *Session) initialize(sc *scope) jsonv.Value {
	m, params := s.server.m, sc.params
	protocol := params.Lookup("protocolVersion").Text()
	if spoken := m.SessionProtocols(); !slices.Contains(spoken, protocol) && len(spoken) > 0 {
		protocol = spoken[0]
	}
	if sc.req.Caller == nil {
		s.mu.Lock()
		s.protocol, s.client = protocol, params
		s.mu.Unlock()
	}
	info := jsonv.ObjectOf("name", m.Name)
	if m.Title != "" {
		info = info.With("title", jsonv.String(m.Title))
	}
	info = info.With("version", jsonv.String(m.Version))
	result := jsonv.ObjectOf(
		"protocolVersion", protocol,
		"capabilities", s.offeredCapabilities(sc),
		"serverInfo", info,
	)
	if m.Instructions != "" {
		result = result.With("instructions", jsonv.String(m.Instructions))
	}
	return result
}

// offeredCapabilities returns the capabilities: those that the manifest states, or those implied
// by its contents.
func (s *Session) offeredCapabilities(sc *scope) jsonv.Value {
	m := s.server.m
	if !m.Capabilities.IsAbsent() {
		return m.Capabilities
	}
	none, changes := jsonv.Object(), jsonv.ObjectOf("listChanged", true)
	offered := jsonv.ObjectOf("logging", none)
	if len(m.Tools) > 0 {
		offered = offered.With("tools", changes)
	}
	if len(m.Resources) > 0 || len(m.Templates) > 0 {
		offered = offered.With("resources", jsonv.ObjectOf("subscribe", true, "listChanged", true))
	}
	if len(m.Prompts) > 0 {
		offered = offered.With("prompts", changes)
	}
	if m.Completes() {
		offered = offered.With("completions", none)
	}
	switch {
	case !m.HasTasks():
	case sc.req.Caller != nil:
		offered = offered.With("extensions", jsonv.ObjectOf(tasksExtension, none))
	case sc.knowsTasks():
		calls := jsonv.ObjectOf("tools", jsonv.ObjectOf("call", none))
		offered = offered.With("tasks", jsonv.ObjectOf("list", none, "cancel", none, "requests", calls))
	}
	return offered
}
