package run

import (
	"fmt"
	"net/http"

	"mcptest/internal/jsonv"
	"mcptest/internal/mcp"
)

// What a result has wrong where a client can go on: it is warned of.

// caches is the first revision whose results say how long they may be kept,
// and the first whose structuredContent may be any value.
const caches = "2026-07-28"

func (s *shape) oddity(format string, args ...any) {
	if len(s.odd) < maxFaults {
		s.odd = append(s.odd, fmt.Sprintf(format, args...))
	}
}

// partMeta is the first revision in which parts of a result have a _meta, and
// annotations a lastModified.
const partMeta = "2025-06-18"

// meta looks at the _meta of a result or of a part of it.
func (s *shape) meta(at string, v jsonv.Value) {
	if at != "_meta" && s.protocol < partMeta {
		return
	}
	if m, ok := v.Get("_meta"); ok && m.Kind() != jsonv.KindObject {
		s.oddity("%s is %s, not an object", at, article(m.Kind()))
	}
}

// annotations looks at what a block or resource says of its use.
func (s *shape) annotations(at string, v jsonv.Value) {
	a, ok := v.Get("annotations")
	if !ok {
		return
	}
	at += ".annotations"
	if a.Kind() != jsonv.KindObject {
		s.oddity("%s is %s, not an object", at, article(a.Kind()))
		return
	}
	if p, ok := a.Get("priority"); ok {
		if f := p.Float64(); p.Kind() != jsonv.KindNumber || f < 0 || f > 1 {
			s.oddity("%s.priority is %s, not a number from 0 to 1", at, p.Short(40))
		}
	}
	if m, ok := a.Get("lastModified"); ok && m.Kind() != jsonv.KindString && s.protocol >= partMeta {
		s.oddity("%s.lastModified is %s, not a string", at, article(m.Kind()))
	}
	audience, ok := a.Get("audience")
	if ok && audience.Kind() != jsonv.KindArray {
		s.oddity("%s.audience is %s, not an array", at, article(audience.Kind()))
	}
	for i, who := range audience.Elems() {
		if t := who.Text(); t != "user" && t != "assistant" {
			s.oddity("%s is %s, not user or assistant", jsonv.JoinIndex(at+".audience", i), who.Short(40))
		}
	}
}

// caching looks at what a result must say of how long it may be kept.
func (s *shape) caching(method string, res jsonv.Value) {
	switch method {
	case "tools/list", "prompts/list", "resources/list", "resources/templates/list", "resources/read":
	default:
		return
	}
	if s.protocol < caches {
		return
	}
	if ttl := res.Lookup("ttlMs"); ttl.Kind() != jsonv.KindNumber || ttl.Float64() < 0 {
		s.oddity("ttlMs is %s, not a number of milliseconds", shown(ttl))
	}
	if scope := res.Lookup("cacheScope").Text(); scope != "public" && scope != "private" {
		s.oddity("cacheScope is %s, not public or private", shown(res.Lookup("cacheScope")))
	}
}

func shown(v jsonv.Value) string {
	if v.IsAbsent() {
		return "missing"
	}
	return v.Short(40)
}

// oddStatus says that a good answer over HTTP came with another status than
// 200, "" when it did not.
func oddStatus(x *mcp.Exchange) string {
	if x.HTTP == nil || x.Response == nil || x.HTTP.Status <= http.StatusOK || x.HTTP.Status >= http.StatusMultipleChoices {
		return ""
	}
	return fmt.Sprintf("the answer came with HTTP %d %s, want 200 OK", x.HTTP.Status, http.StatusText(x.HTTP.Status))
}
