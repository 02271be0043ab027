package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"mcptest/internal/expect"
	"mcptest/internal/jsonv"
	"mcptest/internal/mcp"
	"mcptest/internal/plan"
	"mcptest/internal/result"
)

// ops makes the case's calls one after another and judges them. The case's
// time limit covers all of them together.
func (a *attempt) ops(ctx context.Context) {
	ctx, cancel := mcp.WithLimit(ctx, "timeout", a.c.Timeout)
	defer cancel()
	if a.c.LogLevel != "" && !a.setLogLevel(ctx) {
		return
	}
	a.steps = jsonv.Object()
	defer a.forget()
	for i, op := range a.c.Ops {
		last := i == len(a.c.Ops)-1
		if op.Fill != nil {
			filled, diags := op.Fill(a.steps)
			if diags.HasErrors() {
				a.fail(result.Fail, fmt.Sprintf("%s: its values could not be filled in: %s", stepName(op, i), diags[0].Msg))
				return
			}
			op = filled
		}
		x, ok := a.call(ctx, op, i)
		if !ok {
			return
		}
		faults := a.argumentFaults(ctx, a.fileRun.entryOf(a.c, op), op, x)
		if op.CancelAfter > 0 && x.Cause == nil {
			a.out.Warnings = append(a.out.Warnings, fmt.Sprintf("cancel_after: %s cancelled nothing: the response came after %s", op.CancelAfter, x.Elapsed.Round(time.Millisecond)))
		}
		passed := !a.c.Flow || a.judgeStep(ctx, op, i, x)
		if passed && last {
			a.judge(ctx)
		}
		a.judgeArguments(op, faults)
		if !passed {
			return
		}
	}
	a.unasked()
}

func (a *attempt) setLogLevel(ctx context.Context) bool {
	e := a.fileRun.entryOf(a.c, a.c.Ops[0])
	if a.sessions[e].Era() == mcp.EraRequests {
		return true // each call says it
	}
	params := jsonv.Object(jsonv.Member{Key: "level", Value: jsonv.String(a.c.LogLevel)}).Append(nil)
	x := a.sessions[e].Do(ctx, mcp.Call{Method: "logging/setLevel", Params: params})
	switch rpc := x.RPCError(); {
	case x.Cause != nil && givenUp(ctx):
		a.fail(result.Skip, interruptedReason)
	case x.Cause != nil:
		a.fail(result.Error, x.Cause.Error())
	case rpc != nil:
		a.fail(result.Fail, "log_level: logging/setLevel was refused: "+rpc.Error())
	default:
		return true
	}
	a.out.Exchanges = append(a.out.Exchanges, exchangeRecord(x, ""))
	return false
}

func stepName(op *plan.Op, i int) string {
	if op.Name != "" {
		return fmt.Sprintf("step %d (%s)", i+1, op.Name)
	}
	return fmt.Sprintf("step %d (%s)", i+1, callName(op))
}

// call makes one call and observes it. It returns false when there was no
// answer, which ends the case.
func (a *attempt) call(ctx context.Context, op *plan.Op, i int) (*mcp.Exchange, bool) {
	a.forget()
	e := a.fileRun.entryOf(a.c, op)
	sess := a.sessions[e]
	if op.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = mcp.WithLimit(ctx, "timeout of the step", op.Timeout)
		defer cancel()
	}
	mark := sess.Mark()
	if a.mustNotCall(sess, e, op) {
		return nil, false
	}
	x := a.send(ctx, sess, e, op)
	if i == 0 && a.tooLate(x) && a.reopen(ctx, e) {
		sess = a.sessions[e]
		mark = sess.Mark()
		x = a.send(ctx, sess, e, op)
	}
	a.elapsed(x.Elapsed)
	step := ""
	if a.c.Flow {
		step = stepName(op, i)
	}
	a.violations(e, x.Violations)
	e.sessionLost(x)
	ok := a.answered(ctx, op, x)
	var waited []mcp.Message
	if ok && op.Wait != nil {
		waited, ok = a.wait(ctx, sess, op, mark, x)
	}
	for _, hop := range x.Hops {
		a.out.Exchanges = append(a.out.Exchanges, exchangeRecord(hop, step))
	}
	rec := exchangeRecord(x, step)
	for _, m := range waited {
		rec.During = append(rec.During, messageRecord(m, x.Start))
	}
	a.out.Exchanges = append(a.out.Exchanges, rec)
	if ok {
		a.leave = a.room.take(treeBytes(x, waited))
		a.observe(ctx, e, sess, op, x, waited)
	}
	return x, ok
}

