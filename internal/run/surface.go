package run

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mcptest/internal/assert/match"
	"mcptest/internal/assert/target"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/shellwords"
	"mcptest/internal/client/mcp"
	"mcptest/internal/offer/assert"
	"mcptest/internal/offer/surface"
	"mcptest/internal/run/pool"
	"mcptest/internal/spec/plan"
)

// offering is what a server offers, for an attempt; the observer of suite.Offer.
type offering struct {
	a      *attempt
	server *pool.Server
}

func (f offering) observe(ctx context.Context) (o target.Observation, err error) {
	o.Server = f.a.sessions[f.server].ServerInfo()
	if f.a.c.Tree.Uses().Surface() {
		began := time.Now()
		o.Surface, err = f.request(ctx)
		o.DurationMS = ms(time.Since(began))
	}
	return o, err
}

// add adds it to the observation of a call. It returns false if the lists cannot be
// requested, which ends the case.
func (f offering) add(ctx context.Context) bool {
	var err error
	if f.a.obs.Surface == nil {
		f.a.obs.Surface, err = f.request(ctx)
	}
	return f.a.answered(ctx, new(plan.Op), &mcp.Exchange{Cause: err})
}

func (f offering) request(ctx context.Context) (*surface.Offer, error) {
	if f.a.file.file.Serial {
		f.server.Called() // a hook may have changed what the server offers
	}
	return f.server.Offer(ctx, f.a.sessions[f.server])
}

// otherWay is another way to reach the server of a case, for the matcher same-as,
// or another client or server, for the matcher check.
type otherWay struct {
	over   string // such as 2025-06-18
	server *plan.Server
	err    error // the server cannot be reached in this way
	check  bool
}

// otherWays returns the other ways to reach the server of a case.
func otherWays(c *plan.Case, file *plan.File) (out []otherWay) {
	if c.Server == nil {
		return nil
	}
	derived := func(over string, change func(*plan.Server)) {
		s := *c.Server
		change(&s)
		s.Name, s.Key = s.Name+" over "+over, s.Key+"\x00over "+over
		out = append(out, otherWay{over: over, server: &s, check: s.Client != ""})
	}
	for _, choice := range c.Tree.Checks() {
		clients, servers := choice.Others()
		for _, name := range clients {
			derived(name, func(s *plan.Server) { s.Client = name })
		}
		for _, s := range file.Servers {
			if s.Name != c.Server.Name && slices.Contains(servers, s.Name) {
				out = append(out, otherWay{over: s.Name, server: s, check: true})
			}
		}
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
			out = append(out, otherWay{over: t, server: s, err: err})
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

// matchers adds the functions of matchers that compare the offer. They have the time
// limit of the test, which an evaluation does not have.
func (f offering) matchers(ctx context.Context, env *match.Env) {
	env.Surface = func(_ context.Context, c *assert.Check, offer jsonv.Value) assert.Verdict {
		return f.check(ctx, c, offer)
	}
	env.Others = func(context.Context) (map[string]jsonv.Value, error) { return f.othersOfCheck(ctx) }
}

// check evaluates the matchers lock, tokens and same-as.
func (f offering) check(ctx context.Context, c *assert.Check, offer jsonv.Value) assert.Verdict {
	file := f.a.file.file
	env := assert.Env{
		Server: f.server.Def.Name, Dir: file.Dir, Shown: filepath.Dir(file.Path), Mask: f.a.file.run.redact,
		Usage: " " + shellwords.QuoteAll([]string{"--config", filepath.ToSlash(file.Path), "--server", f.server.Def.Name}),
	}
	if c.SameAs != nil {
		var err error
		if env.Others, err = f.others(ctx, false); err != nil {
			return assert.Verdict{Problem: err.Error()}
		}
	}
	return c.Run(ctx, offer, env)
}

// others requests the surfaces that same-as or check compares with.
func (f offering) others(ctx context.Context, check bool) (out []assert.Other, err error) {
	for _, o := range f.a.others {
		if o.check != check {
			continue
		}
		if o.err != nil {
			return nil, o.err
		}
		ps := f.a.file.run.pool.ForCase(f.a.c, o.server, f.a.file.file)
		other, err := ps.Offer(ctx, f.a.sessions[ps])
		if err != nil {
			return nil, fmt.Errorf("over %s: %w", o.over, err)
		}
		for _, failed := range other.Failed {
			return nil, fmt.Errorf("over %s: %w", o.over, failed)
		}
		out = append(out, assert.Other{Over: o.over, Offer: other.Value()})
	}
	return out, nil
}

// othersOfCheck requests the surfaces of other clients and servers, by name, for the
// matcher check.
func (f offering) othersOfCheck(ctx context.Context) (map[string]jsonv.Value, error) {
	out := map[string]jsonv.Value{}
	list, err := f.others(ctx, true)
	for _, o := range list {
		out[o.Over] = o.Offer
	}
	return out, err
}
