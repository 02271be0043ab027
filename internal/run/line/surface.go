package line

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"mcptest/internal/assert/match"
	"mcptest/internal/assert/target"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/shellwords"
	"mcptest/internal/client/mcp"
	"mcptest/internal/offer/assert"
	"mcptest/internal/offer/surface"
	"mcptest/internal/run/pool"
	"mcptest/internal/run/twin"
	"mcptest/internal/spec/plan"
)

// offering is what a server offers, for an attempt; the observer of suite.Offer.
type offering struct {
	a      *attempt
	server *pool.Server
}

func (f offering) observe(ctx context.Context) (o target.Observation, err error) {
	o.Server = f.a.sessions.of[f.server].ServerInfo()
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
	if f.a.seen.obs.Surface == nil {
		f.a.seen.obs.Surface, err = f.request(ctx)
	}
	return f.a.checkAnswered(ctx, new(plan.Op), &mcp.Exchange{Cause: err})
}

func (f offering) request(ctx context.Context) (*surface.Offer, error) {
	if f.a.file.Plan.Serial {
		f.server.Called() // a hook may have changed what the server offers
	}
	return f.server.Offer(ctx, f.a.sessions.of[f.server])
}

// runMatchers adds the functions of matchers that compare the offer. They have the time
// limit of the test, which an evaluation does not have.
func (f offering) runMatchers(ctx context.Context, env *match.Env) {
	env.Surface = func(_ context.Context, c *assert.Check, offer jsonv.Value) assert.Verdict {
		return f.check(ctx, c, offer)
	}
	env.Others = func(context.Context) (map[string]jsonv.Value, error) { return f.readOthersOfCheck(ctx) }
}

// check evaluates the matchers lock, tokens and same-as.
func (f offering) check(ctx context.Context, c *assert.Check, offer jsonv.Value) assert.Verdict {
	f.a.out.warn(f.a.seen.obs.Surface.WarnOfMissing()...)
	file := f.a.file.Plan
	flags := []string{"--config", filepath.ToSlash(file.Path), "--server", f.server.Def.Name}
	env := assert.Env{
		Server: f.server.Def.Name,
		Dir:    file.Dir,
		Shown:  filepath.Dir(file.Path),
		Mask:   f.a.file.Redact,
		Usage:  " " + shellwords.QuoteAllForShell(flags),
	}
	if c.SameAs != nil {
		var err error
		// By position: the tree of a flow may have been compiled again.
		ofThis := func(w *twin.Way) bool { return w.Same != nil && w.Same.Pos == c.SameAs.Pos }
		if env.Others, err = f.readOthers(ctx, ofThis); err != nil {
			return assert.Verdict{Problem: err.Error(), Undecided: true}
		}
	}
	return c.Run(ctx, offer, env)
}

// readOthers requests the surfaces that same-as or check compares with.
func (f offering) readOthers(ctx context.Context, wanted func(*twin.Way) bool) (out []assert.Other, err error) {
	for _, o := range f.a.others {
		if !wanted(&o) {
			continue
		}
		if o.Err != nil {
			return nil, o.Err
		}
		ps := f.a.file.Pool.ForCase(f.a.c, o.Server, f.a.file.Plan)
		other, err := ps.Offer(ctx, f.a.sessions.of[ps])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", o.DescribeWay(), err)
		}
		if err := other.Err(); err != nil {
			return nil, fmt.Errorf("%s: %w", o.DescribeWay(), err)
		}
		f.a.out.warn(other.WarnOfMissing()...)
		out = append(out, assert.Other{Way: o.DescribeWay(), Over: o.Over, Server: o.Other, Offer: other.Value()})
	}
	return out, nil
}

// readOthersOfCheck requests the surfaces of other clients and servers, by name, for the
// matcher check.
func (f offering) readOthersOfCheck(ctx context.Context) (map[string]jsonv.Value, error) {
	out := map[string]jsonv.Value{}
	list, err := f.readOthers(ctx, func(w *twin.Way) bool { return w.Check })
	for _, o := range list {
		out[o.Over] = o.Offer
	}
	return out, err
}
