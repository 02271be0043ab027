package basics

import (
	"context"
	"errors"
	"time"

	"mcptest/internal/client/conn"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/wire"
	"mcptest/internal/run/probe/exam"
)

// startLimit is how long a second process may take to answer, by what the first one took: one
// that waits for the end of the first never does.
func startLimit(v *exam.Visit) time.Duration {
	const least, factor = 3 * time.Second, 5
	return max(least, factor*v.Hello.Elapsed)
}

// introduceSecond introduces another client while a session is open: over stdio a second process, as
// each client starts its own.
func introduceSecond(ctx context.Context, v *exam.Visit) exam.Outcome {
	what := "session"
	if v.Stdio() {
		what = "process"
	}
	first, err := v.Session(ctx)
	if err != nil {
		return exam.Unverified("no session could be opened: %v", err)
	}
	served := first.Do(ctx, mcp.Call{Method: "ping"})
	if served.Response == nil {
		return exam.Unverified("ping got %s", exam.Answer(served))
	}
	x := v.Second(ctx, func(ctx context.Context, c *conn.Conn) *mcp.Exchange {
		limited, cancel := mcp.WithLimit(ctx, "response", startLimit(v))
		defer cancel()
		return newIntroduction(v, v.Version.Name)(limited, c)
	})
	if x.Result == nil {
		return exam.Broken(x, "a second %s is refused while one is open: initialize got %s", what, exam.Answer(x))
	}
	again := first.Do(ctx, mcp.Call{Method: "ping"})
	lost := errors.As(again.Cause, new(*wire.SessionLostError))
	closed := v.Stdio() && errors.As(again.Cause, new(*wire.ClosedError))
	ended := lost || closed
	if end, ok := errors.AsType[*wire.ClosedError](again.Cause); ok && end.Exited && end.Exit.Success() {
		return exam.Unverified("the first %s ended with status 0 meanwhile, perhaps by itself", what)
	}
	return exam.BrokenIf(ended, again, "a second %s ends the first: then ping got %s", what, exam.Answer(again))
}
