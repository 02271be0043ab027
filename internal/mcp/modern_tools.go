package mcp

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"mcptest/internal/jsonv"
)

// toolTable is what a session knows of the server's tools from tools/list:
// arguments to repeat as headers, tools that must not be used, and those that
// can be called twice without harm.
type toolTable struct {
	mu         sync.Mutex
	known      bool // a list was read to its end
	headers    map[string][]ParamHeader
	dropped    map[string]string // Name → why
	idempotent map[string]bool
}

// ParamHeader is an argument that is repeated as Mcp-Param-Name.
type ParamHeader struct {
	Path []string
	Name string
}

// Dropped returns the tools that a client must not use because of an invalid
// x-mcp-header, and why (MCP 2026-07-28, HTTP only).
func (s *Session) Dropped() map[string]string {
	s.tools.mu.Lock()
	defer s.tools.mu.Unlock()
	out := make(map[string]string, len(s.tools.dropped))
	for k, v := range s.tools.dropped {
		out[k] = v
	}
	return out
}

// learn reads an answer to tools/list.
func (s *Session) learn(x *Exchange, d *Dialect) {
	v, err := jsonv.Parse(x.Result)
	if err != nil {
		return
	}
	t := &s.tools
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.headers == nil {
		t.headers, t.dropped, t.idempotent = map[string][]ParamHeader{}, map[string]string{}, map[string]bool{}
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
		hs, fault := ParamHeaders(tool.Lookup("inputSchema"))
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

// ParamHeaders finds the annotations of a schema, and the first thing that is
// wrong with them.
func ParamHeaders(schema jsonv.Value) ([]ParamHeader, string) {
	w := headerWalk{seen: map[string]bool{}}
	w.properties(schema, nil)
	if w.fault == "" {
		w.elsewhere(schema, true, 0)
	}
	return w.out, w.fault
}

type headerWalk struct {
	out   []ParamHeader
	seen  map[string]bool
	fault string
	found int // annotations that were reached through properties
	all   int
}

// maxSchemaDepth bounds the walk through a schema.
const maxSchemaDepth = 100

func (w *headerWalk) properties(schema jsonv.Value, path []string) {
	if len(path) > maxSchemaDepth {
		return
	}
	for name, p := range schema.Lookup("properties").Members() {
		if p.Kind() != jsonv.KindObject {
			continue
		}
		at := append(path[:len(path):len(path)], name)
		if h, ok := p.Get("x-mcp-header"); ok {
			w.found++
			w.annotation(h, p.Lookup("type"), at)
		}
		w.properties(p, at)
	}
}

func (w *headerWalk) annotation(h, typ jsonv.Value, path []string) {
	fail := func(format string, args ...any) {
		if w.fault == "" {
			w.fault = fmt.Sprintf("the x-mcp-header of %s ", strings.Join(path, ".")) + fmt.Sprintf(format, args...)
		}
	}
	name := h.Text()
	switch {
	case h.Kind() != jsonv.KindString:
		fail("is %s, not text", h.Kind())
	case name == "":
		fail("is empty")
	case !isToken(name):
		fail("is %q, which is no header name", Excerpt([]byte(name)))
	case w.seen[strings.ToLower(name)]:
		fail("is %q, which another parameter has too", name)
	case typ.Kind() != jsonv.KindString || typ.Text() != "string" && typ.Text() != "integer" && typ.Text() != "boolean":
		fail("is set on a parameter of type %s, expected string, integer or boolean", typ.Short(40))
	default:
		w.seen[strings.ToLower(name)] = true
		w.out = append(w.out, ParamHeader{path, name})
	}
}

// elsewhere finds annotations that no argument can be told for: below items, a
// composition, a condition.
func (w *headerWalk) elsewhere(v jsonv.Value, schema bool, depth int) {
	if depth > maxSchemaDepth || w.fault != "" {
		return
	}
	switch v.Kind() {
	case jsonv.KindArray:
		for _, e := range v.Elems() {
			w.elsewhere(e, true, depth+1)
		}
	case jsonv.KindObject:
		for k, m := range v.Members() {
			switch {
			case schema && k == "x-mcp-header":
				if w.all++; w.all > w.found {
					w.fault = "an x-mcp-header is set where it does not name one argument (below items, a composition or a condition)"
				}
			case schema && (k == "const" || k == "enum" || k == "default" || k == "examples"):
			case schema && (k == "properties" || k == "patternProperties" || k == "$defs" || k == "definitions" || k == "dependentSchemas"):
				w.elsewhere(m, false, depth+1)
			default:
				w.elsewhere(m, true, depth+1)
			}
		}
	}
}

func isToken(s string) bool {
	for i := range len(s) {
		c := s[i]
		if !(c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0) {
			return false
		}
	}
	return s != ""
}

// paramValues are the headers of one call.
func paramValues(headers []ParamHeader, params []byte) http.Header {
	args := MemberOf(params, "arguments")
	if len(headers) == 0 || args == nil {
		return nil
	}
	out := http.Header{}
	for _, h := range headers {
		val := args
		for _, key := range h.Path {
			val = MemberOf(val, key)
		}
		if s, ok := HeaderText(val); ok {
			out[http.CanonicalHeaderKey("Mcp-Param-"+h.Name)] = []string{headerValue(s)}
		}
	}
	return out
}

// HeaderText writes an argument as text: a string as it is, an integer in
// decimal, a boolean as true or false; null and other values have no header.
func HeaderText(val []byte) (string, bool) {
	switch KindOf(val) {
	case jsonv.KindString:
		return TextOf(val), true
	case jsonv.KindBool:
		return string(val), true
	case jsonv.KindNumber:
		if _, err := strconv.ParseInt(string(val), 10, 64); err == nil {
			return string(val), true
		}
		f, err := strconv.ParseFloat(string(val), 64)
		if err == nil && f == math.Trunc(f) && math.Abs(f) < 1<<53 {
			return strconv.FormatInt(int64(f), 10), true
		}
	}
	return "", false
}

// mirrored sends a request with the headers that repeat its arguments. A call
// that was refused because the tool's schema was not known yet is sent again
// once it is: a refusal of headers comes before anything is done.
func (s *Session) mirrored(ctx context.Context, c Call) *Exchange {
	if c.Method != "tools/call" || s.isStdio() {
		return s.once(ctx, c)
	}
	name := TextOf(MemberOf(c.Params, "name"))
	s.tools.mu.Lock()
	known, headers := s.tools.known, s.tools.headers[name]
	s.tools.mu.Unlock()
	c.mirror = paramValues(headers, c.Params)
	x := s.once(ctx, c)
	if known || x.Error == nil || x.RPCError().Code != CodeHeaderMismatch {
		return x
	}
	if !s.list(ctx) {
		return x
	}
	s.tools.mu.Lock()
	headers = s.tools.headers[name]
	s.tools.mu.Unlock()
	if c.mirror = paramValues(headers, c.Params); len(c.mirror) == 0 {
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
		cursor := MemberOf(x.Result, "nextCursor")
		if KindOf(cursor) != jsonv.KindString {
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
