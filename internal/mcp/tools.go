package mcp

import (
	"bytes"
	"context"
	"sync"
	"time"

	"mcptest/internal/jsonv"
	"mcptest/internal/mcp/protocol"
)

// toolTable is what a session knows of the server's tools from tools/list:
// arguments to repeat as headers, tools that must not be used, and those that
// can be called twice without harm.
type toolTable struct {
	mu         sync.Mutex
	known      bool // a list was read to its end
	headers    map[string][]protocol.ParamHeader
	dropped    map[string]string // Name → why
	idempotent map[string]bool
}

// UnusableTools returns the tools that a client must not use because of an invalid
// x-mcp-header, and why (MCP 2026-07-28, HTTP only).
func (s *Session) UnusableTools() map[string]string {
	s.tools.mu.Lock()
	defer s.tools.mu.Unlock()
	out := make(map[string]string, len(s.tools.dropped))
	for k, v := range s.tools.dropped {
		out[k] = v
	}
	return out
}

// learn reads an answer to tools/list.
func (s *Session) learn(x *Exchange, d protocol.Version) {
	v, err := jsonv.Parse(x.Result)
	if err != nil {
		return
	}
	t := &s.tools
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.headers == nil {
		t.headers, t.dropped, t.idempotent = map[string][]protocol.ParamHeader{}, map[string]string{}, map[string]bool{}
	}
	for _, tool := range v.Lookup("tools").Elems() {
		name := tool.Lookup("name").Text()
		if name == "" || len(t.idempotent) >= maxKnownTools {
			continue
		}
		t.idempotent[name] = tool.Lookup("annotations", "idempotentHint").Bool()
		if !d.Stateless || s.isStdio() {
			continue
		}
		hs, fault := protocol.ParamHeaders(tool.Lookup("inputSchema"))
		if fault != "" {
			t.dropped[name] = fault
			hs = nil
		}
		t.headers[name] = hs
	}
	if v.Lookup("nextCursor").Kind() != jsonv.KindString {
		t.known = true
	}
}

// maxKnownTools bounds the table.
const maxKnownTools = 10_000

// mirrored sends a request with the headers that repeat its arguments. A call
// that was refused because the tool's schema was not known yet is sent again
// once it is: a refusal of headers comes before anything is done.
func (s *Session) mirrored(ctx context.Context, c Call) *Exchange {
	if c.Method != "tools/call" || s.isStdio() {
		return s.once(ctx, c)
	}
	name := protocol.TextOf(protocol.MemberOf(c.Params, "name"))
	s.tools.mu.Lock()
	known, headers := s.tools.known, s.tools.headers[name]
	s.tools.mu.Unlock()
	c.mirror = protocol.ParamValues(headers, c.Params)
	x := s.once(ctx, c)
	if known || x.Error == nil || x.RPCError().Code != protocol.CodeHeaderMismatch {
		return x
	}
	if !s.list(ctx) {
		return x
	}
	s.tools.mu.Lock()
	headers = s.tools.headers[name]
	s.tools.mu.Unlock()
	if c.mirror = protocol.ParamValues(headers, c.Params); len(c.mirror) == 0 {
		return x
	}
	return gather([]*Exchange{x}, s.once(ctx, c))
}

// list reads tools/list to its end.
func (s *Session) list(ctx context.Context) bool {
	var params []byte
	seen := map[string]bool{}
	for range 1000 {
		x := s.Do(ctx, Call{Method: "tools/list", Params: params, Own: true})
		if x.Cause != nil || x.Error != nil {
			return false
		}
		cursor := protocol.MemberOf(x.Result, "nextCursor")
		if protocol.KindOf(cursor) != jsonv.KindString {
			return true
		}
		if seen[string(cursor)] {
			return false
		}
		seen[string(cursor)] = true
		params = append(append([]byte(`{"cursor":`), bytes.Clone(cursor)...), '}')
	}
	return false
}

// listTime bounds how long a tools/list is waited for that decides whether a
// call is sent again.
const listTime = time.Second

// idempotent reports whether a tools/call may be sent twice. Where no list of
// tools has said so, the server is asked: whether a call is repeated must not
// depend on what was sent before it.
func (s *Session) idempotent(ctx context.Context, params []byte) bool {
	name := protocol.TextOf(protocol.MemberOf(params, "name"))
	if yes, known := s.tools.idempotence(name); known {
		return yes
	}
	ctx, cancel := context.WithTimeout(ctx, listTime)
	defer cancel()
	var page []byte
	for range s.lim.Pages {
		x := s.Do(ctx, Call{Method: "tools/list", Params: page, Own: true})
		if yes, known := s.tools.idempotence(name); known || x.Result == nil {
			return yes
		}
		v, err := jsonv.Parse(x.Result)
		if err != nil {
			return false
		}
		page = jsonv.Object(jsonv.Member{Key: "cursor", Value: v.Lookup("nextCursor")}).Append(nil)
	}
	return false
}

// idempotence is what tools/list said of a tool; known is false when it may
// still say something.
func (t *toolTable) idempotence(name string) (yes, known bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	yes, listed := t.idempotent[name]
	return yes, listed || t.known
}
