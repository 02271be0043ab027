package line

import (
	"context"
	"fmt"
	"time"

	"mcptest/internal/assert/target"
	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
	"mcptest/internal/report/result"
	"mcptest/internal/run/fixture"
	"mcptest/internal/run/pool"
	"mcptest/internal/run/respond"
	"mcptest/internal/spec/plan"
	"mcptest/internal/spec/suite"
)

// runOperations makes the case's calls in order and evaluates the responses. The
// case's time limit covers all calls.
func (a *attempt) runOperations(ctx context.Context) {
	a.beginCalling()
	defer func() { a.endCalling() }()
	unlimited := ctx
	ctx, cancel := mcp.WithLimit(ctx, "timeout", a.c.Timeout+sumUntilLimits(a.c))
	defer cancel()
	if a.c.LogLevel != "" && !a.setLogLevel(ctx, a.c.Ops[0]) {
		return
	}
	a.steps = jsonv.Object()
	defer a.forget()
	for i, op := range a.c.Ops {
		if a.c.Ops[0].Action != nil {
			i-- // the steps of then: are counted from 1
		}
		if op.Fill != nil {
			filled, diags := op.Fill(a.steps)
			if diags.HasErrors() {
				why := stepName(op, i) + ": its values could not be filled in: " + diags[0].Msg
				a.out.fail(result.Fail, why)
				return
			}
			op = filled
		}
		if op.Action != nil {
			a.act(ctx, op)
			if a.out.c.Status != "" {
				return
			}
			continue // with the steps after it
		}
		before := len(a.out.c.Assertions)
		x, end := a.perform(ctx, op, i)
		a.compareCall(unlimited, op, i, x)
		a.hintScript(op, x)
		if end == noAnswer {
			return
		}
		a.measure(op, x, a.out.c.Assertions[before:])
		if end == stepFailed {
			return
		}
		if a.c.SameAs != nil {
			again{a}.compare(ctx, op, x)
		}
	}
	a.out.warn(a.answers.listWarnings()...)
}

// compareCall compares a call with the lists of its server. Mistakes fail a test that
// passed, or are warnings.
func (a *attempt) compareCall(ctx context.Context, op *plan.Op, i int, x *mcp.Exchange) {
	if a.c.InvalidArgs || op.InvalidArgs || x == nil {
		return
	}
	failure, warnings := a.findServer(op).Judge(ctx, pool.Call{
		Op:       op,
		Session:  a.sessions.of[a.findServer(op)],
		Header:   a.c.Headers,
		AsMethod: op.MaybeMethod && x.Method == op.Subject,
		Passed:   a.out.c.Status == "" || a.c.ExpectFailure != "",
		Refused:  a.seen.isRejected(),
		Lenient:  a.c.Block == suite.Protocol,
		Strict:   a.c.File.Options.StrictArgs,
		Step:     a.c.Flow,
		Others:   a.c.File.Servers,
	})
	a.out.warn(warnings...)
	if failure != "" && a.c.Flow {
		failure = stepName(op, i) + ": " + failure
	}
	if failure != "" {
		a.out.fail(result.Fail, failure)
		a.mistake = failure
	}
}

// hintScript explains a failed test whose call needs an answer that is not scripted.
func (a *attempt) hintScript(op *plan.Op, x *mcp.Exchange) {
	if a.out.c.Status == "" || x == nil {
		return
	}
	var asked target.Observation
	observeMessages(&asked, x.During)
	refusal := ""
	if a.seen.isRejected() {
		refusal = a.seen.obs.Error.String() + a.seen.obs.Result.Lookup("content").String()
	}
	if hint := respond.Hint(respond.CapabilitiesFor(a.c, op.Server), asked.Requests, refusal); hint != "" {
		a.out.warn(hint)
	}
}

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
			a.out.warn(fmt.Sprintf("cancel_after: %s cancelled nothing: the response came after %s",
				op.CancelAfter, x.Elapsed.Round(time.Millisecond)))
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
	c, interval, limit := u.a.out.c, defaultInterval, findUntilLimit(u.a.c, u.u)
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
			u.a.out.fail(result.Skip, Interrupted)
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
