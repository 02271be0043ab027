package line

import (
	"slices"
	"time"

	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/run/respond"
	"mcptest/internal/spec/plan"
	"mcptest/internal/spec/suite"
)

// needsList reports whether the list of tools must be complete before the case's
// calls: if no other request may be in flight, if arguments that are sent as
// headers must be known, or if the list decides whether the call is a tool call or
// a method.
func needsList(c *plan.Case, sess *mcp.Session) bool {
	return c.Exclusive || sess.Era() == protocol.EraStateless && sess.Stderr() == nil ||
		slices.ContainsFunc(c.Ops, func(op *plan.Op) bool { return op.MaybeMethod })
}

// callsTools reports whether a case calls a tool.
func callsTools(c *plan.Case) bool {
	return slices.ContainsFunc(c.Ops, func(op *plan.Op) bool { return op.Method == "tools/call" })
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

// examinesHTTP reports whether an assertion examines the status or the headers of a call:
// then a refusal by HTTP is a response.
func examinesHTTP(c *plan.Case, op *plan.Op) bool {
	tree := c.Tree
	if c.Flow {
		tree = op.Tree
	}
	return tree != nil && tree.Uses().HTTP()
}

// scriptOf returns the answers that a case gives to the requests of its server.
func scriptOf(c *plan.Case) *respond.Script {
	if c.Server == nil {
		return respond.New(c.Respond)
	}
	return respond.New(c.Respond, c.Server.Respond)
}

// findUntilLimit returns how long a call may be repeated.
func findUntilLimit(c *plan.Case, u *suite.Until) time.Duration {
	if u.Timeout != nil {
		return *u.Timeout
	}
	return c.Timeout
}

// sumUntilLimits returns what the repeated calls of a case add to its limit.
func sumUntilLimits(c *plan.Case) (sum time.Duration) {
	for _, op := range c.Ops {
		if op.Until != nil {
			sum += findUntilLimit(c, op.Until)
		}
	}
	return sum
}
