package live

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"mcptest/internal/aql/evidence"
	"mcptest/internal/aql/record"
	"mcptest/internal/display"
	"mcptest/internal/jsonv"
	"mcptest/internal/mcp"
	"mcptest/internal/mcp/protocol"
)

// Bounds of what a run keeps of the answers.
const (
	maxKeptAnswer     = 64 << 10
	maxKeptTranscript = 16 << 20
	maxEvidenceAnswer = 1 << 20
	manyMessages      = 1000 // notifications during one call that are a flood
)

// reply is the answer to one call of an operation.
type reply struct {
	n       int // number in the transcript, from 1; 0 when nothing was sent
	tool    string
	args    jsonv.Value
	env     jsonv.Value // the envelope, absent when there is none
	raw     jsonv.Value // the tool's result, absent when there is none
	rpc     *protocol.RPCError
	cause   error
	limited bool // the adapter limits the rate, and waiting did not help
	budget  bool // not sent: the run has no calls or no time left, or the policy forbids it
	barred  bool // not sent: the policy forbids it
	cut     bool // given up by the run, which was ended meanwhile
	silent  bool // no answer came
}

func (r reply) ok() bool          { return evidence.Succeeded(r.env) && evidence.WrappedFailure(r.env) == "" }
func (r reply) refused() bool     { return evidence.Refused(r.env) }
func (r reply) sent() bool        { return r.n > 0 && !r.limited && !r.cut }
func (r reply) heard() bool       { return r.sent() && !r.silent }
func (r reply) code() string      { return r.env.Lookup("error", "code").Text() }
func (r reply) data() jsonv.Value { return r.env.Lookup("data") }

// message is the text of a failure, of a JSON-RPC error too.
func (r reply) message() string {
	switch e := r.env.Lookup("error"); {
	case r.rpc != nil:
		return r.rpc.Message
	case e.Kind() == jsonv.KindString:
		return e.Text()
	}
	return r.env.Lookup("error", "message").Text()
}

// documented says that a failure has a code of the registry's families.
func (r reply) documented() bool {
	code := r.code()
	for _, family := range []string{"NOT_FOUND", "VALIDATION_", "PERMISSION_", "CONFLICT_", "RATE_LIMIT", "CONFIRMATION_REQUIRED", "TOKEN_", "INVALID_QUERY_TYPE"} {
		if strings.HasPrefix(code, family) {
			return true
		}
	}
	return false
}

// unknownParameter says that an answer refuses a parameter, or warns of it,
// as one that does not exist.
func (r reply) unknownParameter(name string) bool {
	if r.ok() {
		return evidence.Named(r.env.Lookup("warnings"), name)
	}
	m := strings.ToLower(r.message())
	return r.code() == "VALIDATION_UNKNOWN_PARAM" || (strings.Contains(m, "unknown") || strings.Contains(m, "unexpected") || strings.Contains(m, "unrecogni")) && evidence.Names(r.message(), name)
}

// response is the answer as evidence: the envelope, or what came instead.
func (r reply) response() jsonv.Value {
	v := r.env
	switch {
	case v.Kind() == jsonv.KindObject:
	case r.rpc != nil:
		v = jsonv.Object(jsonv.Member{Key: "jsonrpc_error", Value: jsonv.Object(
			jsonv.Member{Key: "code", Value: jsonv.Int(r.rpc.Code)}, jsonv.Member{Key: "message", Value: jsonv.String(r.rpc.Message)})})
	case r.cause != nil:
		v = jsonv.Object(jsonv.Member{Key: "no_answer", Value: jsonv.String(r.cause.Error())})
	case r.raw.IsAbsent():
		v = jsonv.Null()
	default:
		v = r.raw
	}
	if size := len(v.Append(nil)); size > maxEvidenceAnswer {
		cut := evidence.Object{{Key: "x_truncated", Value: jsonv.Int(int64(size))}}
		cut.Set("success", v.Lookup("success"))
		if s := v.Lookup("error"); !s.IsAbsent() && len(s.Append(nil)) < maxKeptAnswer {
			cut.Set("error", s)
		}
		return cut.Value()
	}
	return v
}

