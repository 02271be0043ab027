package respond

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/protocol"
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

// Script answers the server's requests during one case. Ordered answers are used in
// order across all its calls.
type Script struct {
	mu       sync.Mutex
	sampling []suite.SamplingAnswer
	form     []suite.ElicitationAnswer
	url      []suite.ElicitationAnswer
	roots    []suite.Root
	hasRoots bool
	// A single answer is used for every request.
	sampleEach, formEach, urlEach bool
	asked                         map[string]bool // keys of respond that the server requested
	claims                        bool            // client: declares the capabilities
	mistakes                      []string        // of answers; see Mistakes
}

// New returns a script that uses, for each kind of answer, the first of scripts
// that has it. Answers to forms and to addresses are two kinds, each with its order.
// It returns nil if all scripts are nil.
func New(scripts ...*suite.Respond) (s *Script) {
	for _, r := range scripts {
		if r == nil {
			continue
		}
		if s == nil {
			s = &Script{asked: map[string]bool{}}
		}
		if s.sampling == nil && len(r.Sampling.List) > 0 {
			s.sampling, s.sampleEach = r.Sampling.List, !r.Sampling.Ordered
		}
		form, url := s.form == nil, s.url == nil
		for _, a := range r.Elicitation.List {
			switch {
			case a.URL && url:
				s.url, s.urlEach = append(s.url, a), !r.Elicitation.Ordered
			case !a.URL && form:
				s.form, s.formEach = append(s.form, a), !r.Elicitation.Ordered
			}
		}
		if !s.hasRoots && r.HasRoots {
			s.roots, s.hasRoots = r.Roots, true
		}
	}
	return s
}

// Answer implements mcp.Answerer.
func (s *Script) Answer(ctx context.Context, method string, params []byte) ([]byte, *protocol.RPCError) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, _ := jsonv.Parse(params)
	kind := findKind(method, v)
	s.asked[kind] = true
	switch kind {
	case "sampling":
		if a, ok := takeAnswer(&s.sampling, s.sampleEach); ok {
			return a.JSON().Append(nil), nil
		}
	case "elicitation":
		if a, ok := takeAnswer(&s.form, s.formEach); ok {
			s.examine(ctx, a, v)
			return a.JSON(v).Append(nil), nil
		}
	case "elicitation with mode url":
		if a, ok := takeAnswer(&s.url, s.urlEach); ok {
			return a.JSON(v).Append(nil), nil
		}
	case "roots":
		if s.hasRoots {
			return formatRoots(s.roots).Append(nil), nil
		}
	}
	s.refuse(method)
	return nil, &protocol.RPCError{Code: protocol.CodeMethodNotFound, Message: "the suite has no (further) response to " + method + strings.TrimPrefix(kind, "elicitation")}
}

// findKind returns the key of respond that answers a request: elicitation in mode url is
// a kind of its own.
func findKind(method string, params jsonv.Value) string {
	kind := protocol.CapabilityOf(method)
	if kind == "elicitation" && params.Lookup("mode").Text() == "url" {
		kind += " with mode url"
	}
	return kind
}

// FindUnrequested returns the keys of scripted answers that the server never requested
// from any of the scripts, with their methods.
func FindUnrequested(written []*suite.Respond, scripts []*Script) []string {
	asked := map[string]bool{}
	for _, s := range scripts {
		s.mu.Lock()
		maps.Copy(asked, s.asked)
		s.mu.Unlock()
	}
	has := CapabilitiesOf(written...)
	var out []string
	for _, k := range []struct {
		scripted     bool
		kind, method string
	}{
		{has.sampling, "sampling", "sampling/createMessage"},
		{has.form, "elicitation", "elicitation/create"},
		{has.url, "elicitation with mode url", "elicitation/create"},
		{has.roots, "roots", "roots/list"},
	} {
		if k.scripted && !asked[k.kind] {
			out = append(out, k.kind+" ("+k.method+")")
		}
	}
	return out
}

// Hint explains the failure of a call that needs an answer which the suite does not
// script, or returns "": the server requested it, or says in its refusal that the client
// does not support it.
func Hint(has Capabilities, requests []jsonv.Value, refusal string) string {
	refusal = strings.ToLower(refusal)
	needs := map[string]bool{}
	for _, r := range requests {
		needs[findKind(r.Lookup("method").Text(), r.Lookup("params"))] = true
	}
	if strings.Contains(refusal, "elicit") {
		url := strings.Contains(refusal, "url")
		needs["elicitation with mode url"], needs["elicitation"] = url, needs["elicitation"] || !url
	}
	const only = "mcptest declares %s only if it is scripted: respond: {%s}"
	switch {
	case needs["elicitation"] && !has.form:
		return fmt.Sprintf(only, "elicitation", "elicitation: {action: accept, content: {…}}")
	case needs["elicitation with mode url"] && !has.url:
		return fmt.Sprintf(only, "elicitation by URL", "elicitation: {action: accept, mode: url}")
	case needs["sampling"] && !has.sampling:
		return fmt.Sprintf(only, "sampling", "sampling: {text: …}")
	case needs["roots"] && !has.roots:
		return fmt.Sprintf(only, "roots", "roots: [{uri: …}]")
	}
	return ""
}

func takeAnswer[T any](list *[]T, each bool) (T, bool) {
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

func formatRoots(roots []suite.Root) jsonv.Value {
	return jsonv.ObjectOf("roots", jsonv.List(roots, func(r suite.Root) jsonv.Value {
		root := jsonv.ObjectOf("uri", r.URI)
		if r.Name != "" {
			root = root.With("name", jsonv.String(r.Name))
		}
		return root
	}))
}
