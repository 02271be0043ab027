package check

import "mcptest/internal/base/jsonv"

// checkCacheHints checks the members that limit how long a result may be cached.
func (c *checker) checkCacheHints(method string, res jsonv.Value) {
	switch method {
	case "tools/list", "prompts/list", "resources/list", "resources/templates/list", "resources/read":
	default:
		return
	}
	if !c.version.CacheHints {
		return
	}
	if ttl := res.Lookup("ttlMs"); ttl.Kind() != jsonv.KindNumber || ttl.Float64() < 0 {
		c.addWarning("ttlMs is %s, not a number of milliseconds", describeMember(ttl))
	}
	if scope := res.Lookup("cacheScope").Text(); scope != "public" && scope != "private" {
		c.addWarning("cacheScope is %s, not public or private", describeMember(res.Lookup("cacheScope")))
	}
}

// describeMember is the value of a member, or says that there is none.
func describeMember(v jsonv.Value) string {
	if v.IsAbsent() {
		return "missing"
	}
	return v.Short(40)
}
