package guard

import (
	"context"
	"errors"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/live/catalog"
)

// Call sends an operation with its params.
func (a *caller) Call(op *catalog.Operation, params jsonv.Value) Reply {
	return a.Send(op.Tool, op.Request(params))
}

// Send calls a tool with arguments, unless the policy forbids it.
func (a *caller) Send(tool string, args jsonv.Value) Reply {
	r := Reply{Tool: tool, Args: args}
	if reason := a.gate.ExplainForbidden(args); reason != "" {
		r.Cause = errors.New(reason)
		r.Barred = a.gate.Poison[r.operation()] != reason
		return r
	}
	return a.exchange(a.Ctx, r)
}

// exchange calls a tool until there is an answer that counts. It waits when the
// adapter limits the rate, and confirms where the run may. The clean-up uses it too,
// with a context of its own.
func (a *caller) exchange(ctx context.Context, r Reply) Reply {
	return a.repeatConfirmed(ctx, a.repeatUnlimited(ctx, a.SendNow(ctx, r)))
}

// Introspect sends an introspection request.
func (a *caller) Introspect(params ...any) Reply {
	return a.Send(a.catalog.Reader, jsonv.ObjectOf("operation", "introspect", "params", jsonv.ObjectOf(params...)))
}
