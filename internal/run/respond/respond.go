package respond

import (
	"context"
	"maps"
	"sync"

	"mcptest/internal/jsonv"
	"mcptest/internal/mcp/protocol"
	"mcptest/internal/plan"
	"mcptest/internal/suite"
)

// Capabilities are the capabilities that the client declares. Only those that the
// suite scripts are declared, because a server may wait for an answer to the
// others.
type Capabilities struct{ sampling, elicitation, roots bool }

// Key is equal for equal capabilities.
func (c Capabilities) Key() string {
	b := []byte("---")
	if c.sampling {
		b[0] = 's'
	}
	if c.elicitation {
		b[1] = 'e'
	}
	if c.roots {
		b[2] = 'r'
	}
	return string(b)
}

// JSON returns MCP's ClientCapabilities.
func (c Capabilities) JSON() jsonv.Value {
	var ms []jsonv.Member
	if c.roots {
		ms = append(ms, jsonv.Member{Key: "roots", Value: jsonv.Object()})
	}
	if c.sampling {
		ms = append(ms, jsonv.Member{Key: "sampling", Value: jsonv.Object()})
	}
	if c.elicitation {
		ms = append(ms, jsonv.Member{Key: "elicitation", Value: jsonv.Object()})
	}
	return jsonv.Object(ms...)
}

// CapabilitiesOf returns the union of the capabilities that scripts need.
func CapabilitiesOf(scripts ...*suite.Respond) Capabilities {
	var c Capabilities
	for _, r := range scripts {
		if r == nil {
			continue
		}
		c.sampling = c.sampling || len(r.Sampling.List) > 0
		c.elicitation = c.elicitation || len(r.Elicitation.List) > 0
		c.roots = c.roots || r.HasRoots
	}
	return c
}

// CapabilitiesFor returns the capabilities of the session of a case: those that the
// scripts of the server, the case and its steps on that server need.
func CapabilitiesFor(c *plan.Case, s *plan.Server) Capabilities {
	if c.Respond == nil && s.Respond == nil && !c.Flow {
		return Capabilities{}
	}
	scripts := []*suite.Respond{s.Respond, c.Respond}
	for _, op := range c.Ops {
		if op.Server == s {
			scripts = append(scripts, op.Respond)
		}
	}
	return CapabilitiesOf(scripts...)
}

// Script answers the server's requests during one case. Ordered answers are used in
// order across all its calls.
type Script struct {
	mu       sync.Mutex
	sampling []suite.SamplingAnswer
	elicit   []suite.ElicitationAnswer
	roots    []suite.Root
	hasRoots bool
	// A single answer is used for every request.
	sampleEach, elicitEach bool
	asked                  map[string]bool // methods that the server requested
}

// New returns a script that uses, for each kind of answer, the first of scripts
// that has it.
func New(scripts ...*suite.Respond) *Script {
	s := &Script{asked: map[string]bool{}}
	for _, r := range scripts {
		if r == nil {
			continue
		}
		if s.sampling == nil && len(r.Sampling.List) > 0 {
			s.sampling, s.sampleEach = r.Sampling.List, !r.Sampling.Ordered
		}
		if s.elicit == nil && len(r.Elicitation.List) > 0 {
			s.elicit, s.elicitEach = r.Elicitation.List, !r.Elicitation.Ordered
		}
		if !s.hasRoots && r.HasRoots {
			s.roots, s.hasRoots = r.Roots, true
		}
	}
	return s
}

// Answer implements mcp.Answerer.
func (s *Script) Answer(_ context.Context, method string, params []byte) ([]byte, *protocol.RPCError) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked[method] = true
	switch method {
	case "sampling/createMessage":
		if a, ok := nextAnswer(&s.sampling, s.sampleEach); ok {
			return a.JSON().Append(nil), nil
		}
	case "elicitation/create":
		if a, ok := nextAnswer(&s.elicit, s.elicitEach); ok {
			v, _ := jsonv.Parse(params)
			return a.JSON(v).Append(nil), nil
		}
	case "roots/list":
		if s.hasRoots {
			return rootsJSON(s.roots).Append(nil), nil
		}
	}
	return nil, &protocol.RPCError{Code: protocol.CodeMethodNotFound, Message: "the suite has no (further) response to " + method}
}

// Unrequested returns the keys of scripted answers that the server never requested
// from any of the scripts, with their methods.
func Unrequested(written []*suite.Respond, scripts []*Script) []string {
	asked := map[string]bool{}
	for _, s := range scripts {
		s.mu.Lock()
		maps.Copy(asked, s.asked)
		s.mu.Unlock()
	}
	has := CapabilitiesOf(written...)
	var out []string
	for _, k := range []struct {
		scripted    bool
		key, method string
	}{{has.sampling, "sampling", "sampling/createMessage"}, {has.elicitation, "elicitation", "elicitation/create"}, {has.roots, "roots", "roots/list"}} {
		if k.scripted && !asked[k.method] {
			out = append(out, k.key+" ("+k.method+")")
		}
	}
	return out
}

func nextAnswer[T any](list *[]T, each bool) (T, bool) {
	var zero T
	if len(*list) == 0 {
		return zero, false
	}
	a := (*list)[0]
	if !each {
		*list = (*list)[1:]
	}
	return a, true
}

func rootsJSON(roots []suite.Root) jsonv.Value {
	list := make([]jsonv.Value, len(roots))
	for i, r := range roots {
		ms := []jsonv.Member{{Key: "uri", Value: jsonv.String(r.URI)}}
		if r.Name != "" {
			ms = append(ms, jsonv.Member{Key: "name", Value: jsonv.String(r.Name)})
		}
		list[i] = jsonv.Object(ms...)
	}
	return jsonv.ObjectOf("roots", jsonv.Array(list...))
}
