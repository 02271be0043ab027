package probe

import (
	"fmt"
	"slices"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/evidence"
	"mcptest/internal/mcpaql/live/catalog"
	"mcptest/internal/mcpaql/live/guard"
)

// The rows about executions: their state, their end, their abort, and the answers to
// steps (D 8.4, 8.6, 8.7).

// executionProbe tests the lifecycle of executions.
type executionProbe struct{ run *guard.Run }

// testExecutions follows the executions that EXECUTE operations start, in the modes that
// call them.
func (p executionProbe) testExecutions() {
	reader, abort := p.run.Executor.FindStateReader(), p.run.Executor.FindAborter()
	p.explainNoExecutions(reader, abort)
	for _, op := range p.run.Catalog.Operations {
		base, done := p.run.Base[op.Name]
		if !op.Starts() || !done || !base.IsOK() {
			continue
		}
		p.run.Rows.Count("execute")
		p.checkState(op, op.Name, base)
		if reader == nil || base.Data().Lookup(catalog.ExecutionKey).Kind() != jsonv.KindString {
			continue
		}
		p.followOne(op, reader, abort)
		cancel := op.Detail.Lookup("lifecycle", "supports_cancel")
		if abort != nil && p.run.Gate.Skipped[abort.Name] == "" && (cancel.IsAbsent() || cancel.Bool()) {
			p.abortOne(op, reader, abort)
		}
	}
	p.checkSteps()
}

// explainNoExecutions records why rows without cases have none.
func (p executionProbe) explainNoExecutions(reader, abort *catalog.Operation) {
	state, end, aborts := p.run.Rows.Tests["execute"], p.run.Rows.Tests["execution-end"], p.run.Rows.Tests["execution-abort"]
	calls := fmt.Sprintf("mode %s does not call EXECUTE operations", p.run.Options.Mode)
	if p.run.Options.Mode == guard.ModeFull {
		calls = "no execution could be started"
	}
	state.Incomplete, end.Incomplete, aborts.Incomplete = calls, calls, calls
	starters := slices.ContainsFunc(p.run.Catalog.Operations, func(op *catalog.Operation) bool { return op.Starts() })
	switch {
	case !starters:
		state.NotApplicable = "there is no EXECUTE operation that starts anything"
		end.NotApplicable, aborts.NotApplicable = state.NotApplicable, state.NotApplicable
	case reader == nil:
		end.NotApplicable = "no READ operation accepts only the execution_id and returns its state"
		aborts.NotApplicable = end.NotApplicable
	case abort == nil:
		aborts.NotApplicable = "no EXECUTE operation aborts an execution"
	}
}

// checkState checks a state against D 8.4.3: it needs an identifier, and a status
// that is a core state or is documented under lifecycle.states.
func (p executionProbe) checkState(starter *catalog.Operation, who string, r guard.Reply) {
	state := r.Data()
	status := state.Lookup("status")
	if state.Lookup(catalog.ExecutionKey).Kind() != jsonv.KindString || status.Kind() != jsonv.KindString {
		p.run.Rows.Fail("execute.state", r, "the response of %s lacks execution_id or status", who)
		return
	}
	documented := starter.Detail.Lookup("lifecycle", "states").Texts()
	if !slices.Contains(guard.CoreStates, status.Text()) && !slices.Contains(documented, status.Text()) {
		p.run.Rows.Fail("execute.status", r,
			"%s returns the status %s, which is neither a core state nor listed under lifecycle.states of %s",
			who, evidence.QuoteStart(status.Text(), 40), starter.Name)
	}
}

// followOne follows an execution to its end and checks that the end is final.
func (p executionProbe) followOne(op, reader, abort *catalog.Operation) {
	x, _ := p.run.Builder.Start(op)
	if x == nil {
		return
	}
	var last guard.Reply
	ended := p.run.Executor.Follow(reader, x, func(_ string, r guard.Reply) {
		last = r
		if r.IsOK() {
			p.checkState(op, reader.Name, r)
		}
	})
	if last.WasHeard() && !last.IsOK() {
		p.run.Rows.Count("execution-end")
		p.run.Rows.Fail("execution-end.readable", last,
			"%s does not return the state of the execution that %s started: %s", reader.Name, op.Name, last.FormatBrief())
		return
	}
	if ended == "" {
		p.run.Rows.Tests["execution-end"].Incomplete = fmt.Sprintf("the execution that %s started was still %s after %s",
			op.Name, evidence.QuoteStart(x.Status, 40), p.run.Options.Follow)
		return
	}
	p.run.Rows.Count("execution-end")
	retries := ended == "failed" && op.Detail.Lookup("lifecycle", "supports_retry").Bool()
	stays := func(after string) {
		if now, r := p.run.Executor.Look(reader, x); r.IsOK() && now != ended && !retries {
			p.run.Rows.Fail("execution-end.final", r,
				"an execution of %s was %s, and is %s%s", op.Name, ended, evidence.QuoteStart(now, 40), after)
		}
	}
	stays(" afterwards")
	stays(" afterwards")
	for _, further := range []*catalog.Operation{p.run.Catalog.FindOperation(catalog.StepOperation), abort} {
		if further == nil || p.run.Gate.Skipped[further.Name] != "" || further.FindExecutionParam() == nil {
			continue
		}
		r := p.run.Keeper.Attempt(further, p.run.Executor.NameExecution(further, x))
		if !r.WasHeard() {
			continue
		}
		if r.IsOK() {
			p.run.Rows.Fail("execution-end.closed", r,
				"%s is accepted for an execution that was %s", further.Name, ended)
		} else {
			p.run.AddErrorTest(further.Name+" of an execution that ended", r)
		}
		stays(" after " + further.Name)
	}
}

