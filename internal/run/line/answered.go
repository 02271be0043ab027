package line

import (
	"context"
	"errors"
	"strings"

	"mcptest/internal/assert/expect"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/client/wire"
	"mcptest/internal/report/result"
	"mcptest/internal/run/fixture"
	"mcptest/internal/spec/plan"
)

// checkAnswered sets the status of the case if there is no response, and reports whether
// to continue.
func (a *attempt) checkAnswered(ctx context.Context, op *plan.Op, x *mcp.Exchange) bool {
	if x.Cause == nil {
		return true
	}
	if fixture.Stopping(ctx) {
		a.out.fail(result.Skip, Interrupted)
		return false
	}
	cancelled, isCancelled := errors.AsType[*mcp.CancelledError](x.Cause)
	if isCancelled && op.CancelAfter > 0 && cancelled.Cause == nil {
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
	if op.Raw != nil && allowsSilence(op, tree, x) {
		a.out.c.Silent = true
		return true
	}
	a.setUnanswered(x, a.sessions.of[a.findServer(op)])
	return false
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
		msg += sess.FindOtherCall(x)
	}
	a.out.fail(result.Error, msg)
	if closed, ok := errors.AsType[*wire.ClosedError](x.Cause); ok {
		a.out.c.Stderr = strings.Join(closed.Stderr, "\n")
		if closed.LastLine != "" {
			a.out.warn("last line of the server's output: " + closed.LastLine)
		}
	}
}

// allowsSilence reports whether raw bytes without a response are valid: if they
// contain no request, or the test expects the missing response.
func allowsSilence(op *plan.Op, tree *expect.Tree, x *mcp.Exchange) bool {
	asks := protocol.Asks(op.Raw)
	switch {
	case errors.As(x.Cause, new(*wire.HTTPError)):
		return asks == protocol.AsksNothing || tree != nil && tree.Uses().HTTP()
	case errors.As(x.Cause, new(*mcp.TimeoutError)):
		return asks == protocol.AsksNothing || asks == protocol.AsksUnclearly && tree != nil && tree.WantsNoResult()
	}
	return false
}
