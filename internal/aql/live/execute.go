package live

import (
	"fmt"
	"slices"

	"mcptest/internal/aql/evidence"
	"mcptest/internal/display"
	"mcptest/internal/jsonv"
)

// The rows about executions: their state, their end, their abort, and what a
// step is answered (D 8.4, 8.6, 8.7).

// executions follows what EXECUTE operations start, where the mode calls
// them.
func (c *collector) executions() {
	reader, abort := c.stateReader(), c.aborter()
	c.whyNoExecutions(reader, abort)
	for _, op := range c.ops {
		base, done := c.base[op.name]
		if !op.starts() || !done || !base.ok() {
			continue
		}
		c.sees("execute")
		c.checkState(op, op.name, base)
		if reader == nil || base.data().Lookup(executionKey).Kind() != jsonv.KindString {
			continue
		}
		c.followOne(op, reader, abort)
		if cancel := op.detail.Lookup("lifecycle", "supports_cancel"); abort != nil && c.skipped[abort.name] == "" && (cancel.IsAbsent() || cancel.Bool()) {
			c.abortOne(op, reader, abort)
		}
	}
	c.steps()
}

// whyNoExecutions says why the rows have no cases, as long as they have none.
func (c *collector) whyNoExecutions(reader, abort *liveOp) {
	state, end, aborts := c.tests["execute"], c.tests["execution-end"], c.tests["execution-abort"]
	calls := fmt.Sprintf("mode %s does not call EXECUTE operations", c.o.Mode)
	if c.o.Mode == ModeFull {
		calls = "no execution could be started"
	}
	state.lacking, end.lacking, aborts.lacking = calls, calls, calls
	starters := slices.ContainsFunc(c.ops, func(op *liveOp) bool { return op.starts() })
	switch {
	case !starters:
		state.moot = "there is no EXECUTE operation that starts anything"
		end.moot, aborts.moot = state.moot, state.moot
	case reader == nil:
		end.moot = "no READ operation takes only the execution_id and answers its state"
		aborts.moot = end.moot
	case abort == nil:
		aborts.moot = "no EXECUTE operation aborts an execution"
	}
}

// checkState holds a state against D 8.4.3: an identifier, and a status that
// is one of the core states or documented under lifecycle.states.
func (c *collector) checkState(starter *liveOp, who string, r reply) {
	state := r.data()
	status := state.Lookup("status")
	switch {
	case state.Lookup(executionKey).Kind() != jsonv.KindString || status.Kind() != jsonv.KindString:
		c.breaks("execute.state", r, "%s answers without execution_id and status", who)
	case slices.Contains(coreStates, status.Text()):
	case !slices.ContainsFunc(slices.Collect(evidence.Elements(starter.detail.Lookup("lifecycle", "states"))), func(v jsonv.Value) bool { return v.Text() == status.Text() }):
		c.breaks("execute.status", r, "%s answers the status %s, which is no core state and not under lifecycle.states of %s", who, evidence.Quoted(display.Truncate(status.Text(), 40)), starter.name)
	}
}

// followOne follows an execution to its end, and sees that the end is one.
func (c *collector) followOne(op, reader, abort *liveOp) {
	x, _ := c.start(op)
	if x == nil {
		return
	}
	var last reply
	ended := c.follow(reader, x, func(_ string, r reply) {
		last = r
		if r.ok() {
			c.checkState(op, reader.name, r)
		}
	})
	t := c.tests["execution-end"]
	switch {
	case last.heard() && !last.ok():
		c.sees("execution-end")
		c.breaks("execution-end.readable", last, "%s does not answer the state of what %s started: %s", reader.name, op.name, last.brief())
		return
	case ended == "":
		t.lacking = fmt.Sprintf("what %s started was still %s after %s", op.name, evidence.Quoted(display.Truncate(x.status, 40)), c.o.Follow)
		return
	}
	c.sees("execution-end")
	retries := ended == "failed" && op.detail.Lookup("lifecycle", "supports_retry").Bool()
	stays := func(after string) {
		if now, r := c.look(reader, x); r.ok() && now != ended && !retries {
			c.breaks("execution-end.final", r, "an execution of %s was %s, and is %s%s", op.name, ended, evidence.Quoted(display.Truncate(now, 40)), after)
		}
	}
	stays(" afterwards")
	stays(" afterwards")
	for _, further := range []*liveOp{c.op(stepOperation), abort} {
		if further == nil || c.skipped[further.name] != "" || further.executionParam() == nil {
			continue
		}
		r := c.attempt(further, c.only(further, x))
		if !r.heard() {
			continue
		}
		if r.ok() {
			c.breaks("execution-end.closed", r, "%s is accepted for an execution that was %s", further.name, ended)
		} else {
			c.failed(further.name+" of an execution that ended", r)
		}
		stays(" after " + further.name)
	}
}