// brief says in a few words what the answer was.
func (r reply) brief() string {
	switch {
	case r.cause != nil:
		return r.cause.Error()
	case r.rpc != nil:
		return "JSON-RPC error " + fmt.Sprint(r.rpc.Code) + ": " + display.Truncate(r.rpc.Message, 120)
	case r.ok():
		return "success"
	case evidence.Succeeded(r.env):
		return "success around a failure: " + evidence.WrappedFailure(r.env)
	case r.refused():
		return strings.TrimSpace(r.code() + " " + evidence.Quoted(display.Truncate(r.message(), 120)))
	}
	return "no result envelope"
}

var errOutOfBudget = errors.New("the run's budget is exhausted")

// call sends an operation with its params.
func (a *caller) call(op *liveOp, params jsonv.Value) reply {
	return a.send(op.tool, jsonv.Object(
		jsonv.Member{Key: "operation", Value: jsonv.String(op.name)},
		jsonv.Member{Key: "params", Value: params},
	))
}

// send calls a tool with arguments, whatever a test asks for: what may not be
// sent is not.
func (a *caller) send(tool string, args jsonv.Value) reply {
	r := reply{tool: tool, args: args}
	if reason := a.run.gate.forbidden(args); reason != "" {
		r.budget, r.cause = true, errors.New(reason)
		r.barred = a.poison[r.operation()] != reason
		return r
	}
	return a.exchange(a.ctx, r)
}

// exchange calls a tool until there is an answer that counts: it waits where
// the adapter limits the rate, and confirms what it may. The clean-up uses
// it too, with a context of its own.
func (a *caller) exchange(ctx context.Context, r reply) reply {
	return a.confirmed(ctx, a.unlimited(ctx, a.sendNow(ctx, r)))
}

// sendNow calls a tool once. It is the one place that sends calls: every
// request passes the gate here, and the budgets are kept.
func (a *caller) sendNow(ctx context.Context, r reply) reply {
	if !a.ungated {
		if why := a.run.gate.refuses(r.args); why != "" {
			r.budget, r.barred, r.cause = true, true, errors.New(why)
			return r
		}
		if op := a.run.catalog.op(r.operation()); op != nil && op.risk > riskRead {
			a.run.watcher.settle()
		}
	}
	switch {
	case a.dead != "":
		r.budget, r.cause = true, errors.New(a.dead)
		return r
	case ctx.Err() == nil && a.calls >= a.run.o.MaxCalls && !a.run.cleaner.cleaning:
		a.exhausted = true
		r.budget, r.cause = true, errOutOfBudget
		return r
	case ctx.Err() != nil:
		r.budget, r.cause = true, errOutOfBudget
		return r
	}
	a.wait(ctx)
	a.calls++
	r.n = len(a.transcript) + 1
	params := jsonv.Object(jsonv.Member{Key: "name", Value: jsonv.String(r.tool)})
	if !r.args.IsAbsent() {
		params = params.With("arguments", r.args)
	}
	parent := ctx
	if op := a.run.catalog.op(r.args.Lookup("operation").Text()); op != nil && op.category == "CREATE" {
		var done func()
		ctx, done = lasting(ctx)
		defer done()
	}
	callCtx, cancel := mcp.WithLimit(ctx, "--call-timeout", a.run.o.CallTimeout)
	x := a.s.Do(callCtx, mcp.Call{Method: "tools/call", Params: params.Append(nil)})
	cancel()
	r.silent = x.Cause != nil
	r.cut = r.silent && parent.Err() != nil
	a.read(&r, x)
	a.run.executor.track(r)
	a.write(r, x)
	a.watch(r, x)
	return r
}

// lastingTime is how long a create is waited for after the run was ended.
const lastingTime = 5 * time.Second

// lasting is a context that outlives its parent for a while: a create in
// flight is not given up with the run, because its answer says what there is
// to remove.
func lasting(parent context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(parent))
	stop := context.AfterFunc(parent, func() {
		t := time.NewTimer(lastingTime)
		defer t.Stop()
		select {
		case <-t.C:
			cancel()
		case <-ctx.Done():
		}
	})
	return ctx, func() {
		stop()
		cancel()
	}
}

// wait keeps the rate.
func (a *caller) wait(ctx context.Context) {
	if a.run.o.Rate <= 0 {
		return
	}
	next := a.last.Add(time.Duration(float64(time.Second) / a.run.o.Rate))
	a.tape.Pause(ctx, time.Until(next))
	a.last = time.Now()
}

