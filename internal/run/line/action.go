package line

import (
	"context"

	"mcptest/internal/assert/expect"
	"mcptest/internal/assert/target"
	"mcptest/internal/client/mcp"
	"mcptest/internal/offer/ruleset"
	"mcptest/internal/report/result"
	"mcptest/internal/run/pool"
	"mcptest/internal/spec/agent"
	"mcptest/internal/spec/plan"
	"mcptest/internal/spec/suite"
)

// observer is a test without a call on one server: it does what its kind does, and
// returns what the assertions examine. An error means that there is nothing to examine.
// An observer that sends a request of its own also records the exchange, its violations
// (out.violations) and a lost session (ReportLost): else a violation passes unseen.
type observer interface {
	observe(ctx context.Context) (target.Observation, error)
}

// chooseObserver returns the observer of a test without a call.
func (a *attempt) chooseObserver(op *plan.Op, server *pool.Server) observer {
	switch action := op.Action.(type) {
	case suite.Offer:
		return offering{a, server}
	case suite.Start:
		return program{outside{a, server}, action}
	case ruleset.Probe:
		return probing{outside{a, server}, action}
	case suite.Request:
		return request{outside{a, server}, action}
	case *agent.Conversation:
		return conversation{a, server, op, action}
	case *agent.Calibration:
		return calibration{a, action}
	}
	return nil
}

// act runs and judges a test without a call.
func (a *attempt) act(ctx context.Context, op *plan.Op) {
	if a.file.Replayed && !op.Action.Connects() {
		a.out.fail(result.Skip, "a replay starts no program and sends no request; this test needs the server")
		return
	}
	var err error
	a.seen.explain = func(v expect.Verdict) string { return v.Message }
	a.seen.obs, err = a.chooseObserver(op, a.findServer(op)).observe(ctx)
	a.out.c.DurationMS += a.seen.obs.DurationMS
	examines := len(a.c.Tree.Items) > 0 || a.c.Tree.MaxDuration != nil || a.c.Block != "agents" // a script may say all
	if a.out.c.Status == "" && a.checkAnswered(ctx, op, &mcp.Exchange{Cause: err}) && examines {
		a.judge(ctx)
		if a.unsaid != "" {
			a.out.fail(result.Fail, a.unsaid)
		}
	}
	a.measure(op, nil, a.out.c.Assertions)
}
