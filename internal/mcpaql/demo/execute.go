package demo

import (
	"slices"
	"strconv"

	"mcptest/internal/base/jsonv"
)

// The states of an execution (D 8.4.1).
const (
	pending   = "pending"
	running   = "running"
	completed = "completed"
	cancelled = "cancelled"
)

// looksToEnd is the number of queries until an execution is completed.
const looksToEnd = 3

// begin starts an execution.
func (a *Adapter) begin() jsonv.Value {
	x := &execution{id: "run_" + strconv.Itoa(len(a.executions)+1), status: pending}
	a.executions = append(a.executions, x)
	return a.describeState(x)
}

func (a *Adapter) describeState(x *execution) jsonv.Value {
	status := x.status
	if a.is("execution-own-state") && x.status == running {
		status = "busy"
	}
	return jsonv.ObjectOf("execution_id", x.id, "status", status)
}

// runOnExecution runs an operation about one execution.
func (a *Adapter) runOnExecution(op *operation, params jsonv.Value) (jsonv.Value, *failure) {
	id := params.Lookup("execution_id").Text()
	i := slices.IndexFunc(a.executions, func(e *execution) bool { return e.id == id })
	if i < 0 {
		return jsonv.Value{}, refuse("NOT_FOUND_RESOURCE", "No execution has the execution_id '%s'.", id)
	}
	x := a.executions[i]
	ended := x.status == completed || x.status == cancelled
	if op.Verb == "state" {
		a.advance(x, ended)
		return a.describeState(x), nil
	}
	late := a.is("execution-late-step") && op.Verb == "step" || a.is("execution-late-abort") && op.Verb == "abort"
	if ended && !late {
		return jsonv.Value{}, refuse("CONFLICT_INVALID_STATE",
			"The execution '%s' is %s: it takes no more of %s.", x.id, x.status, op.Name)
	}
	switch {
	case ended:
	case op.Verb == "step":
		x.status = running
	case op.Verb == "complete":
		x.status = completed
	case a.is("abort-refused"):
		return jsonv.Value{}, refuse("PERMISSION_DENIED", "The execution '%s' can't be aborted.", x.id)
	case !a.is("abort-ignored"):
		x.status = cancelled
	}
	switch {
	case op.Verb != "step":
		return a.describeState(x), nil
	case a.is("step-bare"):
		return jsonv.ObjectOf("recorded", true), nil
	}
	factors := []string{"Sorting the catalog changes nothing that is lent."}
	return jsonv.ObjectOf("continue", true, "factors", factors), nil // D 8.7.1
}

// advance advances an execution by one step.
func (a *Adapter) advance(x *execution, ended bool) {
	x.looks++
	switch {
	case ended && a.is("execution-restarts") && x.status == completed:
		x.status, x.looks = running, 0
	case ended:
	case x.looks >= looksToEnd && !a.is("execution-endless"):
		x.status = completed
	default:
		x.status = running
	}
}