// forget lets go of what the last call brought, once it was judged.
func (a *attempt) forget() {
	a.obs = expect.Observation{}
	if a.leave != nil {
		a.leave()
		a.leave = nil
	}
}

// mustNotCall fails a test whose tool a client has to drop from the list.
func (a *attempt) mustNotCall(sess *mcp.Session, e *entry, op *plan.Op) bool {
	if op.Method != "tools/call" || sess.Era() != mcp.EraRequests || sess.Stderr() != nil {
		return false
	}
	why := e.tools.unusable(op.Subject)
	if why != "" {
		a.fail(result.Fail, fmt.Sprintf("tool %s was not called: a client must drop it: %s", op.Subject, why))
	}
	return why != ""
}

// send puts the op on the wire.
func (a *attempt) send(ctx context.Context, sess *mcp.Session, e *entry, op *plan.Op) *mcp.Exchange {
	switch {
	case op.Raw != nil:
		return sess.SendRaw(ctx, op.Raw)
	case op.Notification:
		x := &mcp.Exchange{Method: op.Method, Start: time.Now()}
		x.Cause = sess.Notify(ctx, op.Method, op.Params)
		x.Elapsed = time.Since(x.Start)
		return x
	}
	call := e.request(ctx, op)
	call.ProgressToken, call.LogLevel = a.usesProgress(op), a.c.LogLevel
	if s := a.scriptFor(op); s != nil {
		a.scripts = append(a.scripts, s)
		call.Answer = s.answer
	}
	return sess.Do(ctx, call)
}

// request is the op as a call. A tool whose name has a slash and that the
// server does not list is a method.
func (e *entry) request(ctx context.Context, op *plan.Op) mcp.Call {
	call := mcp.Call{Method: op.Method, Params: op.Params, CancelAfter: op.CancelAfter}
	if op.MaybeMethod {
		if has, known := e.tools.has(ctx, op.Subject); known && !has || !known {
			call.Method, call.Params = op.Subject, op.Args
		}
	}
	return call
}

// scriptFor is the script of one call: the step's answers come before the
// case's.
func (a *attempt) scriptFor(op *plan.Op) *script {
	if op.Respond == nil {
		return a.script
	}
	return newScript(op.Respond, a.c.Respond, op.Server.Respond)
}

// usesProgress reports whether the server should report progress on a call: the
// case looks at progress, at all notifications, or waits for one of them.
func (a *attempt) usesProgress(op *plan.Op) bool {
	if !a.c.Exclusive {
		return false
	}
	uses := a.c.Tree.Uses()
	if op.Tree != nil {
		uses = uses.Add(op.Tree.Uses())
	}
	for _, cp := range op.Capture {
		uses = uses.Add(cp.Target.Uses())
	}
	return uses.Progress || uses.Notifications || op.Wait != nil && op.Wait.Notification == "notifications/progress"
}

// wait waits for a notification after the call.
func (a *attempt) wait(ctx context.Context, sess *mcp.Session, op *plan.Op, mark mcp.Mark, x *mcp.Exchange) ([]mcp.Message, bool) {
	if op.Wait.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = mcp.WithLimit(ctx, "wait.timeout", op.Wait.Timeout)
		defer cancel()
	}
	if _, err := sess.Wait(ctx, op.Wait.Notification, mark); err != nil {
		if givenUp(ctx) {
			a.fail(result.Skip, interruptedReason)
		} else if errors.As(err, new(*mcp.ClosedError)) {
			a.fail(result.Error, err.Error())
		} else {
			a.fail(result.Fail, "wait: "+err.Error())
		}
		return nil, false
	}
	seen := map[string]bool{}
	for _, m := range x.During {
		seen[string(m.Raw)] = true
	}
	var after []mcp.Message
	for _, m := range sess.Messages(mark) {
		if !seen[string(m.Raw)] {
			after = append(after, m)
		}
	}
	return after, true
}
