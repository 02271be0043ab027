package guard

import (
	"errors"
	"slices"
	"strings"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/live/catalog"
)

// Executions are work that continues after the call that started it (D 8.4). A run
// names only executions that it started itself.

// The states that the specification defines, and those of them that are final.
var (
	CoreStates     = []string{"pending", "running", "completed", "failed", "cancelled"}
	TerminalStates = []string{"completed", "failed", "cancelled"}
)

const (
	// Cancelled is the state of an execution that was aborted.
	Cancelled = "cancelled"

	maxStarted = 30 // executions of one run
)

var errNoExecution = errors.New("the run started no execution that it could name")

// executor starts executions, follows them and ends them.
type executor struct{ run *Run }

// StateReader returns the operation that reports the state of an execution.
func (ex *executor) StateReader() *catalog.Operation {
	for _, op := range ex.run.Catalog.Operations {
		if op.Category == "READ" && op.ExecutionParam() != nil && ex.run.Gate.Barred(op) == "" &&
			!slices.ContainsFunc(op.Params, func(p catalog.Parameter) bool { return p.Required && p.Name != op.ExecutionParam().Name }) {
			return op
		}
	}
	return nil
}

// Aborter returns the operation that ends an execution.
func (ex *executor) Aborter() *catalog.Operation {
	for _, verb := range []string{"abort", "cancel"} {
		for _, op := range ex.run.Catalog.Operations {
			if op.Category == "EXECUTE" && op.Verb == verb && op.ExecutionParam() != nil {
				return op
			}
		}
	}
	return nil
}

// track records the data about an execution of this run in an answer.
func (ex *executor) track(r Reply) {
	op := ex.run.Catalog.Op(r.operation())
	if op == nil || !r.OK() {
		return
	}
	state := r.Data()
	id, status := state.Lookup(catalog.ExecutionKey), state.Lookup("status").Text()
	if id.IsAbsent() && op.ExecutionParam() != nil {
		id = r.Args.Lookup("params", op.ExecutionParam().Name)
	}
	x := ex.run.Keeper.Ledger.execution(id)
	if x == nil && op.Starts() && id.Kind() == jsonv.KindString {
		x = &execution{id: id, starts: op}
		ex.run.Keeper.Ledger.executions = append(ex.run.Keeper.Ledger.executions, x)
	}
	if x == nil {
		return
	}
	if status != "" {
		x.Status = status
	}
	x.Over = x.Over || slices.Contains(TerminalStates, status) || op.Controls() && op.Category == "EXECUTE" && status == ""
}

// Start begins an execution of an operation.
func (ex *executor) Start(op *catalog.Operation) (*execution, Reply) {
	if len(ex.run.Keeper.Ledger.executions) >= maxStarted {
		return nil, Reply{Budget: true, Cause: errors.New("the run reached its limit of executions")}
	}
	params, why := ex.run.Builder.Params(op)
	if why != "" {
		return nil, Reply{Budget: true, Cause: errors.New(why)}
	}
	before := len(ex.run.Keeper.Ledger.executions)
	r := ex.run.Keeper.Attempt(op, params)
	if len(ex.run.Keeper.Ledger.executions) == before {
		return nil, r
	}
	return ex.run.Keeper.Ledger.executions[len(ex.run.Keeper.Ledger.executions)-1], r
}

// someExecution returns an execution for an operation: one that is still running, if
// there is one, or else a new one. An operation that only reads accepts any.
func (ex *executor) someExecution(op *catalog.Operation) (jsonv.Value, error) {
	for _, x := range slices.Backward(ex.run.Keeper.Ledger.executions) {
		if !x.Over || op.Category == "READ" {
			return x.id, nil
		}
	}
	if ex.run.Options.Mode == ModeFull {
		for _, starter := range ex.run.Catalog.Operations {
			if !starter.Starts() || ex.run.Gate.Barred(starter) != "" || ex.run.Caller.Poison[starter.Name] != "" {
				continue
			}
			if x, _ := ex.Start(starter); x != nil {
				return x.id, nil
			}
		}
	}
	return jsonv.Value{}, errNoExecution
}

// Look requests the state of an execution.
func (ex *executor) Look(reader *catalog.Operation, x *execution) (string, Reply) {
	r := ex.run.Caller.Call(reader, jsonv.ObjectOf(reader.ExecutionParam().Name, x.id))
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
	end, wait := ex.run.Caller.Tape.Now().Add(ex.run.Options.Follow), firstWait
	for n := range maxLooks {
		status, r := ex.Look(reader, x)
		if !r.Heard() {
			return ""
		}
		seen(status, r)
		if slices.Contains(TerminalStates, status) {
			return status
		}
		if !r.OK() || n+1 >= minLooks && ex.run.Caller.Tape.Now().After(end) || !ex.run.Caller.Tape.Pause(ex.run.Caller.Ctx, wait) {
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
	for _, x := range ex.run.Keeper.Ledger.executions {
		if x.Over {
			continue
		}
		reason := "it may still be running, and no operation that may be called aborts it"
		if reader != nil {
			if status, _ := ex.Look(reader, x); slices.Contains(TerminalStates, status) {
				continue
			}
		}
		if abort != nil && ex.run.Gate.Barred(abort) == "" {
			r := ex.run.Keeper.Attempt(abort, ex.Only(abort, x))
			if r.OK() || strings.HasPrefix(r.Code(), "NOT_FOUND") || strings.HasPrefix(r.Code(), "CONFLICT") {
				continue
			}
			reason = "it could not be aborted: " + r.Brief()
		}
		ex.run.Cleaner.leave(x.starts, "id", x.id, reason)
	}
	ex.run.Keeper.Ledger.executions = nil
}

// Only returns an operation's required parameters for the given execution.
func (ex *executor) Only(op *catalog.Operation, x *execution) jsonv.Value {
	return ex.run.Maker.Completed(op, jsonv.ObjectOf(op.ExecutionParam().Name, x.id))
}
