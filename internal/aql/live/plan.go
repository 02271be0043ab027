package live

import (
	"context"
	"time"

	"mcptest/internal/aql/live/guard"
	"mcptest/internal/jsonv"
	"mcptest/internal/mcp"
)

// open starts a run and reads the tools and the introspection.
func open(ctx context.Context, o guard.Options) (*guard.Run, func(), error) {
	c := guard.New(o)
	var cancel context.CancelFunc
	c.Caller.Ctx, cancel = mcp.WithLimit(ctx, "--budget", c.Options.Budget)
	var err error
	if c.Caller.Session, err = c.Caller.Tape.Dial(c.Caller.Ctx, ""); err != nil {
		cancel()
		return nil, nil, &NoAdapterError{Reason: "the adapter cannot be reached", Err: err}
	}
	if err := (discovery{c}).discover(); err != nil {
		c.Caller.Session.Close(context.WithoutCancel(ctx))
		cancel()
		return nil, nil, err
	}
	return c, func() {
		c.Caller.Session.Close(context.WithoutCancel(ctx))
		cancel()
	}, nil
}

// Plan lists the calls that Collect would make in the mode of o. It requests only the
// tools and the introspection of the adapter. The template is an object for
// LiveOptions.Values, with null for every required parameter that no value was found
// for.
func Plan(ctx context.Context, o guard.Options) (plan []OperationPlan, template jsonv.Value, err error) {
	mode := o.Mode
	o.Mode = guard.ModePlan
	c, end, err := open(ctx, o)
	if err != nil {
		return nil, jsonv.Value{}, err
	}
	defer end()
	plan, template = bundle{c}.planned(mode)
	return plan, template, nil
}

// CallOnce calls one tool with the given arguments and returns the envelope, or the
// response that came instead of one. It is used to reproduce a finding.
func CallOnce(ctx context.Context, o guard.Options, tool string, args jsonv.Value) (jsonv.Value, time.Duration, error) {
	c := guard.New(o)
	c.Caller.Ctx = ctx
	var err error
	if c.Caller.Session, err = c.Caller.Tape.Dial(ctx, ""); err != nil {
		return jsonv.Value{}, 0, &NoAdapterError{Reason: "the adapter cannot be reached", Err: err}
	}
	defer func() { c.Caller.Session.Close(context.WithoutCancel(ctx)) }()
	c.Caller.Ungated = true
	c.Caller.Restarts = 1 // a call that kills the adapter is not repeated
	begin := time.Now()
	r := c.Caller.SendNow(ctx, guard.Reply{Tool: tool, Args: args})
	return r.Response(), time.Since(begin), nil
}
