package run

import (
	"context"
	"fmt"
	"time"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
	"mcptest/internal/report/result"
	"mcptest/internal/run/fixture"
	"mcptest/internal/spec/plan"
	"mcptest/internal/spec/suite"
)

// defaultInterval is the time between two calls of until:.
const defaultInterval = 200 * time.Millisecond

// callEnd is how a call with its assertions ended.
type callEnd uint8

const (
	noAnswer callEnd = iota
	stepFailed
	judged // by the assertions of the test too, if it is the last call
)

// perform makes one call and judges its response. With until:, it repeats the call
// until the assertions hold. Results of earlier calls are dropped, except violations:
// they are not what the test waits for.
func (a *attempt) perform(ctx context.Context, op *plan.Op, i int) (x *mcp.Exchange, end callEnd) {
	u := until{a: a, u: op.Until, before: *a.out.c, steps: a.steps, start: time.Now()}
	if a.snapshots != nil {
		u.rewind = a.snapshots.Mark()
	}
	for calls := 1; ; calls++ {
		var answered bool
		if x, answered = a.call(ctx, op, i); !answered {
			return x, noAnswer
		}
		if op.CancelAfter > 0 && x.Cause == nil {
			a.out.warn(fmt.Sprintf("cancel_after: %s cancelled nothing: the response came after %s", op.CancelAfter, x.Elapsed.Round(time.Millisecond)))
		}
		end = judged
		if a.c.Flow && !a.judgeStep(ctx, op, i) {
			end = stepFailed
		} else if i == len(a.c.Ops)-1 && a.c.Ops[0].Action == nil {
			a.judge(ctx)
		}
		if op.Until == nil || a.out.c.Status != result.Fail || !u.wait(ctx, calls) {
			return x, end
		}
	}
}

// until is the state of a repeated call.
type until struct {
	a      *attempt
	u      *suite.Until
	start  time.Time
	before result.Case // before the first call
	steps  jsonv.Value
	rewind func() // of the snapshots; may be nil
}

// wait waits until the next call and drops the results of the last one. It returns
// false if there is no time for another call.
func (u *until) wait(ctx context.Context, calls int) bool {
	c, interval, limit := u.a.out.c, defaultInterval, untilLimit(u.a.c, u.u)
	if u.u.Interval != nil {
		interval = *u.u.Interval
	}
	if time.Since(u.start)+interval > limit {
		c.Message = fmt.Sprintf("not within %s (%s): %s", limit, display.Count(calls, "call"), c.Message)
		return false
	}
	select {
	case <-ctx.Done():
		if fixture.Stopping(ctx) {
			u.a.out.fail(result.Skip, interruptedReason)
		}
		return false
	case <-time.After(interval):
	}
	kept := *c
	*c = u.before
	c.DurationMS, c.Violations, c.AfterRestart = kept.DurationMS, kept.Violations, kept.AfterRestart
	u.a.steps = u.steps
	if u.rewind != nil {
		u.rewind()
	}
	return true
}

// untilLimit returns how long a call may be repeated.
func untilLimit(c *plan.Case, u *suite.Until) time.Duration {
	if u.Timeout != nil {
		return *u.Timeout
	}
	return c.Timeout
}

// untilLimits returns what the repeated calls of a case add to its limit.
func untilLimits(c *plan.Case) (sum time.Duration) {
	for _, op := range c.Ops {
		if op.Until != nil {
			sum += untilLimit(c, op.Until)
		}
	}
	return sum
}
