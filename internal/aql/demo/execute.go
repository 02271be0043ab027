package demo

import (
	"strconv"

	"mcptest/internal/jsonv"
)

// The states of an execution (D 8.4.1).
const (
	pending   = "pending"
	running   = "running"
	completed = "completed"
	cancelled = "cancelled"
)

// execution is a running operation. It has no clock of its own: it advances by a step
// with each query, so that the same calls get the same answers.
type execution struct {
	id     string
	status string
	looks  int
}

// looksToEnd is the number of queries until an execution is completed.
const looksToEnd = 3

// addExecutions adds the operations on the executions of reindex_catalog.
func (a *Adapter) addExecutions() {
	named := param{name: "execution_id", typ: "string", doc: "As reindex_catalog answered it.", required: true}
	state := [2]string{"Execution", "object"}
	a.operations = append(a.operations,
		&operation{name: "get_execution", category: "READ", verb: "state", doc: "Tells how far an execution is.", params: []param{named}, returns: state},
		&operation{name: "abort_execution", category: "EXECUTE", verb: "abort", doc: "Ends an execution before it is completed.", params: []param{
			named, {name: "reason", typ: "string", doc: "Why."},
		}, returns: state},
		&operation{name: "complete_execution", category: "EXECUTE", verb: "complete", doc: "Ends an execution as done.", params: []param{
			named, {name: "summary", typ: "string", doc: "The result of it."},
		}, returns: state},
		&operation{name: "record_execution_step", category: "CREATE", verb: "step", doc: "Tells what is about to be done in an execution, and asks whether to go on.", params: []param{
			named,
			{name: "nextActionHint", typ: "string", doc: "What is done next.", required: true},
			{name: "outcome", typ: "string", doc: "The result of the previous step.", enum: []string{"success", "failure", "skipped"}},
		}, returns: [2]string{"Directive", "object"}})
}

// begin starts an execution.
func (a *Adapter) begin() jsonv.Value {
	x := &execution{id: "run_" + strconv.Itoa(len(a.executions)+1), status: pending}
	a.executions = append(a.executions, x)
	return a.state(x)
}

func (a *Adapter) state(x *execution) jsonv.Value {
	status := x.status
	if a.is("execution-own-state") && status == running {
		status = "busy"
	}
	return jsonv.Object(str("execution_id", x.id), str("status", status))
}

// onExecution runs an operation about one execution.
func (a *Adapter) onExecution(op *operation, params jsonv.Value) (jsonv.Value, *failure) {
	var x *execution
	for _, e := range a.executions {
		if e.id == params.Lookup("execution_id").Text() {
			x = e
		}
	}
	if x == nil {
		return jsonv.Value{}, refuse("NOT_FOUND_RESOURCE", "No execution has the execution_id '%s'.", params.Lookup("execution_id").Text())
	}
	ended := x.status == completed || x.status == cancelled
	if op.verb == "state" {
		a.goOn(x, ended)
		return a.state(x), nil
	}
	late := a.is("execution-late-step") && op.verb == "step" || a.is("execution-late-abort") && op.verb == "abort"
	if ended && !late {
		return jsonv.Value{}, refuse("CONFLICT_INVALID_STATE", "The execution '%s' is %s: it takes no more of %s.", x.id, x.status, op.name)
	}
	switch {
	case ended:
	case op.verb == "step":
		x.status = running
	case op.verb == "complete":
		x.status = completed
	case a.is("abort-refused"):
		return jsonv.Value{}, refuse("PERMISSION_DENIED", "The execution '%s' can't be aborted.", x.id)
	case !a.is("abort-ignored"):
		x.status = cancelled
	}
	if op.verb == "step" {
		return a.directive(), nil
	}
	return a.state(x), nil
}

// goOn advances an execution by one step.
func (a *Adapter) goOn(x *execution, ended bool) {
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

// directive returns the answer to a step (D 8.7.1).
func (a *Adapter) directive() jsonv.Value {
	if a.is("step-bare") {
		return jsonv.Object(member("recorded", jsonv.Bool(true)))
	}
	return jsonv.Object(member("continue", jsonv.Bool(true)), member("factors", jsonv.Array(jsonv.String("Sorting the catalog changes nothing that is lent."))))
}
