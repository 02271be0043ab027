package twin

import (
	"fmt"
	"slices"
	"strings"

	"mcptest/internal/spec/plan"
)

// Way is another way to reach the server of a case, for the matcher same-as,
// or another client or server, for the matcher check.
type Way struct {
	Over   string // such as 2025-06-18
	Server *plan.Server
	Err    error // the server cannot be reached in this way
	Check  bool
	Call   bool // only for same_as of a test
}

// OtherWays returns the other ways to reach the server of a case.
func OtherWays(c *plan.Case, file *plan.File) (out []Way) {
	if c.Server == nil {
		return nil
	}
	derived := func(over string, change func(*plan.Server)) {
		s := *c.Server
		change(&s)
		s.Name, s.Key = s.Name+" over "+over, s.Key+"\x00over "+over
		out = append(out, Way{Over: over, Server: &s, Check: s.Client != ""})
	}
	for _, choice := range c.Tree.Checks() {
		clients, servers := choice.Others()
		for _, name := range clients {
			derived(name, func(s *plan.Server) { s.Client = name })
		}
		for _, s := range file.Servers {
			if s.Name != c.Server.Name && slices.Contains(servers, s.Name) {
				out = append(out, Way{Over: s.Name, Server: s, Check: true})
			}
		}
	}
	if c.SameAs != nil {
		out = append(out, Way{Over: c.SameAs.Server, Server: file.Counterpart(c.SameAs.Server, c.Server), Call: true})
	}
	same := c.Tree.SameAs()
	if same == nil {
		return out
	}
	for _, version := range same.Protocol {
		derived(version, func(s *plan.Server) { s.Protocol = version })
	}
	for _, t := range same.Transport {
		if t == "http" {
			t = "streamable-http"
		}
		switch {
		case t == transportOf(c.Server):
		case c.Server.URL != "" && t != "stdio":
			derived(t, func(s *plan.Server) { s.Transport = t })
		default:
			s, err := sibling(c.Server, file, t)
			out = append(out, Way{Over: t, Server: s, Err: err})
		}
	}
	return out
}

func transportOf(s *plan.Server) string {
	switch {
	case s.URL == "":
		return "stdio"
	case s.Transport == "sse":
		return "sse"
	}
	return "streamable-http"
}

// sibling returns the variant of a server that is reached over a transport.
func sibling(of *plan.Server, file *plan.File, transport string) (found *plan.Server, err error) {
	base, _, _ := strings.Cut(of.Name, "@")
	for _, s := range file.Servers {
		if name, _, _ := strings.Cut(s.Name, "@"); name != base || s.Name == of.Name || transportOf(s) != transport {
			continue
		}
		if found != nil {
			return nil, fmt.Errorf("%s and %s are both reached over %s", found.Name, s.Name, transport)
		}
		found = s
	}
	if found == nil {
		return nil, fmt.Errorf("the server %s is not reached over %s: add a variant that is", of.Name, transport)
	}
	return found, nil
}