// read finds the envelope in an answer: the first text block that is an
// object with success, else structuredContent.
func (a *caller) read(r *reply, x *mcp.Exchange) {
	r.cause = x.Cause
	if x.Cause != nil {
		return
	}
	if r.rpc = x.RPCError(); r.rpc != nil {
		return
	}
	v, err := jsonv.Parse(x.Result)
	if err != nil {
		r.cause = fmt.Errorf("the result cannot be read: %w", err)
		return
	}
	r.raw = v
	for _, block := range v.Lookup("content").Elems() {
		if block.Lookup("type").Text() != "text" {
			continue
		}
		if env, err := jsonv.Parse([]byte(block.Lookup("text").Text())); err == nil && !env.Lookup("success").IsAbsent() {
			r.env = env
			break
		}
	}
	structured := v.Lookup("structuredContent")
	switch {
	case r.env.IsAbsent() && !structured.Lookup("success").IsAbsent():
		r.env = structured
	case !r.env.IsAbsent() && structured.Kind() == jsonv.KindObject && !jsonv.Equal(structured, r.env):
		a.run.rows.breaks("envelopes.same", *r, "structuredContent is not what the text says")
	}
	a.run.rows.sees("envelopes")
	a.checkFlag(*r)
}

// checkFlag looks at isError and at where a domain error stands (MCP 4.1,
// 4.2).
func (a *caller) checkFlag(r reply) {
	if !r.env.IsAbsent() && r.raw.Lookup("isError").Bool() && (r.ok() || r.refused() && r.documented()) {
		a.run.rows.breaks("envelopes.is-error", r, "isError is true though the caller can act on the answer (%s)", r.brief())
	}
}

// write adds a call to the transcript.
func (a *caller) write(r reply, x *mcp.Exchange) {
	o := evidence.Object{{Key: "n", Value: jsonv.Int(int64(r.n))}, {Key: "tool", Value: jsonv.String(r.tool)}}
	args := a.redact(r.args)
	if size := len(args.Append(nil)); size > maxKeptAnswer {
		args = jsonv.Object(evidence.TextMember("operation", r.operation()), jsonv.Member{Key: "x_bytes", Value: jsonv.Int(int64(size))})
	}
	o.Set("arguments", args)
	o.Set("ms", jsonv.Float(float64(x.Elapsed.Microseconds())/1000))
	answer := a.noted(r)
	if size := len(answer.Append(nil)); size > maxKeptAnswer {
		answer = jsonv.String(display.Truncate(answer.String(), 1000))
		o.Set("bytes", jsonv.Int(int64(size)))
	}
	if a.kept > maxKeptTranscript {
		answer = jsonv.Value{}
	}
	o.Set("answer", answer)
	a.kept += len(answer.Append(nil)) + len(args.Append(nil))
	a.transcript = append(a.transcript, o.Value())
}

// watch files what the adapter does wrong beside its answers, and starts it
// anew when it died.
func (a *caller) watch(r reply, x *mcp.Exchange) {
	a.run.rows.sees("conduct")
	if r.rpc != nil && r.rpc.Code != protocol.CodeInvalidParams {
		a.run.rows.breaks("envelopes.rpc", r, "answered with a JSON-RPC error instead of a result: %s", display.Truncate(r.rpc.Message, 120))
	}
	for _, v := range append(x.Violations, a.s.TakeViolations()...) {
		a.run.rows.breaks("conduct.wire", r, "%s: %s", v.Kind, v.Msg)
	}
	asked := 0
	for _, m := range x.During {
		if m.Kind == mcp.KindRequest && m.Method != "ping" {
			asked++
		}
	}
	if asked > 0 {
		a.run.rows.breaks("conduct.asks", r, "asks the client, which declared no such capability")
	}
	if n := len(x.During) + x.Dropped; n > manyMessages {
		a.run.rows.breaks("conduct.flood", r, "%d messages during one call", n)
	}
	name := r.args.Lookup("operation").Text()
	var late *mcp.TimeoutError
	switch {
	case errors.As(r.cause, &late) && a.ctx.Err() == nil:
		a.run.rows.breaks("conduct.answers", r, "no answer within %s", a.run.o.CallTimeout)
		if a.silent[name]++; a.silent[name] >= maxSilent {
			a.poison[name] = "it did not answer"
		}
		if a.timeouts++; a.timeouts >= maxTimeouts {
			a.dead = "too many calls had no answer"
		}
	case r.cause == nil:
		a.timeouts = 0
	}
	if !a.s.Alive() {
		a.poison[name] = "the adapter ended when it was called"
		a.restart(r)
	}
}

