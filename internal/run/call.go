package run

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"mcptest/internal/expect"
	"mcptest/internal/jsonv"
	"mcptest/internal/mcp"
	"mcptest/internal/plan"
	"mcptest/internal/proc"
	"mcptest/internal/result"
)

// attempt is one execution of a case.
type attempt struct {
	*fileRun
	c      *plan.Case
	out    *result.Case
	lease  *lease
	script *script

	steps    jsonv.Value // captured values of a flow
	sessions map[*entry]*mcp.Session
	marks    map[*mcp.Session]proc.Mark
	obs      expect.Observation // of the last call
	problems []string           // violations and the like that fail the case
}

// calls opens the sessions, makes the calls, and judges what came back.
func (a *attempt) calls(ctx context.Context) {
	if !a.open(ctx) {
		return
	}
	a.ops(ctx)
	a.settle()
}

// open gets the session of every server of the case before the case's time
// begins to run.
func (a *attempt) open(ctx context.Context) bool {
	if a.sessions == nil {
		a.sessions = map[*entry]*mcp.Session{}
		a.marks = map[*mcp.Session]proc.Mark{}
	}
	for _, e := range a.lease.entries {
		s := a.slot(e)
		sess, err := s.session(ctx)
		if err != nil && givenUp(ctx) {
			a.fail(result.Skip, interruptedReason)
			return false
		}
		if err != nil {
			a.fail(result.Error, fmt.Sprintf("server %q: %v", e.def.Name, err))
			if waitedInVain(err) {
				a.late.Store(a.out.Index, true)
			}
			var oe *mcp.OpenError
			if errors.As(err, &oe) {
				a.out.Stderr = strings.Join(oe.StderrTail, "\n")
				a.noise(oe)
			}
			var closed *mcp.ClosedError
			if errors.As(err, &closed) && a.out.Stderr == "" {
				a.out.Stderr = strings.Join(closed.Stderr, "\n")
			}
			return false
		}
		a.out.AfterRestart = a.out.AfterRestart || s.wasRestarted()
		a.sessions[e] = sess
		if t := sess.Stderr(); t != nil {
			a.marks[sess] = t.Mark()
		}
		if a.c.Alone {
			// What came before is not this case's.
			for _, f := range e.violations(sess) {
				a.finding(f)
			}
		}
	}
	return true
}

// noise lists what a server that never came up wrote to its standard output:
// often that says why (a question of a package manager, a banner).
func (a *attempt) noise(oe *mcp.OpenError) {
	for i, v := range oe.Violations {
		if i == 3 {
			break
		}
		a.out.Violations = append(a.out.Violations, result.Violation{Kind: v.Kind, Message: v.Msg, Excerpt: v.Excerpt, Offset: v.Offset, Tolerated: v.Tolerated})
	}
	if len(oe.Violations) > 0 && oe.Violations[0].Excerpt != "" {
		a.out.Message += "; before that it wrote " + oe.Violations[0].Excerpt
	}
}

// slot is the session the case uses: in a file with brackets always the first,
// which is the one that fixtures call.
func (a *attempt) slot(e *entry) *slot {
	if a.file.Serial {
		return e.slots[0]
	}
	return e.pick()
}

func (s *slot) wasRestarted() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.restarted
}

// ops makes the case's calls one after another and judges them. The case's
// time limit covers all of them together.
func (a *attempt) ops(ctx context.Context) {
	ctx, cancel := mcp.WithLimit(ctx, "timeout", a.c.Timeout)
	defer cancel()
	if a.c.LogLevel != "" && !a.setLogLevel(ctx) {
		return
	}
	a.steps = jsonv.Object()
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
		if a.c.Flow && !a.judgeStep(ctx, op, i, x) {
			return
		}
		if last {
			a.judge(ctx)
		}
	}
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
	e := a.fileRun.entryOf(a.c, op)
	sess := a.sessions[e]
	if op.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = mcp.WithLimit(ctx, "timeout of the step", op.Timeout)
		defer cancel()
	}
	mark := sess.Mark()
	x := a.send(ctx, sess, e, op)
	a.elapsed(x.Elapsed)
	step := ""
	if a.c.Flow {
		step = stepName(op, i)
	}
	a.violations(e, x.Violations)
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
		a.observe(ctx, e, sess, op, x, waited)
	}
	return x, ok
}

