package keeping

import (
	"testing"

	"mcptest/internal/spec/plan"
	"mcptest/internal/spec/suite"
)

// A server of a suite counts as the connected one only if it is for certain: otherwise tools
// would run without a question because another server calls them read-only.
func TestIsSame(t *testing.T) {
	t.Parallel()
	named := func() *plan.Server {
		return &plan.Server{Argv: []string{"node", "/w/server.js", "/w/data"}, Dir: "/w", Env: []string{"A=1", "B=2"}}
	}
	remote := func() *plan.Server {
		return &plan.Server{URL: "http://127.0.0.1:1/mcp", Headers: []plan.Header{{Name: "X", Value: "1"}}}
	}
	for name, c := range map[string]struct {
		named  func() *plan.Server
		change func(*plan.Server)
		want   bool
	}{
		"equal":               {named, func(*plan.Server) {}, true},
		"relative paths":      {named, func(s *plan.Server) { s.Argv = []string{"node", "./server.js", "data"} }, true},
		"order of variables":  {named, func(s *plan.Server) { s.Env = []string{"B=2", "A=1"} }, true},
		"another folder":      {named, func(s *plan.Server) { s.Dir = "/w/sub" }, false},
		"relative, elsewhere": {named, func(s *plan.Server) { s.Argv, s.Dir = []string{"node", "./server.js", "data"}, "/w/sub" }, false},
		"another path":        {named, func(s *plan.Server) { s.Argv = []string{"node", "./other.js", "data"} }, false},
		"one word more":       {named, func(s *plan.Server) { s.Argv = append(s.Argv, "--write") }, false},
		"another variable":    {named, func(s *plan.Server) { s.Env = []string{"A=1", "B=3"} }, false},
		"another client":      {named, func(s *plan.Server) { s.Client.Profile = "cursor" }, false},
		"an address":          {named, func(s *plan.Server) { s.Argv, s.URL = nil, "http://127.0.0.1:1/mcp" }, false},
		"no command":          {named, func(s *plan.Server) { s.Argv = nil }, false},
		"equal address":       {remote, func(*plan.Server) {}, true},
		"another port":        {remote, func(s *plan.Server) { s.URL = "http://127.0.0.1:2/mcp" }, false},
		"another header":      {remote, func(s *plan.Server) { s.Headers[0].Value = "2" }, false},
		"no header":           {remote, func(s *plan.Server) { s.Headers = nil }, false},
		"a login":             {remote, func(s *plan.Server) { s.Auth = &suite.Auth{} }, false},
	} {
		of := c.named()
		c.change(of)
		if got := IsSame(of, c.named()); got != c.want {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}