// abortOne aborts an execution that goes on.
func (c *collector) abortOne(op, reader, abort *liveOp) {
	t := c.tests["execution-abort"]
	x, begun := c.start(op)
	if x == nil {
		return
	}
	if x.over {
		t.lacking = fmt.Sprintf("what %s starts ended before it could be aborted", op.name)
		return
	}
	r := c.attempt(abort, c.only(abort, x))
	if !r.heard() {
		return
	}
	if !r.ok() {
		if status, now := c.look(reader, x); now.ok() && slices.Contains(terminalStates, status) {
			t.lacking = fmt.Sprintf("what %s started ended before it was aborted", op.name)
			return
		}
		c.sees("execution-abort")
		c.breaks("execution-abort.accepted", r, "%s refuses to end an execution that is %s: %s", abort.name, evidence.Quoted(display.Truncate(begun.data().Lookup("status").Text(), 40)), r.brief())
		return
	}
	c.sees("execution-abort")
	last := r
	ended := c.follow(reader, x, func(_ string, r reply) { last = r })
	switch {
	case !last.ok():
	case ended == "":
		c.breaks("execution-abort.ends", last, "%s succeeds, and the execution of %s is still %s", abort.name, op.name, evidence.Quoted(display.Truncate(x.status, 40)))
	case ended != cancelled:
		c.breaks("execution-abort.ends", last, "%s succeeds, and the execution of %s goes on until it is %s", abort.name, op.name, ended)
	default:
		if now, again := c.look(reader, x); again.ok() && now != cancelled {
			c.breaks("execution-end.final", again, "an execution of %s was cancelled, and is %s afterwards", op.name, evidence.Quoted(display.Truncate(now, 40)))
		}
	}
}

// steps looks at what the safety loop answers, where it is advertised.
func (c *collector) steps() {
	t := c.tests["execution-steps"]
	flag := c.e.OperationsList.Lookup("data", "_protocol", "capabilities", "execution_safety_loop")
	if off := flag.Text() == "disabled" || flag.Text() == "none" || flag.Text() == "off"; flag.IsAbsent() || flag.Kind() == jsonv.KindNull || flag.Kind() == jsonv.KindBool && !flag.Bool() || off {
		t.moot = "_protocol.capabilities does not advertise execution_safety_loop"
		return
	}
	t.lacking = "mode " + c.o.Mode + " records no step of an execution"
	op := c.op(stepOperation)
	if op == nil {
		c.sees("execution-steps")
		c.breaks("execution-steps.listed", reply{}, "execution_safety_loop is advertised, and %s is not listed", stepOperation)
		return
	}
	base, done := c.base[op.name]
	if !done || !base.ok() {
		return
	}
	c.sees("execution-steps")
	answer := base.data()
	texts := answer.Lookup("factors").Kind() == jsonv.KindArray
	for v := range evidence.Elements(answer.Lookup("factors")) {
		texts = texts && v.Kind() == jsonv.KindString
	}
	if answer.Lookup("continue").Kind() != jsonv.KindBool || !texts {
		c.breaks("execution-steps.directive", base, "%s answers without continue (true or false) and factors (a list of texts)", op.name)
	}
}