// abortOne aborts a running execution.
func (p executionProbe) abortOne(op, reader, abort *catalog.Operation) {
	t := p.run.Rows.Tests["execution-abort"]
	x, begun := p.run.Builder.Start(op)
	if x == nil {
		return
	}
	if x.Over {
		t.Incomplete = fmt.Sprintf("the execution that %s starts ended before it could be aborted", op.Name)
		return
	}
	r := p.run.Keeper.Attempt(abort, p.run.Executor.NameExecution(abort, x))
	if !r.WasHeard() {
		return
	}
	if !r.IsOK() {
		if status, now := p.run.Executor.Look(reader, x); now.IsOK() && slices.Contains(guard.TerminalStates, status) {
			t.Incomplete = fmt.Sprintf("the execution that %s started ended before it was aborted", op.Name)
			return
		}
		p.run.Rows.Count("execution-abort")
		status := evidence.QuoteStart(begun.Data().Lookup("status").Text(), 40)
		p.run.Rows.Fail("execution-abort.accepted", r,
			"%s refuses to end an execution that is %s: %s", abort.Name, status, r.FormatBrief())
		return
	}
	p.run.Rows.Count("execution-abort")
	last := r
	ended := p.run.Executor.Follow(reader, x, func(_ string, r guard.Reply) { last = r })
	switch {
	case !last.IsOK():
	case ended == "":
		p.run.Rows.Fail("execution-abort.ends", last,
			"%s succeeds, and the execution of %s is still %s", abort.Name, op.Name, evidence.QuoteStart(x.Status, 40))
	case ended != guard.Cancelled:
		p.run.Rows.Fail("execution-abort.ends", last,
			"%s succeeds, and the execution of %s goes on until it is %s", abort.Name, op.Name, ended)
	default:
		if now, again := p.run.Executor.Look(reader, x); again.IsOK() && now != guard.Cancelled {
			p.run.Rows.Fail("execution-end.final", again,
				"an execution of %s was cancelled, and is %s afterwards", op.Name, evidence.QuoteStart(now, 40))
		}
	}
}

// checkSteps checks the answers of the safety loop, if the adapter advertises it.
func (p executionProbe) checkSteps() {
	t := p.run.Rows.Tests["execution-steps"]
	flag := p.run.Evidence.OperationsList.Lookup("data", "_protocol", "capabilities", "execution_safety_loop")
	if !isAdvertised(flag) {
		t.NotApplicable = "_protocol.capabilities does not advertise execution_safety_loop"
		return
	}
	t.Incomplete = "mode " + p.run.Options.Mode + " records no step of an execution"
	op := p.run.Catalog.FindOperation(catalog.StepOperation)
	if op == nil {
		p.run.Rows.Count("execution-steps")
		p.run.Rows.Fail("execution-steps.listed", guard.Reply{},
			"execution_safety_loop is advertised, and %s is not listed", catalog.StepOperation)
		return
	}
	base, done := p.run.Base[op.Name]
	if !done || !base.IsOK() {
		return
	}
	p.run.Rows.Count("execution-steps")
	answer := base.Data()
	factors := answer.Lookup("factors")
	if answer.Lookup("continue").Kind() != jsonv.KindBool || !isListOfTexts(factors) {
		p.run.Rows.Fail("execution-steps.directive", base,
			"the response of %s lacks continue (true or false) or factors (a list of strings)", op.Name)
	}
}

// isAdvertised reports whether a capability is neither absent nor declared as switched off.
func isAdvertised(flag jsonv.Value) bool {
	switch flag.Kind() {
	case jsonv.KindAbsent, jsonv.KindNull:
		return false
	case jsonv.KindBool:
		return flag.Bool()
	}
	return !slices.Contains([]string{"disabled", "none", "off"}, flag.Text())
}

// isListOfTexts reports whether a value is a list of texts only.
func isListOfTexts(v jsonv.Value) bool {
	for _, e := range v.Elems() {
		if e.Kind() != jsonv.KindString {
			return false
		}
	}
	return v.Kind() == jsonv.KindArray
}