// send puts the op on the wire.
func (a *attempt) send(ctx context.Context, sess *mcp.Session, e *entry, op *plan.Op) *mcp.Exchange {
	if a.c.Exclusive || sess.Era() == mcp.EraRequests && sess.Stderr() == nil {
		e.tools.wait(ctx) // nothing else may be in flight, and arguments that are headers must be known
	}
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

// usesProgress reports whether the case looks at progress.
func (a *attempt) usesProgress(op *plan.Op) bool {
	return a.c.Exclusive && (a.c.Tree.Uses().Progress || op.Tree != nil && op.Tree.Uses().Progress)
}

// answered turns a missing answer into the case's verdict.
func (a *attempt) answered(ctx context.Context, op *plan.Op, x *mcp.Exchange) bool {
	if x.Cause == nil {
		return true
	}
	if givenUp(ctx) {
		a.fail(result.Skip, interruptedReason)
		return false
	}
	var cancelled *mcp.CancelledError
	if errors.As(x.Cause, &cancelled) && op.CancelAfter > 0 && cancelled.Cause == nil {
		return true // the suite asked for it; the observation has neither result nor error
	}
	if op.Raw != nil && (errors.As(x.Cause, new(*mcp.TimeoutError)) || errors.As(x.Cause, new(*mcp.HTTPError))) {
		return true // silence, or a status, is an answer to raw bytes
	}
	var unanswered *mcp.InputError
	if errors.As(x.Cause, &unanswered) {
		a.fail(result.Fail, unanswered.Error())
		return false
	}
	var pe *mcp.ProtocolError
	if errors.As(x.Cause, &pe) {
		a.fail(result.Fail, pe.Error())
		return false
	}
	a.fail(result.Error, x.Cause.Error())
	var closed *mcp.ClosedError
	if errors.As(x.Cause, &closed) {
		a.out.Stderr = strings.Join(closed.Stderr, "\n")
		if closed.LastLine != "" {
			a.out.Warnings = append(a.out.Warnings, "last line of the server's output: "+closed.LastLine)
		}
	}
	return false
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

// violations fail the case, but for those the server is allowed.
func (a *attempt) violations(e *entry, list []mcp.Violation) {
	for _, v := range list {
		tolerated := v.Tolerated || e.def.Tolerate[v.Kind]
		a.out.Violations = append(a.out.Violations, result.Violation{
			Kind: v.Kind, Message: v.Msg, Excerpt: v.Excerpt, Offset: v.Offset, Tolerated: tolerated,
		})
		if tolerated {
			a.out.Warnings = append(a.out.Warnings, "tolerated: "+v.Kind+": "+v.Msg)
			continue
		}
		a.problems = append(a.problems, v.Kind+": "+v.Msg)
	}
}

// fail sets the verdict unless a worse one stands.
func (a *attempt) fail(status result.Status, msg string) {
	if a.out.Status == result.Error || a.out.Status == result.Skip {
		return
	}
	if a.out.Status == "" || status == result.Error || status == result.Skip {
		a.out.Status, a.out.Message = status, oneLine(msg)
	}
}

// settle ends the case: violations that belong to nobody else, what the
// server wrote on stderr, and a pass where nothing spoke against it.
func (a *attempt) settle() {
	for _, e := range a.lease.entries {
		sess := a.sessions[e]
		if sess == nil {
			continue
		}
		if a.c.Alone {
			a.violations(e, sess.TakeViolations())
		} else {
			for _, f := range e.violations(sess) {
				a.finding(f)
			}
		}
	}
	if len(a.problems) > 0 && a.out.Status != result.Skip {
		msg := "protocol violation: " + a.problems[0]
		if n := len(a.problems) - 1; n > 0 {
			msg += fmt.Sprintf(" (and %d more)", n)
		}
		if a.out.Status == result.Pass || a.out.Status == "" {
			a.out.Status, a.out.Message = result.Fail, oneLine(msg)
		}
	}
	if a.out.Status == "" {
		a.out.Status = result.Pass
	}
	if a.out.Status != result.Pass && a.out.Stderr == "" {
		a.out.Stderr = a.stderr()
	}
}

// stderr is what the case's servers wrote there since it began.
func (a *attempt) stderr() string {
	var b strings.Builder
	for _, e := range a.lease.entries {
		if sess := a.sessions[e]; sess != nil && sess.Stderr() != nil {
			b.WriteString(sess.Stderr().Since(a.marks[sess]))
		}
	}
	return lastLines(b.String(), 20)
}

func lastLines(s string, n int) string {
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	if len(lines) > n {
		lines = lines[len(lines)-n:]
	}
	return strings.Join(lines, "\n")
}

func oneLine(s string) string {
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		return strings.TrimSpace(s[:i])
	}
	return s
}
