package line

import (
	"context"
	"fmt"

	"mcptest/internal/client/mcp"
	"mcptest/internal/report/result"
	"mcptest/internal/run/record"
	"mcptest/internal/run/twin"
	"mcptest/internal/spec/plan"
)

// again makes the call of a case on the server of same_as.
type again struct{ a *attempt }

// compare makes the call and compares its response with that of the first, x.
func (t again) compare(ctx context.Context, op *plan.Op, x *mcp.Exchange) {
	a, file := t.a, t.a.file.Plan
	other := twin.Call(op, file.Counterpart(a.c.SameAs.Server, a.c.Server), a.c.SameAs.Prefix)
	if a.c.LogLevel != "" && !a.setLogLevel(ctx, other) {
		return
	}
	first := twin.Answer{Op: op, Era: a.sessions.of[a.findServer(op)].Era(), Seen: a.seen.obs}
	s := a.findServer(other)
	a.answers.restart()
	sess := a.sessions.of[s]
	y := a.send(ctx, sess, s, other)
	a.out.c.DurationMS += ms(y.Elapsed)
	a.out.addViolations(s, y.Violations)
	s.ReportLost(y)
	a.out.c.Exchanges[len(a.out.c.Exchanges)-1].Step = a.findServer(op).Def.Name
	a.out.c.Exchanges = append(a.out.c.Exchanges, record.Exchange(a.file.Start, y, s.Def.Name))
	if y.Cause != nil && x.Cause == nil {
		y.Cause = fmt.Errorf("server %q: %w", s.Def.Name, y.Cause)
	}
	if !a.checkAnswered(ctx, other, y) {
		return
	}
	a.observe(ctx, s, sess, other, y, nil)
	items := twin.Compare(a.c, first, twin.Answer{Op: other, Era: sess.Era(), Seen: a.seen.obs})
	for i := range items {
		if !items[i].Pass {
			items[i].Source = record.SourceLine(a.c.SameAs.Pos)
			a.out.fail(result.Fail, items[i].Message)
		}
	}
	a.out.c.Implicit = false
	a.out.c.Assertions = append(a.out.c.Assertions, items...)
	a.measure(other, y, items)
}