// restart brings a dead adapter back, once.
func (a *caller) restart(r reply) {
	why := "the session ended"
	if err := a.s.Err(); err != nil {
		why = err.Error()
	}
	a.run.rows.breaks("conduct.lives", r, "%s", display.Truncate(why, 200))
	a.s.Close(context.WithoutCancel(a.ctx))
	if a.restarts++; a.restarts > 1 {
		a.dead = "the adapter died twice"
		return
	}
	s, err := a.tape.Dial(context.WithoutCancel(a.ctx), "")
	if err != nil || s == nil {
		a.dead = "the adapter died and could not be started again"
		return
	}
	a.s = s
	a.run.keeper.verifyAgain()
}

// caller sends calls to the adapter and keeps the transcript. Every call passes the
// gate here, and the budgets are kept.
type caller struct {
	run        *collector
	ctx        context.Context
	tape       record.Backend
	s          record.Session
	calls      int               // tools/call requests sent
	timeouts   int               // one after the other
	silent     map[string]int    // operation → calls without an answer
	poison     map[string]string // operation → why it is called no more
	waited     time.Duration     // for an adapter that limits the rate
	sensitive  map[string]bool   // names of parameters that are never written down
	restarts   int
	dead       string // why nothing is sent any more
	last       time.Time
	transcript []jsonv.Value
	kept       int               // bytes of the transcript
	ungated    bool              // the user himself says what is called
	exhausted  bool              // a call was not sent because MaxCalls were
	short      map[string]string // row → why the run had no time to look at all of it
	gated      bool              // an operation asked for a confirmation
	tokenKey   string            // the parameter that a token is sent in
}

// denied says that a call was refused because of who made it.
func (r reply) denied() bool {
	return slices.ContainsFunc([]string{"PERMISSION", "FORBIDDEN", "DENIED", "UNAUTHORIZED"}, func(word string) bool {
		return strings.Contains(strings.ToUpper(r.code()), word)
	})
}

// ending says why a run ended early, "" when it did not.
func (a *caller) ending() string {
	switch {
	case a.dead != "":
		return a.dead
	case a.ctx.Err() != nil:
		var limit *mcp.Limit
		if errors.As(context.Cause(a.ctx), &limit) {
			return "the run's time is over (--budget " + a.run.o.Budget.String() + ")"
		}
		return "the run was ended early"
	case a.exhausted:
		return "the run reached the limit of calls (--max-calls " + strconv.Itoa(a.run.o.MaxCalls) + ")"
	}
	return ""
}

// endedBefore is why something was not looked at.
func (a *caller) endedBefore() string {
	if why := a.ending(); why != "" {
		return why
	}
	return "the run ended before"
}

// cutsShort notes that the run ended before it had looked at all that rows
// need: what they lack is then nothing that the adapter did.
func (a *caller) cutsShort(tests ...string) {
	for _, id := range tests {
		if a.short[id] == "" {
			a.short[id] = a.endedBefore()
		}
	}
}

// introspect asks the adapter about itself.
func (a *caller) introspect(params ...jsonv.Member) reply {
	return a.send(a.run.catalog.reader, jsonv.Object(
		jsonv.Member{Key: "operation", Value: jsonv.String("introspect")},
		jsonv.Member{Key: "params", Value: jsonv.Object(params...)},
	))
}

// redact is a value as it may be written down.
func (a *caller) redact(v jsonv.Value) jsonv.Value { return evidence.RedactKeys(v, a.sensitive) }

// noted is an answer as it may be written down.
func (a *caller) noted(r reply) jsonv.Value { return a.redact(r.response()) }

// After so many calls without an answer, one after the other, an adapter is
// given up, and an operation after fewer: a run must end.
const (
	maxTimeouts = 4
	maxSilent   = 2
)
