package live

import (
	"context"
	"errors"
	"runtime/debug"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
	"mcptest/internal/mcpaql/evidence"
	"mcptest/internal/mcpaql/live/guard"
	"mcptest/internal/mcpaql/live/probe"
)

// Collect tests a running adapter and returns the evidence, with x_live filled in. Faults of the
// adapter are evidence. An error means that there was no adapter to test (*NoAdapterError), that
// the options are invalid, or, together with evidence, that the program failed (*BrokenRunError).
// A *cassette.Error means that the recording belongs to another run. If ctx ends early, the
// evidence holds what was seen until then, and what was created has still been removed.
func Collect(ctx context.Context, o guard.Options) (*evidence.Evidence, error) {
	c := guard.New(o)
	e, err := collect(ctx, c)
	if wrong := c.Caller.Tape.Close(); wrong != nil {
		return nil, wrong
	}
	return e, err
}

func collect(ctx context.Context, c *guard.Run) (*evidence.Evidence, error) {
	limited, cancel := mcp.WithLimit(ctx, "--budget", c.Options.Budget)
	defer cancel()
	c.Caller.Ctx = c.Caller.Tape.BindContext(limited)
	if err := dial(c); err != nil {
		return nil, err
	}
	defer func() { c.Caller.Session.Close(context.WithoutCancel(ctx)) }()
	var broken *BrokenRunError
	err := runGuarded(c, discovery{c}.discover)
	if err != nil && !errors.As(err, &broken) {
		return nil, err
	}
	c.Caller.Tape.SetSecrets(c.Caller.Sensitive, c.Options.Values)
	if c.Options.Mode != guard.ModePlan && broken == nil {
		err = runGuarded(c, func() error { probe.RunAll(c); return nil })
	}
	bundle{c}.finish()
	return c.Evidence, err
}

// dial opens the session of a run.
func dial(c *guard.Run) error {
	s, err := c.Caller.Tape.Dial(c.Caller.Ctx, "")
	switch {
	case err != nil:
		return &NoAdapterError{Reason: "the adapter cannot be reached", Err: err}
	case s == nil:
		return errors.New("no session was opened")
	}
	c.Caller.Session = s
	return nil
}

// runGuarded runs a part of a run and turns a panic into a *BrokenRunError, after which
// nothing more is sent.
func runGuarded(c *guard.Run, part func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &BrokenRunError{Value: v, Stack: string(debug.Stack())}
			c.Caller.Dead = err.Error()
		}
	}()
	return part()
}

// open starts a run and reads the tools and the introspection.
func open(ctx context.Context, o guard.Options) (*guard.Run, func(), error) {
	c := guard.New(o)
	var cancel context.CancelFunc
	c.Caller.Ctx, cancel = mcp.WithLimit(ctx, "--budget", c.Options.Budget)
	if err := dial(c); err != nil {
		cancel()
		return nil, nil, err
	}
	end := func() {
		c.Caller.Session.Close(context.WithoutCancel(ctx))
		cancel()
	}
	if err := (discovery{c}).discover(); err != nil {
		end()
		return nil, nil, err
	}
	return c, end, nil
}

// Plan lists the calls that Collect would make in the mode of o. It requests only the
// tools and the introspection of the adapter. The template is an object for
// Options.Values, with null for every required parameter that no value was found
// for.
func Plan(ctx context.Context, o guard.Options) (plan []OperationPlan, template jsonv.Value, err error) {
	mode := o.Mode
	o.Mode = guard.ModePlan
	c, end, err := open(ctx, o)
	if err != nil {
		return nil, jsonv.Value{}, err
	}
	defer end()
	plan = planner{c}.planOperations(mode)
	return plan, makeTemplate(plan), nil
}

// CallOnce calls one tool with the given arguments and returns the envelope, or the
// response that came instead of one. It is used to reproduce a finding.
func CallOnce(ctx context.Context, o guard.Options, tool string, args jsonv.Value) (jsonv.Value, time.Duration, error) {
	c := guard.New(o)
	c.Caller.Ctx = ctx
	if err := dial(c); err != nil {
		return jsonv.Value{}, 0, err
	}
	defer func() { c.Caller.Session.Close(context.WithoutCancel(ctx)) }()
	c.Caller.Ungated = true
	c.Caller.Restarts = 1 // a call that kills the adapter is not repeated
	begin := time.Now()
	r := c.Caller.SendNow(ctx, guard.Reply{Tool: tool, Args: args})
	return r.Response(), time.Since(begin), nil
}
