package probe

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"mcptest/internal/client/protocol"
	"mcptest/internal/offer/ruleset"
	"mcptest/internal/run/probe/basics"
	"mcptest/internal/run/probe/exam"
	"mcptest/internal/run/probe/features"
	"mcptest/internal/run/probe/skills"
	"mcptest/internal/run/probe/verdict"
)

// Options describe a server and what the probe may do.
type Options = exam.Options

// family is a group of rules that are examined one after the other.
type family struct {
	name    string
	run     func(context.Context, *exam.Visit)
	traffic bool // other families examine its messages
}

// listFamilies returns the families in the order in which they run. First comes what one session
// shows; then what may end it; then what needs further sessions, because a server may be there
// only once; then what remains when everything is over. Last comes what is about few servers.
func listFamilies() []family {
	return []family{
		{"messages", basics.Messages, false},
		{"capabilities", features.Capabilities, false},
		{"lists", features.Lists, false},
		{"tools", features.Tools, true},
		{"resources", features.Resources, true},
		{"prompts", features.Prompts, true},
		{"skills", skills.Examine, false},
		{"utilities", features.Utilities, false},
		{"http", basics.OverHTTP, false},
		{"stateless", basics.Stateless, false},
		{"auth", basics.Authorization, false},
		{"arguments", features.Arguments, false},
		{"fuzz", features.Fuzz, false},
		{"messages", func(ctx context.Context, v *exam.Visit) { v.AskAgain(ctx) }, false},
		{"shutdown", basics.Descriptors, false},
		{"lifecycle", basics.Lifecycle, false},
		{"utilities", features.Inputs, false},
		{"http", basics.Streams, false},
		{"session", basics.Sessions, false},
		{"isolation", features.Isolation, false},
		{"retry", features.Retry, false}, // doubles examine its requests
		{"lists", features.Stable, false},
		{"shutdown", basics.Shutdown, false},
		{"apps", features.Apps, false}, // most servers have none: they cost the others no time
	}
}

// Run examines a server in each era that it speaks, until ctx ends. The error reports a
// server that could not be started or reached, or speaks no known revision.
func Run(ctx context.Context, o Options) (verdict.Report, error) {
	out := verdict.Report{Seed: o.Seed}
	p, err := exam.New(o)
	if err != nil {
		return out, err
	}
	visits, failed := visitAll(ctx, p)
	for _, v := range visits {
		if isUnanswered(v.err) && ctx.Err() != nil {
			out.Late = protocol.Newest(v.Era).Name + " was not examined: " + context.Cause(ctx).Error()
			out.Absent = append(out.Absent, out.Late)
			continue
		}
		if v.err != nil {
			out.Absent = append(out.Absent, protocol.Newest(v.Era).Name+" is not spoken: "+v.err.Error())
			continue
		}
		out.Revisions = append(out.Revisions, v.Version.Name)
		out.Results = append(out.Results, v.Results()...)
		out.Server = cmp.Or(out.Server, v.Name())
	}
	out.Calls = p.Policy.Calls()
	for name, n := range p.Retries.Calls() {
		out.Calls[name] += n
	}
	if len(out.Revisions) > 0 {
		failed = unknownTool(visits, o.Writes)
	}
	return out, failed
}

// run examines the families in one era.
func run(ctx context.Context, v *exam.Visit) error {
	if err := v.Look(ctx); err != nil {
		if isUnanswered(err) && !v.Modern() {
			return err // initialize, which was not answered, would only be sent again
		}
		if basics.Diagnose(ctx, v) {
			return nil
		}
		return err
	}
	defer v.Close()
	for _, f := range listFamilies() {
		if len(v.Results()) == 0 {
			break // no rule is about this version
		}
		if !slices.ContainsFunc(v.Rules.Rules, func(r ruleset.Rule) bool {
			return v.Selected(r) && (r.Family == f.name || f.traffic && r.Traffic)
		}) {
			continue
		}
		v.Doing(v.Version.Name + " · " + f.name)
		v.Restarts = 0
		f.run(ctx, v)
	}
	v.Conclude(ctx)
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
