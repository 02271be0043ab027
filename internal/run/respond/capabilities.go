package respond

import (
	"slices"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/spec/plan"
	"mcptest/internal/spec/suite"
)

// Capabilities are the capabilities that the client declares: those of client:, and unless
// they are written there word for word, those that the suite scripts. Without client: they
// are only the scripted ones, because a server may wait for an answer to the others.
type Capabilities struct {
	sampling, tools, form, url, roots bool

	claimed string // of client: as JSON text; "": none
}

// Key is equal for equal capabilities.
func (c Capabilities) Key() string {
	b := []byte("-----")
	if c.sampling {
		b[0] = 's'
	}
	if c.form {
		b[1] = 'e'
	}
	if c.roots {
		b[2] = 'r'
	}
	if c.url {
		b[3] = 'u'
	}
	if c.tools {
		b[4] = 't'
	}
	return string(b) + c.claimed
}

// JSON returns MCP's ClientCapabilities.
func (c Capabilities) JSON() jsonv.Value {
	out := jsonv.Object()
	if c.claimed != "" {
		out, _ = jsonv.Parse([]byte(c.claimed))
	}
	has := readClaims(out)
	yes := jsonv.Object()
	if c.roots && !has.roots {
		out = out.With("roots", yes)
	}
	if c.sampling && !has.sampling {
		out = out.With("sampling", yes)
	}
	if c.tools && !has.tools {
		out = out.With("sampling", out.Lookup("sampling").With("tools", yes))
	}
	if c.form && !has.form || c.url && !has.url {
		out = out.With("elicitation", c.listModes(out.Lookup("elicitation")))
	}
	return out
}

// listModes returns the capability elicitation, which has the members that written has.
func (c Capabilities) listModes(written jsonv.Value) jsonv.Value {
	if !c.url {
		return jsonv.Object() // forms
	}
	if written.Kind() != jsonv.KindObject {
		written = jsonv.Object()
	}
	written = written.With("url", jsonv.Object())
	if c.form {
		written = written.With("form", jsonv.Object())
	}
	return written
}

// CapabilitiesOf returns the union of the capabilities that scripts need.
func CapabilitiesOf(scripts ...*suite.Respond) Capabilities {
	var c Capabilities
	for _, r := range scripts {
		if r == nil {
			continue
		}
		c.sampling = c.sampling || len(r.Sampling.List) > 0
		c.tools = c.tools || slices.ContainsFunc(r.Sampling.List, suite.SamplingAnswer.UsesTools)
		for _, a := range r.Elicitation.List {
			c.form, c.url = c.form || !a.URL, c.url || a.URL
		}
		c.roots = c.roots || r.HasRoots
	}
	return c
}

// readClaims returns the capabilities that an object declares.
func readClaims(object jsonv.Value) Capabilities {
	elicitation := object.Lookup("elicitation")
	url := !elicitation.Lookup("url").IsAbsent()
	return Capabilities{
		sampling: !object.Lookup("sampling").IsAbsent(),
		tools:    !object.Lookup("sampling", "tools").IsAbsent(),
		roots:    !object.Lookup("roots").IsAbsent(),
		url:      url,
		form:     !elicitation.IsAbsent() && (!url || !elicitation.Lookup("form").IsAbsent()),
		claimed:  string(object.Append(nil)),
	}
}

// mergeDeclared returns the capabilities that a client declares on a server, if scripts need
// answers to be asked for.
func mergeDeclared(s *plan.Server, scripts ...*suite.Respond) Capabilities {
	if s.Client.Declares.IsAbsent() {
		return CapabilitiesOf(scripts...)
	}
	c := readClaims(s.Client.Declares)
	if s.Client.Exact {
		return c
	}
	scripted := CapabilitiesOf(scripts...)
	c.sampling = c.sampling || scripted.sampling
	c.tools = c.tools || scripted.tools
	c.roots = c.roots || scripted.roots
	c.form = c.form || scripted.form
	c.url = c.url || scripted.url
	return c
}

// CapabilitiesOn returns the capabilities of sessions with a server outside of cases.
func CapabilitiesOn(s *plan.Server) Capabilities { return mergeDeclared(s, s.Respond) }

// CapabilitiesFor returns the capabilities of the session of a case: those that client: of
// the server declares, and those that the scripts of the server, the case and its steps on
// that server need.
func CapabilitiesFor(c *plan.Case, s *plan.Server) Capabilities {
	if s.Client.Declares.IsAbsent() && c.Respond == nil && s.Respond == nil && !c.Flow {
		return Capabilities{}
	}
	scripts := []*suite.Respond{s.Respond, c.Respond}
	for _, op := range c.Ops {
		if op.Server == s {
			scripts = append(scripts, op.Respond)
		}
	}
	return mergeDeclared(s, scripts...)
}
