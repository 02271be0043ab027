package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"mcptest/internal/assert/expect"
	"mcptest/internal/assert/target"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/client/wire"
	"mcptest/internal/report/result"
	"mcptest/internal/run/fixture"
	"mcptest/internal/run/late"
	"mcptest/internal/run/pool"
	"mcptest/internal/run/record"
	"mcptest/internal/run/respond"
	"mcptest/internal/spec/plan"
	"mcptest/internal/spec/suite"
)

// operations makes the case's calls in order and evaluates the responses. The
// case's time limit covers all calls.
func (a *attempt) operations(ctx context.Context) {
	a.beginCalling()
	defer func() { a.endCalling() }()
	unlimited := ctx
	ctx, cancel := mcp.WithLimit(ctx, "timeout", a.c.Timeout+untilLimits(a.c))
	defer cancel()
	if a.c.LogLevel != "" && !a.setLogLevel(ctx, a.c.Ops[0]) {
		return
	}
	a.steps = jsonv.Object()
	defer a.dropObservation()
	for i, op := range a.c.Ops {
		if a.c.Ops[0].Action != nil {
			i-- // the steps of then: are counted from 1
		}
		if op.Fill != nil {
			filled, diags := op.Fill(a.steps)
			if diags.HasErrors() {
				a.out.fail(result.Fail, fmt.Sprintf("%s: its values could not be filled in: %s", stepName(op, i), diags[0].Msg))
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
	a.noteAnswers()
	written := []*suite.Respond{a.c.Respond}
	for _, op := range a.c.Ops {
		written = append(written, op.Respond)
	}
	for _, what := range respond.Unrequested(written, a.scripts) {
		a.out.warn("respond: the server never requested " + what)
	}
}

// noteAnswers warns of answers to the server that do not fit, or are missing.
func (a *attempt) noteAnswers() {
	for i, script := range a.scripts {
		if !slices.Contains(a.scripts[:i], script) { // steps share the script of the test
			a.out.warn(script.Mistakes()...)
		}
	}
}

// compareCall compares a call with the lists of its server. Mistakes fail a test that
// passed, or are warnings.
func (a *attempt) compareCall(ctx context.Context, op *plan.Op, i int, x *mcp.Exchange) {
	if a.c.InvalidArgs || op.InvalidArgs || x == nil {
		return
	}
	failure, warnings := a.server(op).Judge(ctx, pool.Call{
		Op:       op,
		Session:  a.sessions[a.server(op)],
		Header:   a.c.Headers,
		AsMethod: op.MaybeMethod && x.Method == op.Subject,
		Passed:   a.out.c.Status == "" || a.c.ExpectFailure != "",
		Refused:  a.isRejected(),
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
	if a.isRejected() {
		refusal = a.obs.Error.String() + a.obs.Result.Lookup("content").String()
	}
	if hint := respond.Hint(respond.CapabilitiesFor(a.c, op.Server), asked.Requests, refusal); hint != "" {
		a.out.warn(hint)
	}
}

func (a *attempt) setLogLevel(ctx context.Context, op *plan.Op) bool {
	sess := a.sessions[a.server(op)]
	if sess.Era() == protocol.EraStateless {
		return true // each call contains it
	}
	params := jsonv.Object(jsonv.Member{Key: "level", Value: jsonv.String(a.c.LogLevel)}).Append(nil)
	x := sess.Do(ctx, mcp.Call{Method: "logging/setLevel", Params: params})
	rpc := x.RPCError()
	switch {
	case x.Cause != nil && fixture.Stopping(ctx):
		a.out.fail(result.Skip, interruptedReason)
	case x.Cause != nil:
		a.out.fail(result.Error, x.Cause.Error())
	case rpc != nil:
		a.out.fail(result.Fail, "log_level: logging/setLevel was refused: "+rpc.Error())
	default:
		for _, found := range x.Violations {
			found.Msg = x.Method + ": " + found.Msg
			a.out.violations(a.server(op), []protocol.Violation{found})
		}
		return true
	}
	a.out.c.Exchanges = append(a.out.c.Exchanges, record.Exchange(a.file.run.start, x, ""))
	return false
}

func stepName(op *plan.Op, i int) string {
	if i < 0 {
		return "conversation"
	}
	return fmt.Sprintf("step %d (%s)", i+1, cmp.Or(op.Name, callName(op)))
}

// call makes one call and observes it. It returns false if there is no response,
// which ends the case.
func (a *attempt) call(ctx context.Context, op *plan.Op, i int) (*mcp.Exchange, bool) {
	a.dropObservation()
	a.out.c.Silent = op.Notification
	s := a.server(op)
	if op.Until != nil && op.Timeout == 0 {
		var cancel context.CancelFunc
		ctx, cancel = mcp.WithLimit(ctx, "timeout", a.c.Timeout)
		defer cancel()
	}
	if op.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = mcp.WithLimit(ctx, "timeout of the step", op.Timeout)
		defer cancel()
	}
	sess := a.sessions[s]
	if a.mustNotCall(sess, s, op) {
		return nil, false
	}
	mark := sess.Mark()
	a.watch.Answered(false)
	x := a.send(ctx, sess, s, op)
	if i == 0 && !a.file.file.Serial && endedBefore(x) && a.reopen(ctx, s) {
		sess = a.sessions[s]
		mark = sess.Mark()
		x = a.send(ctx, sess, s, op)
	}
	a.watch.Answered(true)
	a.out.c.DurationMS += ms(x.Elapsed)
	a.out.violations(s, x.Violations)
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
	for _, hop := range x.Hops {
		a.out.c.Exchanges = append(a.out.c.Exchanges, record.Exchange(a.file.run.start, hop, step))
	}
	a.out.c.Exchanges = append(a.out.c.Exchanges, record.Exchange(a.file.run.start, x, step, waited...))
	if run := a.file.run; !run.opts.Damaged && !run.shadow {
		run.results.examine(ctx, s, a.c, op, x)
	}
	if ok {
		a.free = a.file.run.trees.Acquire(treeBytes(x, waited))
		a.late = &late.Call{
			Session: sess, Since: mark, Ended: x.Start.Add(x.Elapsed), Waits: op.Wait != nil,
			Seen: slices.Concat(x.During, waited), Observe: observeMessages,
		}
		a.observe(ctx, s, sess, op, x, waited)
	}
	return x, ok
}

// dropObservation drops the observation of the last call.
func (a *attempt) dropObservation() {
	a.obs = target.Observation{}
	if a.free != nil {
		a.free()
		a.free = nil
	}
}

// endedBefore reports whether a server exited by itself before it read the request.
// Its exit then does not fail this case, except in a serial file, where the effects
// of the fixtures on the process are lost.
func endedBefore(x *mcp.Exchange) bool {
	var closed *wire.ClosedError
	return x.Unread && errors.As(x.Cause, &closed) && !closed.Ours
}

// mustNotCall fails a test of a tool that a client must ignore.
func (a *attempt) mustNotCall(sess *mcp.Session, s *pool.Server, op *plan.Op) bool {
	if op.Method != "tools/call" || sess.Era() != protocol.EraStateless || sess.Stderr() != nil {
		return false
	}
	why := s.Tools().Unusable(op.Subject)
	if why != "" {
		a.out.fail(result.Fail, fmt.Sprintf("tool %s was not called: a client must drop it: %s", op.Subject, why))
	}
	return why != ""
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
	script := a.script
	if op.Respond != nil { // the step's answers come before the case's
		script = respond.New(op.Respond, a.c.Respond, op.Server.Respond)
	}
	if script == nil && !op.Server.Client.Declares.IsAbsent() {
		script = respond.Empty()
	}
	if script != nil {
		if !op.Server.Client.Declares.IsAbsent() {
			script.Claims()
		}
		a.scripts = append(a.scripts, script)
		call.Answer = script.Answer
	}
	return sess.Do(ctx, call)
}

// usesProgress reports whether the server should report progress on a call: if the
// case examines progress or all notifications, or waits for a progress
// notification.
func usesProgress(c *plan.Case, op *plan.Op) bool {
	if !c.Exclusive {
		return false
	}
	if c.SameAs.Compares("notifications") {
		return true
	}
	uses := c.Tree.Uses()
	if op.Tree != nil {
		uses |= op.Tree.Uses()
	}
	for _, cp := range op.Capture {
		uses |= cp.Target.Uses()
	}
	return uses.Progress() || op.Wait != nil && op.Wait.Notification == "notifications/progress"
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
			a.out.fail(result.Skip, interruptedReason)
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

// checkAnswered sets the status of the case if there is no response, and reports whether
// to continue.
func (a *attempt) checkAnswered(ctx context.Context, op *plan.Op, x *mcp.Exchange) bool {
	if x.Cause == nil {
		return true
	}
	if fixture.Stopping(ctx) {
		a.out.fail(result.Skip, interruptedReason)
		return false
	}
	if cancelled, ok := errors.AsType[*mcp.CancelledError](x.Cause); ok && op.CancelAfter > 0 && cancelled.Cause == nil {
		a.out.c.Silent = true
		return true // the suite cancels it; the observation has neither result nor error
	}
	if refused, ok := errors.AsType[*wire.HTTPError](x.Cause); ok && examinesHTTP(a.c, op) {
		x.HTTP = refused.Info
		return true
	}
	tree := a.c.Tree
	if a.c.Flow {
		tree = op.Tree
	}
	if op.Raw != nil && silenceAllowed(op, tree, x) {
		a.out.c.Silent = true
		return true
	}
	a.setUnanswered(x, a.sessions[a.server(op)])
	return false
}

// examinesHTTP reports whether an assertion examines the status or the headers of a call:
// then a refusal by HTTP is a response.
func examinesHTTP(c *plan.Case, op *plan.Op) bool {
	tree := c.Tree
	if c.Flow {
		tree = op.Tree
	}
	return tree != nil && tree.Uses().HTTP()
}

// setUnanswered sets the status of a case with a request that got no response.
func (a *attempt) setUnanswered(x *mcp.Exchange, sess *mcp.Session) {
	msg := x.Cause.Error()
	var input *mcp.InputError
	protocol, broken := errors.AsType[*wire.ProtocolError](x.Cause)
	switch {
	case errors.As(x.Cause, &input):
		a.out.fail(result.Fail, input.Error())
		return
	case broken:
		a.out.fail(result.Fail, protocol.Error())
		return
	case errors.As(x.Cause, new(*mcp.TooManyValuesError)):
		a.out.fail(result.Fail, msg)
		return
	}
	if x.Unread {
		msg += " before it read the request"
	}
	if timeout, ok := errors.AsType[*mcp.TimeoutError](x.Cause); ok {
		msg += a.watch.Open(timeout.At)
		if sess != nil { // a probe opens its own sessions
			msg += sess.Facts().Meanwhile(timeout.At)
		}
	}
	if sess != nil {
		msg += sess.AlsoOf(x)
	}
	a.out.fail(result.Error, msg)
	if closed, ok := errors.AsType[*wire.ClosedError](x.Cause); ok {
		a.out.c.Stderr = strings.Join(closed.Stderr, "\n")
		if closed.LastLine != "" {
			a.out.warn("last line of the server's output: " + closed.LastLine)
		}
	}
}

// silenceAllowed reports whether raw bytes without a response are valid: if they
// contain no request, or the test expects the missing response.
func silenceAllowed(op *plan.Op, tree *expect.Tree, x *mcp.Exchange) bool {
	asks := protocol.Asks(op.Raw)
	switch {
	case errors.As(x.Cause, new(*wire.HTTPError)):
		return asks == protocol.AsksNothing || tree != nil && tree.Uses().HTTP()
	case errors.As(x.Cause, new(*mcp.TimeoutError)):
		return asks == protocol.AsksNothing || asks == protocol.AsksUnclearly && tree != nil && tree.WantsNoResult()
	}
	return false
}
