package guard

import (
	"context"
	"errors"
	"slices"

	"mcptest/internal/base/display"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
)

// manyMessages is how many notifications during one call count as a flood.
const manyMessages = 1000

// checkConduct reports faults of the adapter outside its answers, and restarts it after it
// died.
func (a *caller) checkConduct(r Reply, x *mcp.Exchange) {
	a.rows.Count("conduct")
	if r.rpc != nil && r.rpc.Code != protocol.CodeInvalidParams {
		a.rows.Fail("envelopes.rpc", r,
			"the response is a JSON-RPC error instead of a result: %s", display.Truncate(r.rpc.Message, 120))
	}
	for _, v := range append(x.Violations, a.Session.TakeViolations()...) {
		a.rows.Fail("conduct.wire", r, "%s: %s", v.Kind, v.Msg)
	}
	isRequest := func(m mcp.Message) bool {
		return m.Kind == mcp.KindRequest && m.Method != "ping"
	}
	if slices.ContainsFunc(x.During, isRequest) {
		a.rows.Fail("conduct.asks", r, "the adapter sends a request for which the client declared no capability")
	}
	if n := len(x.During) + x.Dropped; n > manyMessages {
		a.rows.Fail("conduct.flood", r, "%d messages during one call", n)
	}
	a.countTimeouts(r)
	if !a.Session.IsAlive() {
		a.gate.Poison[r.operation()] = "the adapter ended when it was called"
		a.restart(r)
	}
}

// countTimeouts gives up an operation, and finally the adapter, that does not respond.
func (a *caller) countTimeouts(r Reply) {
	_, isTimeout := errors.AsType[*mcp.TimeoutError](r.Cause)
	switch {
	case isTimeout && a.Ctx.Err() == nil:
		name := r.operation()
		a.rows.Fail("conduct.answers", r, "no response within %s", a.options.CallTimeout)
		a.silent[name]++
		if a.silent[name] >= maxSilent {
			a.gate.Poison[name] = "it did not respond"
		}
		a.timeouts++
		if a.timeouts >= maxTimeouts {
			a.Dead = "too many calls got no response"
		}
	case r.Cause == nil:
		a.timeouts = 0
	}
}

// restart restarts a dead adapter, once.
func (a *caller) restart(r Reply) {
	a.rows.Fail("conduct.lives", r, "%s", display.Truncate(a.Session.Err().Error(), 200))
	a.Session.Close(context.WithoutCancel(a.Ctx))
	a.Restarts++
	if a.Restarts > 1 {
		a.Dead = "the adapter died twice"
		return
	}
	s, err := a.Tape.Dial(context.WithoutCancel(a.Ctx), "")
	if err != nil || s == nil {
		a.Dead = "the adapter died and could not be started again"
		return
	}
	a.Session = s
	a.verify()
}

// An adapter is abandoned after this many consecutive calls without an answer, and an
// operation after fewer, because a run must end.
const (
	maxTimeouts = 4
	maxSilent   = 2
)
