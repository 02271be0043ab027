package traffic

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"mcptest/internal/base/source"
	"mcptest/internal/server/upstream"
	"mcptest/internal/spec/suite"
)

// CompileUpstreams compiles the upstreams of a suite.
func CompileUpstreams(s *suite.Suite, o upstream.Options, dec *source.Decoder) (out []*upstream.Upstream) {
	for _, e := range s.Upstreams.Entries {
		if e.Value == nil {
			dec.Add(source.Errorf(e.Pos, source.PathKey("upstreams", e.Key), "expected an upstream: a map with stands_for:"))
			continue
		}
		u := upstream.Compile(e.Key, e.Value, o, dec)
		u.Pos = e.Pos
		checkDistinct(u, out, dec)
		out = append(out, u)
	}
	return out
}

// checkDistinct reports two upstreams whose addresses are passed to a server in the same
// place.
func checkDistinct(u *upstream.Upstream, earlier []*upstream.Upstream, dec *source.Decoder) {
	for _, o := range earlier {
		both := ""
		switch {
		case u.Into.Env != "" && u.Into.Env == o.Into.Env:
			both = "env: " + u.Into.Env
		case u.Into.Arg != "" && u.Into.Arg == o.Into.Arg:
			both = "arg: " + u.Into.Arg
		case u.Into.Header != "" && strings.EqualFold(u.Into.Header, o.Into.Header):
			both = "header: " + u.Into.Header
		default:
			continue
		}
		dec.Add(source.Diagnostic{
			Pos: u.Into.Pos, Path: source.PathKey("upstreams", u.Name) + ".into", Code: "upstream",
			Msg:  "the upstream " + strconv.Quote(o.Name) + " has " + both + " too",
			Hint: "each upstream needs a different name", Related: []source.Related{{Pos: o.Into.Pos, Msg: "the other upstream"}},
		})
		return
	}
}

// Routes compiles the routes that a test adds to the upstreams of its suite.
func Routes(st *suite.Test, s *suite.Suite, o upstream.Options, dec *source.Decoder) map[string][]*upstream.Route {
	var out map[string][]*upstream.Route
	for _, e := range st.Upstream.Entries {
		path := source.PathKey(st.Path+".upstream", e.Key)
		if names := s.Upstreams.Keys(); !slices.Contains(names, e.Key) {
			dec.Add(source.Diagnostic{
				Pos:  e.Pos,
				Path: path,
				Msg:  "no upstream is called " + strconv.Quote(e.Key),
				Hint: source.Known(e.Key, names),
			})
			continue
		}
		if out == nil {
			out = map[string][]*upstream.Route{}
		}
		out[e.Key] = upstream.CompileRoutes(e.Value, path, o, dec)
	}
	return out
}

// Headers compiles the headers of the calls of a test. program is the first of its
// servers that is not an HTTP server; env looks up a variable.
func Headers(st *suite.Test, program string, env func(name string) (string, bool), dec *source.Decoder) http.Header {
	var out http.Header
	for i, e := range st.Headers.Entries {
		path, value := source.PathKey(st.Path+".headers", e.Key), e.Value.Value
		fail := func(pos source.Pos, msg string) { dec.Add(source.Errorf(pos, path, "%s", msg)) }
		if e.Value.Env != "" {
			var ok bool
			if value, ok = env(e.Value.Env); !ok {
				fail(e.Value.Pos, "the environment variable "+e.Value.Env+" is not set")
			}
		}
		name := http.CanonicalHeaderKey(e.Key)
		switch {
		case i == 0 && program != "":
			path = st.Path + ".headers"
			dec.ErrorAt(e.Pos, path, "headers: requires a server with url:, and "+program+" is a program",
				"a program gets no HTTP requests: it takes its settings from env: {NAME: value} of the server, or from the arguments of a call")
		case !suite.IsHeaderName(e.Key):
			fail(e.Pos, strconv.Quote(e.Key)+" is not the name of an HTTP header")
		case suite.Unsent(name, value, false) != "":
			fail(e.Pos, suite.Unsent(name, value, false))
		case out[name] != nil:
			fail(e.Pos, "the header "+name+" is set twice: names are case-insensitive")
		case strings.ContainsAny(value, "\r\n\x00"):
			fail(e.Value.Pos, "a header's value can't have line breaks")
		default:
			if out == nil {
				out = http.Header{}
			}
			out.Set(name, value)
		}
	}
	return out
}
