package guard

import (
	"slices"
	"strings"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/live/catalog"
)

// Executions are work that continues after the call that started it (D 8.4). A run
// names only executions that it started itself.

// Cancelled is the state of an execution that was aborted.
const Cancelled = "cancelled"

// executor follows executions and ends them.
type executor struct {
	values
	keeper *keeper
}

// FindStateReader returns the operation that reports the state of an execution.
func (ex *executor) FindStateReader() *catalog.Operation {
	return ex.Catalog.FindFirst(func(op *catalog.Operation) bool {
		id := op.FindExecutionParam()
		if op.Category != "READ" || id == nil || ex.Gate.ExplainBarred(op) != "" {
			return false
		}
		needsMore := slices.ContainsFunc(op.Params, func(p catalog.Parameter) bool {
			return p.Required && p.Name != id.Name
		})
		return !needsMore
	})
}

// FindAborter returns the operation that ends an execution.
func (ex *executor) FindAborter() *catalog.Operation {
	named := func(verb string) *catalog.Operation {
		return ex.Catalog.FindFirst(func(op *catalog.Operation) bool {
			return op.Category == "EXECUTE" && op.Verb == verb && op.FindExecutionParam() != nil
		})
	}
	if abort := named("abort"); abort != nil {
		return abort
	}
	return named("cancel")
}

// Look requests the state of an execution.
func (ex *executor) Look(reader *catalog.Operation, x *execution) (string, Reply) {
	r := ex.Caller.Call(reader, jsonv.ObjectOf(reader.FindExecutionParam().Name, x.id))
	if !r.IsOK() {
		return "", r
	}
	return r.Data().Lookup("status").Text(), r
}

// Limits on following an execution: it is polled at least a few times, and then until
// the time is over.
const (
	minLooks  = 8
	maxLooks  = 60
	firstWait = 20 * time.Millisecond
	lastWait  = time.Second
)

// Follow polls an execution until it ended, and returns its final state, or "" if it
// was still running each time.
func (ex *executor) Follow(reader *catalog.Operation, x *execution, seen func(status string, r Reply)) string {
	end, wait := ex.Caller.Tape.Now().Add(ex.Options.Follow), firstWait
	for n := range maxLooks {
		status, r := ex.Look(reader, x)
		if !r.WasHeard() {
			return ""
		}
		seen(status, r)
		if slices.Contains(TerminalStates, status) {
			return status
		}
		if !r.IsOK() {
			return ""
		}
		if n+1 >= minLooks && ex.Caller.Tape.Now().After(end) {
			return ""
		}
		if !ex.Caller.Tape.Pause(ex.Caller.Ctx, wait) {
			return ""
		}
		wait = min(2*wait, lastWait)
	}
	return ""
}

// endExecutions ends the executions that this run started and that are still running,
// and reports those that it cannot end.
func (ex *executor) endExecutions() {
	reader, abort := ex.FindStateReader(), ex.FindAborter()
	for _, x := range ex.Ledger.executions {
		if x.Over {
			continue
		}
		reason := "it may still be running, and no operation that may be called aborts it"
		if reader != nil {
			if status, _ := ex.Look(reader, x); slices.Contains(TerminalStates, status) {
				continue
			}
		}
		if abort != nil && ex.Gate.ExplainBarred(abort) == "" {
			r := ex.keeper.Attempt(abort, ex.NameExecution(abort, x))
			if r.IsOK() || strings.HasPrefix(r.Code(), "NOT_FOUND") || strings.HasPrefix(r.Code(), "CONFLICT") {
				continue
			}
			reason = "it could not be aborted: " + r.FormatBrief()
		}
		ex.Ledger.leave(x.starts, "id", x.id, reason)
	}
	ex.Ledger.executions = nil
}

// NameExecution returns an operation's required parameters for the given execution.
func (ex *executor) NameExecution(op *catalog.Operation, x *execution) jsonv.Value {
	return ex.Maker.Complete(op, jsonv.ObjectOf(op.FindExecutionParam().Name, x.id))
}
