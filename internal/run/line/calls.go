package line

import (
	"context"

	"mcptest/internal/assert/expect"
	"mcptest/internal/assert/target"
	"mcptest/internal/client/wire"
	"mcptest/internal/report/result"
	"mcptest/internal/run/boundary"
	"mcptest/internal/run/doubles"
)

// runCalls opens the sessions, makes the calls and evaluates the responses.
func (a *attempt) runCalls(ctx context.Context) {
	isOpen := true
	if a.c.Connects() {
		refusal, ok := a.sessions.open(ctx)
		if !ok && refusal == nil {
			return
		}
		isOpen = ok
		if refusal != nil {
			a.seen.obs = observeRefusal(refusal)
			a.seen.explain = func(v expect.Verdict) string { return v.Message }
		}
	}
	a.beginWatch(ctx)
	defer a.watch.End()
	if isOpen {
		a.runOperations(ctx)
	} else {
		a.judge(ctx) // the refused handshake
	}
	a.watch.Settle(ctx)
	a.finish(ctx)
}

// observeRefusal returns what can be observed of a handshake that HTTP refused.
func observeRefusal(refusal *wire.HTTPInfo) target.Observation {
	return target.Observation{
		HTTPStatus:  refusal.Status,
		HTTPHeaders: boundary.HeaderValue(refusal.Header),
		Challenge:   refusal.Challenge(),
	}
}

// beginWatch starts collecting the requests to upstreams. Earlier requests of the
// server do not belong to the case.
func (a *attempt) beginWatch(ctx context.Context) {
	groups := a.lease.Doubles()
	if len(a.file.Plan.Upstreams) > 0 && a.c.Exclusive {
		a.sessions.awaitIdle()
		doubles.Settle(ctx, groups)
	}
	a.watch = doubles.Begin(a.c, groups)
}

// finish collects the results that belong to no call and decides the status.
func (a *attempt) finish(ctx context.Context) {
	a.sessions.takeViolations()
	a.seen.late.Note(ctx, a.out.c, a.c.Trials != nil || a.c.Repeat != nil) // there may be many attempts
	requests, problems := a.watch.Record(a.file.Start)                     // unanswered ones fail the case
	a.sessions.recordSideEvents()
	a.out.c.Upstream, a.out.problems = requests, append(a.out.problems, problems...)
	a.out.decide()
	a.measured.count(a.out.c.Status)
	if a.out.c.Status != result.Pass {
		a.sessions.recordStderr()
	} else {
		a.out.c.Stderr = ""
	}
}
