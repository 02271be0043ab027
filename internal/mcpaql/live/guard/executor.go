package guard

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/live/catalog"
)

// Executions are work that continues after the call that started it (D 8.4). A run
// names only executions that it started itself.

const (
	// Cancelled is the state of an execution that was aborted.
	Cancelled = "cancelled"
)

// executor follows executions and ends them.
type executor struct {
	values
	keeper *keeper
}

// StateReader returns the operation that reports the state of an execution.
func (ex *executor) StateReader() *catalog.Operation {
	return ex.Catalog.First(func(op *catalog.Operation) bool {
		return op.Category == "READ" && op.ExecutionParam() != nil && ex.Gate.Barred(op) == "" &&
			!slices.ContainsFunc(op.Params, func(p catalog.Parameter) bool { return p.Required && p.Name != op.ExecutionParam().Name })
	})
}

// Aborter returns the operation that ends an execution.
func (ex *executor) Aborter() *catalog.Operation {
	named := func(verb string) *catalog.Operation {
		return ex.Catalog.First(func(op *catalog.Operation) bool {
			return op.Category == "EXECUTE" && op.Verb == verb && op.ExecutionParam() != nil
		})
	}
	return cmp.Or(named("abort"), named("cancel"))
}

// Look requests the state of an execution.
func (ex *executor) Look(reader *catalog.Operation, x *execution) (string, Reply) {
	r := ex.Caller.Call(reader, jsonv.ObjectOf(reader.ExecutionParam().Name, x.id))
	if !r.OK() {
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
		if !r.Heard() {
			return ""
		}
		seen(status, r)
		if slices.Contains(TerminalStates, status) {
			return status
		}
		if !r.OK() || n+1 >= minLooks && ex.Caller.Tape.Now().After(end) || !ex.Caller.Tape.Pause(ex.Caller.Ctx, wait) {
			return ""
		}
		wait = min(2*wait, lastWait)
	}
	return ""
}

// endExecutions ends the executions that this run started and that are still running,
// and reports those that it cannot end.
func (ex *executor) endExecutions() {
	reader, abort := ex.StateReader(), ex.Aborter()
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
		if abort != nil && ex.Gate.Barred(abort) == "" {
			r := ex.keeper.Attempt(abort, ex.Only(abort, x))
			if r.OK() || strings.HasPrefix(r.Code(), "NOT_FOUND") || strings.HasPrefix(r.Code(), "CONFLICT") {
				continue
			}
			reason = "it could not be aborted: " + r.Brief()
		}
		ex.Ledger.leave(x.starts, "id", x.id, reason)
	}
	ex.Ledger.executions = nil
}

// Only returns an operation's required parameters for the given execution.
func (ex *executor) Only(op *catalog.Operation, x *execution) jsonv.Value {
	return ex.Maker.Completed(op, jsonv.ObjectOf(op.ExecutionParam().Name, x.id))
}
