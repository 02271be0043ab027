package check

import "mcptest/internal/jsonv"

// meta checks the _meta of a result or of a part of it.
func (c *checker) meta(at string, v jsonv.Value) {
	if at != "_meta" && !c.version.PartMeta {
		return
	}
	if m, ok := v.Get("_meta"); ok && m.Kind() != jsonv.KindObject {
		c.warning("%s is %s, not an object", at, m.Kind().WithArticle())
	}
}

// annotations checks the annotations of a content block.
func (c *checker) annotations(at string, v jsonv.Value) {
	a, ok := v.Get("annotations")
	if !ok {
		return
	}
	at += ".annotations"
	if a.Kind() != jsonv.KindObject {
		c.warning("%s is %s, not an object", at, a.Kind().WithArticle())
		return
	}
	if p, ok := a.Get("priority"); ok {
		if f := p.Float64(); p.Kind() != jsonv.KindNumber || f < 0 || f > 1 {
			c.warning("%s.priority is %s, not a number from 0 to 1", at, p.Short(40))
		}
	}
	if m, ok := a.Get("lastModified"); ok && m.Kind() != jsonv.KindString && c.version.PartMeta {
		c.warning("%s.lastModified is %s, not a string", at, m.Kind().WithArticle())
	}
	audience, ok := a.Get("audience")
	if ok && audience.Kind() != jsonv.KindArray {
		c.warning("%s.audience is %s, not an array", at, audience.Kind().WithArticle())
	}
	for i, who := range audience.Elems() {
		if t := who.Text(); t != "user" && t != "assistant" {
			c.warning("%s is %s, not user or assistant", jsonv.JoinIndex(at+".audience", i), who.Short(40))
		}
	}
}

// caching checks the members that limit how long a result may be cached.
func (c *checker) caching(method string, res jsonv.Value) {
	switch method {
	case "tools/list", "prompts/list", "resources/list", "resources/templates/list", "resources/read":
	default:
		return
	}
	if !c.version.CacheHints {
		return
	}
	if ttl := res.Lookup("ttlMs"); ttl.Kind() != jsonv.KindNumber || ttl.Float64() < 0 {
		c.warning("ttlMs is %s, not a number of milliseconds", shown(ttl))
	}
	if scope := res.Lookup("cacheScope").Text(); scope != "public" && scope != "private" {
		c.warning("cacheScope is %s, not public or private", shown(res.Lookup("cacheScope")))
	}
}

func shown(v jsonv.Value) string {
	if v.IsAbsent() {
		return "missing"
	}
	return v.Short(40)
}
