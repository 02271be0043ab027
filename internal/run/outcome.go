package run

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"mcptest/internal/mcp"
	"mcptest/internal/plan"
	"mcptest/internal/proc"
	"mcptest/internal/result"
)

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
	if op.Raw != nil && a.maySilence(op, x) {
		return true
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
	if errors.As(x.Cause, new(*mcp.ValuesError)) {
		a.fail(result.Fail, x.Cause.Error())
		return false
	}
	msg := x.Cause.Error()
	if x.Unread {
		msg += " before it read the request"
	}
	a.fail(result.Error, msg)
	var closed *mcp.ClosedError
	if errors.As(x.Cause, &closed) {
		a.out.Stderr = strings.Join(closed.Stderr, "\n")
		if closed.LastLine != "" {
			a.out.Warnings = append(a.out.Warnings, "last line of the server's output: "+closed.LastLine)
		}
	}
	return false
}

// maySilence reports whether raw bytes that got no answer may be judged all the
// same: they asked for none, or the test says what it expects in its place.
func (a *attempt) maySilence(op *plan.Op, x *mcp.Exchange) bool {
	tree := a.c.Tree
	if a.c.Flow {
		tree = op.Tree
	}
	asks := mcp.Asks(op.Raw)
	switch {
	case errors.As(x.Cause, new(*mcp.HTTPError)):
		return asks == mcp.AsksNothing || tree != nil && tree.Uses().HTTP
	case errors.As(x.Cause, new(*mcp.TimeoutError)):
		return asks == mcp.AsksNothing || asks == mcp.AsksUnclearly && tree != nil && tree.WantsNoResult()
	}
	return false
}

// violations fail the case, but for those the server is allowed.
func (a *attempt) violations(e *entry, list []mcp.Violation) {
	for _, v := range list {
		tolerated := v.Tolerated || e.def.Tolerate[v.Kind]
		a.out.Violations = append(a.out.Violations, result.Violation{
			Kind: v.Kind, Message: v.Msg, Excerpt: v.Excerpt, Offset: v.Offset, Tolerated: tolerated,
		})
		if tolerated {
			told := "tolerated: " + v.Kind + ": " + v.Msg
			if v.Excerpt != "" {
				told += ": " + v.Excerpt
			}
			a.out.Warnings = append(a.out.Warnings, told)
			continue
		}
		problem := "protocol violation: " + v.Kind + ": " + v.Msg + acceptance(v.Kind)
		if v.Kind == mcp.ServerCrashed {
			problem = v.Kind + ": " + v.Msg
		}
		a.problems = append(a.problems, problem)
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
			e.settle(sess)
			a.violations(e, sess.TakeViolations())
		} else {
			for _, f := range e.violations(sess) {
				a.finding(f)
			}
		}
	}
	if len(a.problems) > 0 && a.out.Status != result.Skip {
		msg := a.problems[0]
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
	return strings.Join(proc.Ends(b.String(), 20), "\n")
}

func oneLine(s string) string {
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		return strings.TrimSpace(s[:i])
	}
	return s
}
