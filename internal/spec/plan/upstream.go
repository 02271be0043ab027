package plan

import (
	"mcptest/internal/server/upstream"
	"mcptest/internal/spec/plan/traffic"
	"mcptest/internal/spec/suite"
)

func (c *compiler) makeUpstreamOptions() upstream.Options {
	return upstream.Options{Dir: c.suite.Dir, AllowOutside: c.set.AllowOutside, Opened: c.file.inputs.add}
}

// compileUpstreams compiles the upstreams of the file. If there are any, other files
// cannot share its servers, because the test doubles belong to this file.
func (c *compiler) compileUpstreams() {
	f := c.file
	f.Upstreams = traffic.CompileUpstreams(c.suite, c.makeUpstreamOptions(), c.dec)
	for _, sv := range f.Servers {
		sv.Upstreams = f.Upstreams
		if len(f.Upstreams) > 0 {
			sv.Key += "\x00" + c.suite.File.Path
		}
	}
}

// compileTraffic compiles the routes and headers of a test.
func (c *compiler) compileTraffic(st *suite.Test, servers []*Server, out *Case) {
	program := ""
	for _, sv := range servers {
		if sv.URL == "" {
			program = sv.Name
			break
		}
	}
	out.Routes = traffic.Routes(st, c.suite, c.makeUpstreamOptions(), c.dec)
	out.Headers = traffic.Headers(st, program, (&serverCompiler{c: c}).findEnvValue, c.dec)
}
