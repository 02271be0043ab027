package live

import (
	"context"
	"time"

	"mcptest/internal/jsonv"
	"mcptest/internal/mcp"
)

// open starts a collector that has looked at tools and introspection.
func open(ctx context.Context, o Options) (*collector, func(), error) {
	c := newCollector(o)
	var cancel context.CancelFunc
	c.caller.ctx, cancel = mcp.WithLimit(ctx, "--budget", c.o.Budget)
	var err error
	if c.caller.s, err = c.caller.tape.Dial(c.caller.ctx, ""); err != nil {
		cancel()
		return nil, nil, &NoAdapterError{Reason: "the adapter cannot be reached", Err: err}
	}
	if err := (discovery{c}).discover(); err != nil {
		c.caller.s.Close(context.WithoutCancel(ctx))
		cancel()
		return nil, nil, err
	}
	return c, func() {
		c.caller.s.Close(context.WithoutCancel(ctx))
		cancel()
	}, nil
}

// Plan tells what Collect would call in the mode of o, asking the
// adapter for nothing but its tools and its introspection. The template is
// an object for LiveOptions.Values, with null for every required parameter
// that no value was found for.
func Plan(ctx context.Context, o Options) (plan []OperationPlan, template jsonv.Value, err error) {
	mode := o.Mode
	o.Mode = ModePlan
	c, end, err := open(ctx, o)
	if err != nil {
		return nil, jsonv.Value{}, err
	}
	defer end()
	plan, template = bundle{c}.planned(mode)
	return plan, template, nil
}

// CallOnce calls one tool with some arguments and returns the envelope that
// it answered, or what came instead. It is how a finding is repeated.
func CallOnce(ctx context.Context, o Options, tool string, args jsonv.Value) (jsonv.Value, time.Duration, error) {
	c := newCollector(o)
	c.caller.ctx = ctx
	var err error
	if c.caller.s, err = c.caller.tape.Dial(ctx, ""); err != nil {
		return jsonv.Value{}, 0, &NoAdapterError{Reason: "the adapter cannot be reached", Err: err}
	}
	defer func() { c.caller.s.Close(context.WithoutCancel(ctx)) }()
	c.caller.ungated = true
	c.caller.restarts = 1 // a call that kills the adapter is not repeated
	begin := time.Now()
	r := c.caller.sendNow(ctx, reply{tool: tool, args: args})
	return r.response(), time.Since(begin), nil
}
