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
	executionKey  = "execution_id"
	stepOperation = "record_execution_step"
	cancelled     = "cancelled"

	maxStarted = 30 // executions of one run
)

// controlVerbs begin the names of operations that act on something that is
// there, or going on.
var controlVerbs = strings.Fields("abort cancel stop kill terminate end interrupt pause suspend resume retry restart complete finish " +
	"approve confirm reject deny accept decline authorize grant revoke commit rollback undo redo verify resolve dismiss")

// execution is one that this run started.
type execution struct {
	id     jsonv.Value
	starts *liveOp
	status string // as last seen
	over   bool   // it ended, or an answer said that it was ended
}

var errNoExecution = errors.New("the run started no execution that it could name")

// executionParam is the parameter that names an execution; nil when the
// operation is about none.
func (o *liveOp) executionParam() *liveParam {
	for i, p := range o.params {
		if p.required && (p.name == executionKey || p.name == "id" && sameResource(o.resource, "execution")) {
			return &o.params[i]
		}
	}
	return nil
}

// starts says that an operation begins something, and does not act on what is
// going on.
func (o *liveOp) starts() bool {
	return o.category == "EXECUTE" && o.executionParam() == nil && reservedOperations[o.name] == "" && !slices.Contains(controlVerbs, o.verb) && !slices.Contains(removalVerbs, o.verb) || o.name == "execute_agent"
}

// controls says that an operation acts on something that is going on, which
// has to be the run's own.
func (o *liveOp) controls() bool {
	return o.name == stepOperation || o.category == "EXECUTE" && !o.starts() && (o.executionParam() != nil || o.idParam() != nil)
}

// creates says that an operation makes something that has to be removed. A
// step belongs to its execution.
func (o *liveOp) creates() bool { return o.category == "CREATE" && o.name != stepOperation }

// stateReader is the operation that tells how far an execution is.
func (c *collector) stateReader() *liveOp {
	for _, op := range c.ops {
		if op.category == "READ" && op.executionParam() != nil && c.barred(op) == "" &&
			!slices.ContainsFunc(op.params, func(p liveParam) bool { return p.required && p.name != op.executionParam().name }) {
			return op
		}
	}
	return nil
}

// aborter is the operation that ends an execution.
func (c *collector) aborter() *liveOp {
	for _, verb := range []string{"abort", "cancel"} {
		for _, op := range c.ops {
			if op.category == "EXECUTE" && op.verb == verb && op.executionParam() != nil {
				return op
			}
		}
	}
	return nil
}

// track keeps what an answer says about an execution of this run.
func (c *collector) track(r reply) {
	op := c.op(r.operation())
	if op == nil || !r.ok() {
		return
	}
	state := r.data()
	id, status := state.Lookup(executionKey), state.Lookup("status").Text()
	if id.IsAbsent() && op.executionParam() != nil {
		id = r.args.Lookup("params", op.executionParam().name)
	}
	x := c.ledger.execution(id)
	if x == nil && op.starts() && id.Kind() == jsonv.KindString {
		x = &execution{id: id, starts: op}
		c.ledger.executions = append(c.ledger.executions, x)
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
func (c *collector) start(op *liveOp) (*execution, reply) {
	if len(c.ledger.executions) >= maxStarted {
		return nil, reply{budget: true, cause: errors.New("the run reached its limit of executions")}
	}
	params, why := c.params(op)
	if why != "" {
		return nil, reply{budget: true, cause: errors.New(why)}
	}
	before := len(c.ledger.executions)
	r := c.attempt(op, params)
	if len(c.ledger.executions) == before {
		return nil, r
	}
	return c.ledger.executions[len(c.ledger.executions)-1], r
}

// someExecution names one for an operation: one that goes on, where there is
// one, else a new one. To look, any will do.
func (c *collector) someExecution(op *liveOp) (jsonv.Value, error) {
	for _, x := range slices.Backward(c.ledger.executions) {
		if !x.over || op.category == "READ" {
			return x.id, nil
		}
	}
	if c.o.Mode == ModeFull {
		for _, starter := range c.ops {
			if !starter.starts() || c.barred(starter) != "" || c.poison[starter.name] != "" {
				continue
			}
			if x, _ := c.start(starter); x != nil {
				return x.id, nil
			}
		}
	}
	return jsonv.Value{}, errNoExecution
}

// look asks for the state of an execution.
func (c *collector) look(reader *liveOp, x *execution) (string, reply) {
	r := c.call(reader, jsonv.Object(jsonv.Member{Key: reader.executionParam().name, Value: x.id}))
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
func (c *collector) follow(reader *liveOp, x *execution, seen func(status string, r reply)) string {
	end, wait := c.tape.Now().Add(c.o.Follow), firstWait
	for n := range maxLooks {
		status, r := c.look(reader, x)
		if !r.heard() {
			return ""
		}
		seen(status, r)
		if slices.Contains(terminalStates, status) {
			return status
		}
		if !r.ok() || n+1 >= minLooks && c.tape.Now().After(end) || !c.tape.Pause(c.ctx, wait) {
			return ""
		}
		wait = min(2*wait, lastWait)
	}
	return ""
}

// endExecutions ends what this run started and is still going on, and tells
// of what it cannot end.
func (c *collector) endExecutions() {
	reader, abort := c.stateReader(), c.aborter()
	for _, x := range c.ledger.executions {
		if x.over {
			continue
		}
		reason := "it may still be running, and no operation that may be called aborts it"
		if reader != nil {
			if status, _ := c.look(reader, x); slices.Contains(terminalStates, status) {
				continue
			}
		}
		if abort != nil && c.barred(abort) == "" {
			r := c.attempt(abort, c.only(abort, x))
			if r.ok() || strings.HasPrefix(r.code(), "NOT_FOUND") || strings.HasPrefix(r.code(), "CONFLICT") {
				continue
			}
			reason = "it could not be aborted: " + r.brief()
		}
		c.leftovers = append(c.leftovers, jsonv.Object(evidence.TextMember("operation", x.starts.name), jsonv.Member{Key: "id", Value: x.id}, evidence.TextMember("reason", reason)))
	}
	c.ledger.executions = nil
}

// only is an operation's required parameters, of a certain execution.
func (c *collector) only(op *liveOp, x *execution) jsonv.Value {
	params := jsonv.Object(jsonv.Member{Key: op.executionParam().name, Value: x.id})
	for _, p := range op.params {
		if _, given := params.Get(p.name); p.required && !given {
			if v, err := c.value(op, p, p.name); err == nil {
				params = params.With(p.name, v)
			}
		}
	}
	return params
}
