package mock

import (
	"context"
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/protocol"
	"mcptest/internal/server/manifest"
	"mcptest/internal/server/mcpserver"
)

func (s *Session) callTool(ctx context.Context, sc *scope) *mcpserver.Reply {
	name := sc.params.Lookup("name").Text()
	t := s.server.tool(name)
	if t == nil {
		return mcpserver.Failure(protocol.CodeInvalidParams, "Unknown tool: %s", name)
	}
	sc.args = sc.params.Lookup("arguments")
	switch sc.args.Kind() {
	case jsonv.KindObject:
	case jsonv.KindAbsent, jsonv.KindNull: // SDKs write null for no arguments
		sc.args = jsonv.Object()
	default:
		return mcpserver.Failure(protocol.CodeInvalidParams, "arguments must be an object, got %s", sc.args.Kind())
	}
	if bad := t.Check(ctx, sc.args); bad != "" {
		return toolFailure("Invalid arguments for tool %s: %s", name, bad)
	}
	asTask, refused := sc.wantsTask(t)
	if refused != nil {
		return refused
	}
	sc.calls = s.server.world.countUse(t)
	if asTask {
		return s.playTask(ctx, sc, t)
	}
	reply := s.play(ctx, sc, t.Response, manifest.ResultOfTool)
	if ctx.Err() == nil {
		s.noteReturned(sc, name)
	}
	return reply
}

// playTask plays the response up to the step where it becomes a task, and the rest in
// the background.
func (s *Session) playTask(ctx context.Context, sc *scope, t *manifest.Tool) *mcpserver.Reply {
	r := t.Response.Choose(sc.root, s.server.world.turn)
	if r == nil {
		return s.missing(sc)
	}
	at := max(0, slices.IndexFunc(r.Steps, func(st *manifest.Step) bool { return st.Task }))
	if bad, ended := s.steps(ctx, sc, r.Steps[:at]); ended {
		return bad
	}
	return s.detach(sc, t.Task, func(ctx context.Context, sc *scope) *mcpserver.Reply {
		if bad, ended := s.steps(ctx, sc, r.Steps[at:]); ended {
			return bad
		}
		return replyOf(sc, r, manifest.ResultOfTool)
	})
}

func (s *Session) getPrompt(ctx context.Context, sc *scope) *mcpserver.Reply {
	name := sc.params.Lookup("name").Text()
	at := slices.IndexFunc(s.server.m.Prompts, func(p *manifest.Prompt) bool { return p.Name == name })
	if at < 0 {
		return mcpserver.Failure(protocol.CodeInvalidParams, "Unknown prompt: %s", name)
	}
	p := s.server.m.Prompts[at]
	if sc.args = sc.params.Lookup("arguments"); sc.args.IsAbsent() || sc.args.Kind() == jsonv.KindNull {
		sc.args = jsonv.Object()
	}
	for _, arg := range p.Required {
		if _, ok := sc.args.Get(arg); !ok {
			return mcpserver.Failure(protocol.CodeInvalidParams, "Missing required argument of prompt %s: %s", name, arg)
		}
	}
	for arg, v := range sc.args.Members() {
		if v.Kind() != jsonv.KindString {
			return mcpserver.Failure(protocol.CodeInvalidParams, "Argument %s of prompt %s must be a string, got %s", arg, name, v.Kind())
		}
	}
	sc.calls = s.server.world.countUse(p)
	return s.play(ctx, sc, p.Response, p.Answer)
}

func (s *Session) readResource(ctx context.Context, sc *scope) *mcpserver.Reply {
	uri := sc.params.Lookup("uri")
	if uri.Kind() != jsonv.KindString {
		return mcpserver.Failure(protocol.CodeInvalidParams, "uri is missing")
	}
	f, ok := s.server.m.Find(uri.Text())
	if !ok {
		return notFound(sc, uri.Text())
	}
	sc.uri, sc.vars, sc.calls = uri, f.Vars, s.server.world.countUse(f.Key)
	return s.play(ctx, sc, f.Read.Response, f.Read.Answer)
}

// maxCompletions is MCP's limit for one response.
const maxCompletions = 100

// complete answers completion/complete with the values that start with the typed
// text, ignoring case.
func (s *Session) complete(sc *scope) *mcpserver.Reply {
	m := s.server.m
	ref, name := sc.params.Lookup("ref"), sc.params.Lookup("argument", "name").Text()
	var values map[string][]string
	switch kind := ref.Lookup("type").Text(); kind {
	case "ref/prompt":
		i := slices.IndexFunc(m.Prompts, func(p *manifest.Prompt) bool { return p.Name == ref.Lookup("name").Text() })
		if i < 0 {
			return mcpserver.Failure(protocol.CodeInvalidParams, "Unknown prompt: %s", ref.Lookup("name").Text())
		}
		values = m.Prompts[i].Complete
	case "ref/resource":
		uri := ref.Lookup("uri").Text()
		if i := slices.IndexFunc(m.Templates, func(t *manifest.ResourceTemplate) bool { return t.URI == uri }); i >= 0 {
			values = m.Templates[i].Complete
		} else if _, ok := m.Find(uri); !ok {
			return mcpserver.Failure(protocol.CodeInvalidParams, "Unknown resource: %s", uri)
		}
	default:
		return mcpserver.Failure(protocol.CodeInvalidParams, "unknown type of reference %q", kind)
	}
	typed := strings.ToLower(sc.params.Lookup("argument", "value").Text())
	var fit []jsonv.Value
	for _, v := range values[name] {
		if strings.HasPrefix(strings.ToLower(v), typed) {
			fit = append(fit, jsonv.String(v))
		}
	}
	total := len(fit)
	fit = fit[:min(total, maxCompletions)]
	fitting := jsonv.Array(fit...)
	completion := jsonv.ObjectOf("values", fitting, "total", int64(total), "hasMore", total > len(fit))
	return answer(jsonv.ObjectOf("completion", completion))
}

// codeNotFound is MCP's code for a resource that does not exist, in sessions.
const codeNotFound = -32002

func notFound(sc *scope, uri string) *mcpserver.Reply {
	code := int64(codeNotFound)
	if sc.req.Caller != nil {
		code = protocol.CodeInvalidParams
	}
	r := mcpserver.Failure(code, "Resource not found: %s", uri)
	r.Error.Data = jsonv.ObjectOf("uri", uri).Append(nil)
	return r
}
