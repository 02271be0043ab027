package live

import (
	"errors"
	"slices"
	"strings"
	"time"

	"mcptest/internal/aql/evidence"
	"mcptest/internal/jsonv"
)

// Executions are pieces of work that go on after the call that started them
// (D 8.4). A run names those that it started itself, and no others.

// The states that the specification knows, and those of them that nothing
// comes after.
var (
	coreStates     = []string{"pending", "running", "completed", "failed", "cancelled"}
	terminalStates = []string{"completed", "failed", "cancelled"}
)

const (
	cancelled = "cancelled"

	maxStarted = 30 // executions of one run
)

// execution is one that this run started.
type execution struct {
	id     jsonv.Value
	starts *liveOp
	status string // as last seen
	over   bool   // it ended, or an answer said that it was ended
}

var errNoExecution = errors.New("the run started no execution that it could name")

// stateReader is the operation that tells how far an execution is.
func (ex *executor) stateReader() *liveOp {
	for _, op := range ex.run.catalog.ops {
		if op.category == "READ" && op.executionParam() != nil && ex.run.gate.barred(op) == "" &&
			!slices.ContainsFunc(op.params, func(p liveParam) bool { return p.required && p.name != op.executionParam().name }) {
			return op
		}
	}
	return nil
}

// aborter is the operation that ends an execution.
func (ex *executor) aborter() *liveOp {
	for _, verb := range []string{"abort", "cancel"} {
		for _, op := range ex.run.catalog.ops {
			if op.category == "EXECUTE" && op.verb == verb && op.executionParam() != nil {
				return op
			}
		}
	}
	return nil
}

// track keeps what an answer says about an execution of this run.
func (ex *executor) track(r reply) {
	op := ex.run.catalog.op(r.operation())
	if op == nil || !r.ok() {
		return
	}
	state := r.data()
	id, status := state.Lookup(executionKey), state.Lookup("status").Text()
	if id.IsAbsent() && op.executionParam() != nil {
		id = r.args.Lookup("params", op.executionParam().name)
	}
	x := ex.run.keeper.ledger.execution(id)
	if x == nil && op.starts() && id.Kind() == jsonv.KindString {
		x = &execution{id: id, starts: op}
		ex.run.keeper.ledger.executions = append(ex.run.keeper.ledger.executions, x)
	}
	if x == nil {
		return
	}
	if status != "" {
		x.status = status
	}
	x.over = x.over || slices.Contains(terminalStates, status) || op.controls() && op.category == "EXECUTE" && status == ""
}

// start begins an execution of an operation.
func (ex *executor) start(op *liveOp) (*execution, reply) {
	if len(ex.run.keeper.ledger.executions) >= maxStarted {
		return nil, reply{budget: true, cause: errors.New("the run reached its limit of executions")}
	}
	params, why := ex.run.builder.params(op)
	if why != "" {
		return nil, reply{budget: true, cause: errors.New(why)}
	}
	before := len(ex.run.keeper.ledger.executions)
	r := ex.run.keeper.attempt(op, params)
	if len(ex.run.keeper.ledger.executions) == before {
		return nil, r
	}
	return ex.run.keeper.ledger.executions[len(ex.run.keeper.ledger.executions)-1], r
}

// someExecution names one for an operation: one that goes on, where there is
// one, else a new one. To look, any will do.
func (ex *executor) someExecution(op *liveOp) (jsonv.Value, error) {
	for _, x := range slices.Backward(ex.run.keeper.ledger.executions) {
		if !x.over || op.category == "READ" {
			return x.id, nil
		}
	}
	if ex.run.o.Mode == ModeFull {
		for _, starter := range ex.run.catalog.ops {
			if !starter.starts() || ex.run.gate.barred(starter) != "" || ex.run.caller.poison[starter.name] != "" {
				continue
			}
			if x, _ := ex.start(starter); x != nil {
				return x.id, nil
			}
		}
	}
	return jsonv.Value{}, errNoExecution
}

// look asks for the state of an execution.
func (ex *executor) look(reader *liveOp, x *execution) (string, reply) {
	r := ex.run.caller.call(reader, jsonv.Object(jsonv.Member{Key: reader.executionParam().name, Value: x.id}))
	if !r.ok() {
		return "", r
	}
	return r.data().Lookup("status").Text(), r
}

// Bounds of how an execution is followed: it is looked at a few times at
// least, and then until the time is over.
const (
	minLooks  = 8
	maxLooks  = 60
	firstWait = 20 * time.Millisecond
	lastWait  = time.Second
)

// follow looks at an execution until it ended, and says how it ended, or ""
// when it was seen to go on all the time.
func (ex *executor) follow(reader *liveOp, x *execution, seen func(status string, r reply)) string {
	end, wait := ex.run.caller.tape.Now().Add(ex.run.o.Follow), firstWait
	for n := range maxLooks {
		status, r := ex.look(reader, x)
		if !r.heard() {
			return ""
		}
		seen(status, r)
		if slices.Contains(terminalStates, status) {
			return status
		}
		if !r.ok() || n+1 >= minLooks && ex.run.caller.tape.Now().After(end) || !ex.run.caller.tape.Pause(ex.run.caller.ctx, wait) {
			return ""
		}
		wait = min(2*wait, lastWait)
	}
	return ""
}

// endExecutions ends what this run started and is still going on, and tells
// of what it cannot end.
func (ex *executor) endExecutions() {
	reader, abort := ex.stateReader(), ex.aborter()
	for _, x := range ex.run.keeper.ledger.executions {
		if x.over {
			continue
		}
		reason := "it may still be running, and no operation that may be called aborts it"
		if reader != nil {
			if status, _ := ex.look(reader, x); slices.Contains(terminalStates, status) {
				continue
			}
		}
		if abort != nil && ex.run.gate.barred(abort) == "" {
			r := ex.run.keeper.attempt(abort, ex.only(abort, x))
			if r.ok() || strings.HasPrefix(r.code(), "NOT_FOUND") || strings.HasPrefix(r.code(), "CONFLICT") {
				continue
			}
			reason = "it could not be aborted: " + r.brief()
		}
		ex.run.cleaner.leftovers = append(ex.run.cleaner.leftovers, jsonv.Object(evidence.TextMember("operation", x.starts.name), jsonv.Member{Key: "id", Value: x.id}, evidence.TextMember("reason", reason)))
	}
	ex.run.keeper.ledger.executions = nil
}

// only is an operation's required parameters, of a certain execution.
func (ex *executor) only(op *liveOp, x *execution) jsonv.Value {
	params := jsonv.Object(jsonv.Member{Key: op.executionParam().name, Value: x.id})
	for _, p := range op.params {
		if _, given := params.Get(p.name); p.required && !given {
			if v, err := ex.run.maker.value(op, p, p.name); err == nil {
				params = params.With(p.name, v)
			}
		}
	}
	return params
}

// executor starts executions, follows them and ends them.
type executor struct {
	run *collector
}
