package twin

import (
	"fmt"
	"slices"
	"strings"

	"mcptest/internal/offer/assert"
	"mcptest/internal/spec/plan"
)

// Way is another way to reach the server of a case, for the matcher same-as,
// or another client or server, for the matcher check.
type Way struct {
	Over   string // such as 2025-06-18, or the name of another server
	Server *plan.Server
	Err    error // the server cannot be reached in this way
	Check  bool
	Same   *assert.SameAs // of the matcher same-as
	Other  bool           // another server, for same-as
	Call   bool           // only for same_as of a test
}

// DescribeWay says where an answer differs: over 2025-06-18, on gateway.
func (w *Way) DescribeWay() string {
	if w.Other {
		return "on " + w.Over
	}
	return "over " + w.Over
}

// FindOtherWays returns the other ways to reach the server of a case.
func FindOtherWays(c *plan.Case, file *plan.File) (out []Way) {
	if c.Server == nil {
		return nil
	}
	for _, choice := range c.Tree.Checks() {
		clients, servers := choice.Others()
		for _, name := range clients {
			client := deriveServer(c, name, func(s *plan.Server) {
				if name != "" {
					s.Client.Name, s.Client.Title = name, ""
				}
			})
			out = append(out, Way{Over: name, Server: client, Check: name != ""})
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
	for _, same := range c.Tree.SameAs() {
		out = append(out, findSameWays(c, file, same)...)
	}
	return out
}

// deriveServer is the server of a case, reached in another way.
func deriveServer(c *plan.Case, over string, change func(*plan.Server)) *plan.Server {
	s := *c.Server
	change(&s)
	s.Name, s.Key = s.Name+" over "+over, s.Key+"\x00over "+over
	return &s
}

// findSameWays returns what a matcher same-as compares with.
func findSameWays(c *plan.Case, file *plan.File, same *assert.SameAs) (out []Way) {
	if same.Server != "" {
		other := file.Counterpart(same.Server, c.Server)
		out = append(out, Way{Over: same.Server, Server: other, Same: same, Other: true})
	}
	for _, version := range same.Protocol {
		other := deriveServer(c, version, func(s *plan.Server) { s.Protocol = version })
		out = append(out, Way{Over: version, Server: other, Same: same})
	}
	for _, t := range same.Transport {
		if t == "http" {
			t = "streamable-http"
		}
		switch {
		case t == nameTransport(c.Server):
		case c.Server.URL != "" && t != "stdio":
			other := deriveServer(c, t, func(s *plan.Server) { s.Transport = t })
			out = append(out, Way{Over: t, Server: other, Same: same})
		default:
			s, err := findSibling(c.Server, file, t)
			out = append(out, Way{Over: t, Server: s, Err: err, Same: same})
		}
	}
	return out
}

func nameTransport(s *plan.Server) string {
	switch {
	case s.URL == "":
		return "stdio"
	case s.Transport == "sse":
		return "sse"
	}
	return "streamable-http"
}

// findSibling returns the variant of a server that is reached over a transport.
func findSibling(of *plan.Server, file *plan.File, transport string) (found *plan.Server, err error) {
	base, _, _ := strings.Cut(of.Name, "@")
	for _, s := range file.Servers {
		if name, _, _ := strings.Cut(s.Name, "@"); name != base || s.Name == of.Name || nameTransport(s) != transport {
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
