package plan

import (
	"mcptest/internal/server/upstream"
	"mcptest/internal/spec/plan/traffic"
	"mcptest/internal/spec/suite"
)

func (c *compiler) upstreamOptions() upstream.Options {
	return upstream.Options{Dir: c.suite.Dir, AllowOutside: c.set.AllowOutside, Opened: c.file.inputs.add}
}

// upstreams compiles the upstreams of the file. If there are any, other files
// cannot share its servers, because the test doubles belong to this file.
func (c *compiler) upstreams() {
	f := c.file
	f.Upstreams = traffic.Upstreams(c.suite, c.upstreamOptions(), c.dec)
	for _, sv := range f.Servers {
		sv.Upstreams = f.Upstreams
		if len(f.Upstreams) > 0 {
			sv.Key += "\x00" + c.suite.File.Path
		}
	}
}

// traffic compiles the routes and headers of a test.
func (c *compiler) traffic(st *suite.Test, servers []*Server, out *Case) {
	program := ""
	for _, sv := range servers {
		if sv.URL == "" {
			program = sv.Name
			break
		}
	}
	out.Routes = traffic.Routes(st, c.suite, c.upstreamOptions(), c.dec)
	out.Headers = traffic.Headers(st, program, (&serverCompiler{c: c}).envValue, c.dec)
}
