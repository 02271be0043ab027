package line

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/client/wire"
	"mcptest/internal/report/result"
	"mcptest/internal/run/fixture"
	"mcptest/internal/run/late"
	"mcptest/internal/run/pool"
	"mcptest/internal/run/record"
	"mcptest/internal/spec/plan"
)

func (a *attempt) setLogLevel(ctx context.Context, op *plan.Op) bool {
	sess := a.sessions.of[a.findServer(op)]
	if sess.Era() == protocol.EraStateless {
		return true // each call contains it
	}
	params := jsonv.Object(jsonv.Member{Key: "level", Value: jsonv.String(a.c.LogLevel)}).Append(nil)
	x := sess.Do(ctx, mcp.Call{Method: "logging/setLevel", Params: params})
	rpc := x.RPCError()
	switch {
	case x.Cause != nil && fixture.Stopping(ctx):
		a.out.fail(result.Skip, Interrupted)
	case x.Cause != nil:
		a.out.fail(result.Error, x.Cause.Error())
	case rpc != nil:
		a.out.fail(result.Fail, "log_level: logging/setLevel was refused: "+rpc.Error())
	default:
		for _, found := range x.Violations {
			found.Msg = x.Method + ": " + found.Msg
			a.out.addViolations(a.findServer(op), []protocol.Violation{found})
		}
		return true
	}
	a.out.c.Exchanges = append(a.out.c.Exchanges, record.Exchange(a.file.Start, x, ""))
	return false
}

// call makes one call and observes it. It returns false if there is no response,
// which ends the case.
func (a *attempt) call(ctx context.Context, op *plan.Op, i int) (*mcp.Exchange, bool) {
	a.forget()
	a.out.c.Silent = op.Notification
	s := a.findServer(op)
	ctx, cancel := limitCall(ctx, op, a.c.Timeout)
	defer cancel()
	sess := a.sessions.of[s]
	if why := findBan(sess, s, op); why != "" {
		a.out.fail(result.Fail, fmt.Sprintf("tool %s was not called: a client must drop it: %s", op.Subject, why))
		return nil, false
	}
	mark := sess.Mark()
	a.watch.Answered(false)
	x := a.send(ctx, sess, s, op)
	if i == 0 && !a.file.Plan.Serial && hasEndedBefore(x) && a.reopen(ctx, s) {
		sess = a.sessions.of[s]
		mark = sess.Mark()
		x = a.send(ctx, sess, s, op)
	}
	a.watch.Answered(true)
	a.out.c.DurationMS += ms(x.Elapsed)
	a.out.addViolations(s, x.Violations)
	s.ReportLost(x)
	ok := a.checkAnswered(ctx, op, x)
	var waited []mcp.Message
	if ok && op.Wait != nil {
		waited, ok = a.wait(ctx, sess, op, mark, x)
	}
	step := ""
	if a.c.Flow {
		step = stepName(op, i)
	}
	a.out.addExchange(a.file.Start, step, x, waited)
	if !a.file.Ignored {
		a.file.Results.examine(ctx, s, a.c, op, x)
	}
	if ok {
		a.seen.free = a.file.Trees.Acquire(countTreeBytes(x, waited))
		a.seen.late = &late.Call{
			Session: sess, Since: mark, Ended: x.Start.Add(x.Elapsed), Waits: op.Wait != nil,
			Seen: slices.Concat(x.During, waited), Observe: observeMessages,
		}
		a.observe(ctx, s, sess, op, x, waited)
	}
	return x, ok
}

// reopen replaces a session that has ended; the time of that is no time of calls.
func (a *attempt) reopen(ctx context.Context, s *pool.Server) bool {
	a.endCalling()
	defer a.beginCalling()
	return a.sessions.reopen(ctx, s)
}

// hasEndedBefore reports whether a server exited by itself before it read the request.
// Its exit then does not fail this case, except in a serial file, where the effects
// of the fixtures on the process are lost.
func hasEndedBefore(x *mcp.Exchange) bool {
	var closed *wire.ClosedError
	return x.Unread && errors.As(x.Cause, &closed) && !closed.Ours
}

// limitCall returns the context of a call that has a time limit of its own: one that is
// repeated has that of the test each time.
func limitCall(ctx context.Context, op *plan.Op, timeout time.Duration) (context.Context, context.CancelFunc) {
	if op.Timeout > 0 {
		return mcp.WithLimit(ctx, "timeout of the step", op.Timeout)
	}
	if op.Until != nil {
		return mcp.WithLimit(ctx, "timeout", timeout)
	}
	return ctx, func() {}
}

// findBan says why a client must ignore the tool of a call; "" if it need not.
func findBan(sess *mcp.Session, s *pool.Server, op *plan.Op) string {
	if op.Method != "tools/call" || sess.Era() != protocol.EraStateless || sess.Stderr() != nil {
		return ""
	}
	return s.Tools().Unusable(op.Subject)
}

// send sends the operation.
func (a *attempt) send(ctx context.Context, sess *mcp.Session, s *pool.Server, op *plan.Op) *mcp.Exchange {
	defer s.Called()
	switch {
	case op.Raw != nil:
		return sess.SendRaw(ctx, op.Raw)
	case op.Notification:
		x := &mcp.Exchange{Method: op.Method, Start: time.Now()}
		x.Cause = sess.Notify(ctx, op.Method, op.Params)
		x.Elapsed = time.Since(x.Start)
		return x
	}
	call := s.Request(ctx, op)
	call.ProgressToken, call.LogLevel, call.Header = usesProgress(a.c, op), a.c.LogLevel, a.c.Headers
	if a.c.Idle > 0 {
		call.Idle, call.ProgressToken = a.c.Idle, true
	}
	if script := a.answers.startScript(op); script != nil {
		call.Answer = script.Answer
	}
	return sess.Do(ctx, call)
}

// wait waits for a notification after the call. It returns the messages that the
// server sent after the response.
func (a *attempt) wait(
	ctx context.Context, sess *mcp.Session, op *plan.Op, mark mcp.Mark, x *mcp.Exchange,
) ([]mcp.Message, bool) {
	if op.Wait.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = mcp.WithLimit(ctx, "wait.timeout", op.Wait.Timeout)
		defer cancel()
	}
	if _, err := sess.Wait(ctx, op.Wait.Notification, mark); err != nil {
		switch {
		case fixture.Stopping(ctx):
			a.out.fail(result.Skip, Interrupted)
		case errors.As(err, new(*wire.ClosedError)):
			a.out.fail(result.Error, err.Error())
		default:
			a.out.fail(result.Fail, "wait: "+err.Error()+sess.Also(err))
		}
		return nil, false
	}
	seen := map[string]bool{}
	for _, m := range x.During {
		seen[string(m.Raw)] = true
	}
	return slices.DeleteFunc(sess.Messages(mark), func(m mcp.Message) bool { return seen[string(m.Raw)] }), true
}
