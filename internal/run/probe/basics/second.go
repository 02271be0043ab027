package basics

import (
	"context"
	"errors"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/wire"
	"mcptest/internal/run/probe/exam"
)

// second introduces another client while a session is open.
func second(ctx context.Context, v *exam.Visit) exam.Outcome {
	first, err := v.Session(ctx)
	if err != nil {
		return exam.Unverified("no session could be opened: %v", err)
	}
	served := first.Do(ctx, mcp.Call{Method: "ping"})
	if served.Response == nil {
		return exam.Unverified("ping got %s", exam.Answer(served))
	}
	x := introduce(ctx, v, v.Version.Name)
	if x.Result == nil {
		return exam.Broken(x, "a second session is refused while one is open: initialize got %s", exam.Answer(x))
	}
	again := v.Do(ctx, "ping", jsonv.Value{})
	ended := errors.As(again.Cause, new(*wire.SessionLostError))
	return exam.BrokenIf(ended, again, "a second session ends the first: then ping got %s", exam.Answer(again))
}
