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
func (p executionProbe) executions() {
	reader, abort := p.run.executor.stateReader(), p.run.executor.aborter()
	p.whyNoExecutions(reader, abort)
	for _, op := range p.run.catalog.ops {
		base, done := p.run.base[op.name]
		if !op.starts() || !done || !base.ok() {
			continue
		}
		p.run.rows.sees("execute")
		p.checkState(op, op.name, base)
		if reader == nil || base.data().Lookup(executionKey).Kind() != jsonv.KindString {
			continue
		}
		p.followOne(op, reader, abort)
		if cancel := op.detail.Lookup("lifecycle", "supports_cancel"); abort != nil && p.run.skipped[abort.name] == "" && (cancel.IsAbsent() || cancel.Bool()) {
			p.abortOne(op, reader, abort)
		}
	}
	p.steps()
}

// whyNoExecutions says why the rows have no cases, as long as they have none.
func (p executionProbe) whyNoExecutions(reader, abort *liveOp) {
	state, end, aborts := p.run.rows.tests["execute"], p.run.rows.tests["execution-end"], p.run.rows.tests["execution-abort"]
	calls := fmt.Sprintf("mode %s does not call EXECUTE operations", p.run.o.Mode)
	if p.run.o.Mode == ModeFull {
		calls = "no execution could be started"
	}
	state.lacking, end.lacking, aborts.lacking = calls, calls, calls
	starters := slices.ContainsFunc(p.run.catalog.ops, func(op *liveOp) bool { return op.starts() })
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
func (p executionProbe) checkState(starter *liveOp, who string, r reply) {
	state := r.data()
	status := state.Lookup("status")
	switch {
	case state.Lookup(executionKey).Kind() != jsonv.KindString || status.Kind() != jsonv.KindString:
		p.run.rows.breaks("execute.state", r, "%s answers without execution_id and status", who)
	case slices.Contains(coreStates, status.Text()):
	case !slices.ContainsFunc(slices.Collect(evidence.Elements(starter.detail.Lookup("lifecycle", "states"))), func(v jsonv.Value) bool { return v.Text() == status.Text() }):
		p.run.rows.breaks("execute.status", r, "%s answers the status %s, which is no core state and not under lifecycle.states of %s", who, evidence.Quoted(display.Truncate(status.Text(), 40)), starter.name)
	}
}

// followOne follows an execution to its end, and sees that the end is one.
func (p executionProbe) followOne(op, reader, abort *liveOp) {
	x, _ := p.run.executor.start(op)
	if x == nil {
		return
	}
	var last reply
	ended := p.run.executor.follow(reader, x, func(_ string, r reply) {
		last = r
		if r.ok() {
			p.checkState(op, reader.name, r)
		}
	})
	t := p.run.rows.tests["execution-end"]
	switch {
	case last.heard() && !last.ok():
		p.run.rows.sees("execution-end")
		p.run.rows.breaks("execution-end.readable", last, "%s does not answer the state of what %s started: %s", reader.name, op.name, last.brief())
		return
	case ended == "":
		t.lacking = fmt.Sprintf("what %s started was still %s after %s", op.name, evidence.Quoted(display.Truncate(x.status, 40)), p.run.o.Follow)
		return
	}
	p.run.rows.sees("execution-end")
	retries := ended == "failed" && op.detail.Lookup("lifecycle", "supports_retry").Bool()
	stays := func(after string) {
		if now, r := p.run.executor.look(reader, x); r.ok() && now != ended && !retries {
			p.run.rows.breaks("execution-end.final", r, "an execution of %s was %s, and is %s%s", op.name, ended, evidence.Quoted(display.Truncate(now, 40)), after)
		}
	}
	stays(" afterwards")
	stays(" afterwards")
	for _, further := range []*liveOp{p.run.catalog.op(stepOperation), abort} {
		if further == nil || p.run.skipped[further.name] != "" || further.executionParam() == nil {
			continue
		}
		r := p.run.keeper.attempt(further, p.run.executor.only(further, x))
		if !r.heard() {
			continue
		}
		if r.ok() {
			p.run.rows.breaks("execution-end.closed", r, "%s is accepted for an execution that was %s", further.name, ended)
		} else {
			p.run.failed(further.name+" of an execution that ended", r)
		}
		stays(" after " + further.name)
	}
}

// abortOne aborts an execution that goes on.
func (p executionProbe) abortOne(op, reader, abort *liveOp) {
	t := p.run.rows.tests["execution-abort"]
	x, begun := p.run.executor.start(op)
	if x == nil {
		return
	}
	if x.over {
		t.lacking = fmt.Sprintf("what %s starts ended before it could be aborted", op.name)
		return
	}
	r := p.run.keeper.attempt(abort, p.run.executor.only(abort, x))
	if !r.heard() {
		return
	}
	if !r.ok() {
		if status, now := p.run.executor.look(reader, x); now.ok() && slices.Contains(terminalStates, status) {
			t.lacking = fmt.Sprintf("what %s started ended before it was aborted", op.name)
			return
		}
		p.run.rows.sees("execution-abort")
		p.run.rows.breaks("execution-abort.accepted", r, "%s refuses to end an execution that is %s: %s", abort.name, evidence.Quoted(display.Truncate(begun.data().Lookup("status").Text(), 40)), r.brief())
		return
	}
	p.run.rows.sees("execution-abort")
	last := r
	ended := p.run.executor.follow(reader, x, func(_ string, r reply) { last = r })
	switch {
	case !last.ok():
	case ended == "":
		p.run.rows.breaks("execution-abort.ends", last, "%s succeeds, and the execution of %s is still %s", abort.name, op.name, evidence.Quoted(display.Truncate(x.status, 40)))
	case ended != cancelled:
		p.run.rows.breaks("execution-abort.ends", last, "%s succeeds, and the execution of %s goes on until it is %s", abort.name, op.name, ended)
	default:
		if now, again := p.run.executor.look(reader, x); again.ok() && now != cancelled {
			p.run.rows.breaks("execution-end.final", again, "an execution of %s was cancelled, and is %s afterwards", op.name, evidence.Quoted(display.Truncate(now, 40)))
		}
	}
}

// steps looks at what the safety loop answers, where it is advertised.
func (p executionProbe) steps() {
	t := p.run.rows.tests["execution-steps"]
	flag := p.run.e.OperationsList.Lookup("data", "_protocol", "capabilities", "execution_safety_loop")
	if off := flag.Text() == "disabled" || flag.Text() == "none" || flag.Text() == "off"; flag.IsAbsent() || flag.Kind() == jsonv.KindNull || flag.Kind() == jsonv.KindBool && !flag.Bool() || off {
		t.moot = "_protocol.capabilities does not advertise execution_safety_loop"
		return
	}
	t.lacking = "mode " + p.run.o.Mode + " records no step of an execution"
	op := p.run.catalog.op(stepOperation)
	if op == nil {
		p.run.rows.sees("execution-steps")
		p.run.rows.breaks("execution-steps.listed", reply{}, "execution_safety_loop is advertised, and %s is not listed", stepOperation)
		return
	}
	base, done := p.run.base[op.name]
	if !done || !base.ok() {
		return
	}
	p.run.rows.sees("execution-steps")
	answer := base.data()
	texts := answer.Lookup("factors").Kind() == jsonv.KindArray
	for v := range evidence.Elements(answer.Lookup("factors")) {
		texts = texts && v.Kind() == jsonv.KindString
	}
	if answer.Lookup("continue").Kind() != jsonv.KindBool || !texts {
		p.run.rows.breaks("execution-steps.directive", base, "%s answers without continue (true or false) and factors (a list of texts)", op.name)
	}
}

// executionProbe tests the lifecycle of executions.
type executionProbe struct {
	run *collector
}
