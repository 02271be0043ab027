package probe

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"mcptest/internal/client/protocol"
	"mcptest/internal/offer/ruleset"
	"mcptest/internal/run/probe/verdict"
)

// family is a group of rules that are examined one after the other.
type family struct {
	name    string
	run     func(context.Context, *visit)
	traffic bool // other families examine its messages
}

// families are run in this order: what may end the process comes last.
func families() []family {
	return []family{
		{"lifecycle", lifecycle, false},
		{"messages", messages, false},
		{"capabilities", capabilities, false},
		{"lists", lists, false},
		{"tools", tools, true},
		{"resources", resources, true},
		{"prompts", prompts, true},
		{"utilities", utilities, false},
		{"http", overHTTP, false},
		{"session", sessions, false},
		{"stateless", stateless, false},
		{"auth", authorization, false},
		{"isolation", isolation, false},
		{"arguments", arguments, false},
		{"fuzz", fuzz, false},
		{"retry", retry, false}, // from here on, doubles examine the requests
		{"shutdown", shutdown, false},
	}
}

// Run examines a server in each era that it speaks, until ctx ends. The error reports a
// server that could not be started or reached, or speaks no known revision.
func Run(ctx context.Context, o Options) (verdict.Report, error) {
	out := verdict.Report{Seed: o.Seed}
	p, err := newProber(o)
	if err != nil {
		return out, err
	}
	eras := []protocol.Era{protocol.EraStateless, protocol.EraSession}
	var failed error
	for i, era := range eras {
		if pin := protocol.VersionOf(p.Server.Protocol); pin.Known() && pin.Era() != era {
			continue
		}
		share, cancel := shareOf(ctx, len(eras)-i)
		v := p.visit(era)
		err := run(share, v)
		cancel()
		if err != nil {
			failed = err // that of the session era is the better one
			out.Absent = append(out.Absent, protocol.Newest(era).Name+" is not spoken: "+err.Error())
			continue
		}
		out.Revisions = append(out.Revisions, v.version.Name)
		out.Results = append(out.Results, v.results()...)
		out.Server = cmp.Or(out.Server, v.name())
	}
	out.Calls = p.policy.Calls()
	for name, n := range p.retries.Calls() {
		out.Calls[name] += n
	}
	if len(out.Revisions) > 0 {
		failed = nil
	}
	return out, failed
}

// run examines the families in one era.
func run(ctx context.Context, v *visit) error {
	if err := v.look(ctx); err != nil {
		if diagnose(ctx, v) {
			return nil
		}
		return err
	}
	defer v.close()
	for _, f := range families() {
		if len(v.results()) == 0 {
			break // no rule is about this version
		}
		if !slices.ContainsFunc(v.rules.Rules, func(r ruleset.Rule) bool {
			return v.selected(r) && (r.Family == f.name || f.traffic && r.Traffic)
		}) {
			continue
		}
		v.Doing(v.version.Name + " · " + f.name)
		v.restarts = 0
		f.run(ctx, v)
	}
	v.close()
	v.conclude()
	return nil
}

// shareOf limits one of n visits to its part of the remaining time.
func shareOf(ctx context.Context, n int) (context.Context, context.CancelFunc) {
	until, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, time.Until(until)/time.Duration(n), errTime)
}

var errTime = errors.New("the time of --max-time was over")
