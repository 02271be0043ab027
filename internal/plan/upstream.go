package plan

import (
	"net/http"
	"slices"

	"mcptest/internal/source"
	"mcptest/internal/suite"
	"mcptest/internal/upstream"
)

func (c *compiler) upstreamOptions() upstream.Options {
	return upstream.Options{Dir: c.suite.Dir, AllowOutside: c.set.AllowOutside}
}

// upstreams compiles the upstreams of the file. Its servers are not shared with
// other files then: their doubles are not.
func (c *compiler) upstreams() {
	f := c.file
	for _, e := range c.suite.Upstreams.Entries {
		if e.Value == nil {
			c.dec.Add(source.Errorf(e.Pos, source.PathKey("upstreams", e.Key), "expected an upstream: a map with stands_for:"))
			continue
		}
		u := upstream.Compile(e.Key, e.Value, c.upstreamOptions(), c.dec)
		u.Pos = e.Pos
		f.Upstreams = append(f.Upstreams, u)
	}
	for _, sv := range f.Servers {
		if sv.Upstreams = f.Upstreams; len(f.Upstreams) > 0 {
			sv.Key += "\x00" + c.suite.File.Path
		}
	}
}

// routes compiles the routes that a test adds to upstreams.
func (c *compiler) routes(st *suite.Test) map[string][]*upstream.Route {
	var out map[string][]*upstream.Route
	for _, e := range st.Upstream.Entries {
		path := source.PathKey(st.Path+".upstream", e.Key)
		if names := c.suite.Upstreams.Keys(); !slices.Contains(names, e.Key) {
			report(c.dec, e.Pos, path, "no upstream is called \""+e.Key+"\"", nearOr(e.Key, names))
			continue
		}
		if out == nil {
			out = map[string][]*upstream.Route{}
		}
		out[e.Key] = upstream.CompileRoutes(e.Value, path, c.upstreamOptions(), c.dec)
	}
	return out
}

// headers compiles the headers of a test's calls.
func (c *compiler) headers(st *suite.Test, servers []*Server) http.Header {
	var out http.Header
	for _, e := range st.Headers.Entries {
		path, value := source.PathKey(st.Path+".headers", e.Key), e.Value.Value
		if e.Value.Env != "" {
			var ok bool
			if value, ok = (&serverCompiler{c: c}).envValue(e.Value.Env); !ok {
				report(c.dec, e.Value.Pos, path, e.Value.Env+" is not set in the environment", "")
			}
		}
		switch name := http.CanonicalHeaderKey(e.Key); {
		case !suite.IsHeaderName(e.Key):
			report(c.dec, e.Pos, path, "\""+e.Key+"\" is not the name of an HTTP header", "")
		case out[name] != nil:
			report(c.dec, e.Pos, path, "the header "+name+" is given twice: case does not matter", "")
		case slices.ContainsFunc([]byte(value), func(b byte) bool { return b == '\r' || b == '\n' || b == 0 }):
			report(c.dec, e.Value.Pos, path, "a header's value can't have line breaks", "")
		default:
			if out == nil {
				out = http.Header{}
			}
			out.Set(name, value)
		}
	}
	for _, sv := range servers {
		if out != nil && sv.URL == "" {
			report(c.dec, st.Headers.Entries[0].Pos, st.Path+".headers", "headers: is for servers with url:, and "+sv.Name+" is a program", "")
			break
		}
	}
	return out
}
