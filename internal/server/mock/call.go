package mock

import (
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/protocol"
	"mcptest/internal/server/mcpserver"
)

func (s *Session) callTool(ctx context.Context, sc *scope) *mcpserver.Reply {
	name := sc.params.Lookup("name").Text()
	t := s.server.m.tool(name)
	if t == nil {
		return failure(protocol.CodeInvalidParams, "Unknown tool: %s", name)
	}
	sc.args = sc.params.Lookup("arguments")
	switch sc.args.Kind() {
	case jsonv.KindObject:
	case jsonv.KindAbsent, jsonv.KindNull: // SDKs write null for no arguments
		sc.args = jsonv.Object()
	default:
		return failure(protocol.CodeInvalidParams, "arguments must be an object, got %s", sc.args.Kind())
	}
	if bad := t.check(ctx, sc.args); bad != "" {
		return toolFailure("Invalid arguments for tool %s: %s", name, bad)
	}
	asTask, refused := sc.wantsTask(t)
	if refused != nil {
		return refused
	}
	sc.calls = s.server.world.called(t)
	if asTask {
		return s.playTask(ctx, sc, t)
	}
	return s.play(ctx, sc, t.response, resultOfTool)
}

// playTask plays the response up to the step where it becomes a task, and the rest in
// the background.
func (s *Session) playTask(ctx context.Context, sc *scope, t *tool) *mcpserver.Reply {
	r := t.response.choose(sc.root, s.server.world.turn)
	if r == nil {
		return s.missing(sc)
	}
	at := max(0, slices.IndexFunc(r.steps, func(st *step) bool { return st.task }))
	if bad, ended := s.steps(ctx, sc, r.steps[:at]); ended {
		return bad
	}
	return s.detach(sc, t.task, func(ctx context.Context, sc *scope) *mcpserver.Reply {
		if bad, ended := s.steps(ctx, sc, r.steps[at:]); ended {
			return bad
		}
		return replyOf(sc, r, resultOfTool)
	})
}

func (s *Session) getPrompt(ctx context.Context, sc *scope) *mcpserver.Reply {
	name := sc.params.Lookup("name").Text()
	at := slices.IndexFunc(s.server.m.prompts, func(p *prompt) bool { return p.name == name })
	if at < 0 {
		return failure(protocol.CodeInvalidParams, "Unknown prompt: %s", name)
	}
	p := s.server.m.prompts[at]
	if sc.args = sc.params.Lookup("arguments"); sc.args.IsAbsent() || sc.args.Kind() == jsonv.KindNull {
		sc.args = jsonv.Object()
	}
	for _, arg := range p.required {
		if _, ok := sc.args.Get(arg); !ok {
			return failure(protocol.CodeInvalidParams, "Missing required argument of prompt %s: %s", name, arg)
		}
	}
	for arg, v := range sc.args.Members() {
		if v.Kind() != jsonv.KindString {
			return failure(protocol.CodeInvalidParams, "Argument %s of prompt %s must be a string, got %s", arg, name, v.Kind())
		}
	}
	sc.calls = s.server.world.called(p)
	return s.play(ctx, sc, p.response, p.answer)
}

func (s *Session) readResource(ctx context.Context, sc *scope) *mcpserver.Reply {
	uri := sc.params.Lookup("uri")
	if uri.Kind() != jsonv.KindString {
		return failure(protocol.CodeInvalidParams, "uri is missing")
	}
	f, ok := s.server.m.find(uri.Text())
	if !ok {
		return notFound(sc, uri.Text())
	}
	sc.uri, sc.vars, sc.calls = uri, f.vars, s.server.world.called(f.key)
	return s.play(ctx, sc, f.read.response, f.read.answer)
}

// unfit returns the message for a request that no response matches.
func unfit(sc *scope) string {
	if sc.args.IsAbsent() {
		return fmt.Sprintf("the mock has no response that fits this %s", sc.req.Method)
	}
	return fmt.Sprintf("the mock has no response that fits the arguments %s", sc.args.Short(200))
}

// list answers a list request, in pages if the manifest has a page size. A cursor
// encodes the index of the next entry in a form that cannot be mistaken for a number.
func list[T any](m *Manifest, sc *scope, key string, all []T, listed func(T) jsonv.Value) *mcpserver.Reply {
	start, end := 0, len(all)
	if c := sc.params.Lookup("cursor"); !c.IsAbsent() && c.Kind() != jsonv.KindNull {
		at, ok := place(c.Text(), key)
		if !ok || at >= len(all) {
			return failure(protocol.CodeInvalidParams, "Invalid cursor: %s", c)
		}
		start = at
	}
	next := jsonv.Value{}
	if m.pageSize > 0 && start+m.pageSize < end {
		end = start + m.pageSize
		next = jsonv.String(cursor(end, key))
	}
	entries := make([]jsonv.Value, 0, end-start)
	for _, e := range all[start:end] {
		entries = append(entries, listed(e))
	}
	return answer(jsonv.ObjectOf(key, jsonv.Array(entries...), "nextCursor", next))
}

func cursor(at int, key string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(key + ":" + strconv.Itoa(at)))
}

func place(cursor, key string) (int, bool) {
	data, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil {
		return 0, false
	}
	rest, ok := strings.CutPrefix(string(data), key+":")
	at, err := strconv.Atoi(rest)
	return at, ok && err == nil && at >= 0
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
		i := slices.IndexFunc(m.prompts, func(p *prompt) bool { return p.name == ref.Lookup("name").Text() })
		if i < 0 {
			return failure(protocol.CodeInvalidParams, "Unknown prompt: %s", ref.Lookup("name").Text())
		}
		values = m.prompts[i].complete
	case "ref/resource":
		uri := ref.Lookup("uri").Text()
		if i := slices.IndexFunc(m.templates, func(t *resourceTemplate) bool { return t.uri == uri }); i >= 0 {
			values = m.templates[i].complete
		} else if _, ok := m.find(uri); !ok {
			return failure(protocol.CodeInvalidParams, "Unknown resource: %s", uri)
		}
	default:
		return failure(protocol.CodeInvalidParams, "unknown type of reference %q", kind)
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
	return answer(jsonv.ObjectOf("completion", jsonv.ObjectOf("values", jsonv.Array(fit...), "total", int64(total), "hasMore", total > len(fit))))
}
