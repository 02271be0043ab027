package guard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/mcpaql/evidence"
	"mcptest/internal/mcpaql/live/catalog"
	"mcptest/internal/mcpaql/live/tape"
)

// Limits on how much of the answers a run keeps.
const (
	maxKeptTranscript = 16 << 20
	manyMessages      = 1000 // notifications during one call that count as a flood
)

var errOutOfBudget = errors.New("the run's budget is exhausted")

// caller sends calls to the adapter and keeps the transcript. Every call passes the
// gate and the budgets here.
type caller struct {
	options    *Options
	catalog    *catalog.Catalog
	ledger     *ledger
	gate       *gate
	rows       *rows
	settle     func() // called before a call that may change something
	verify     func() // called after a restart of the adapter
	Ctx        context.Context
	Tape       *tape.Tape
	Session    *tape.Session
	Calls      int             // tools/call requests sent
	timeouts   int             // consecutive
	silent     map[string]int  // operation → calls without an answer
	waited     time.Duration   // for an adapter that limits the rate
	Sensitive  map[string]bool // names of parameters that are never stored
	Restarts   int
	Dead       string // why nothing more is sent
	last       time.Time
	Transcript []jsonv.Value
	kept       int               // bytes of the transcript
	Ungated    bool              // the user chose the call
	Cleaning   bool              // calls do not count against the budget, and nothing is created
	exhausted  bool              // a call was not sent because of MaxCalls
	Short      map[string]string // row → why the run had no time for all of it
	Gated      bool              // an operation asked for a confirmation
	TokenKey   string            // the parameter that carries a token
}

// SendNow calls a tool once. It is the only place that sends calls: every request
// passes the gate and the budgets here.
func (a *caller) SendNow(ctx context.Context, r Reply) Reply {
	if !a.Ungated {
		if why := a.gate.refuses(r.Args); why != "" {
			r.Barred, r.Cause = true, errors.New(why)
			return r
		}
		if op := a.catalog.Op(r.operation()); op != nil && op.Risk > catalog.RiskRead {
			a.settle()
		}
	}
	switch {
	case a.Dead != "":
		r.Cause = errors.New(a.Dead)
	case ctx.Err() == nil && a.Calls >= a.options.MaxCalls && !a.Cleaning:
		a.exhausted, r.Cause = true, errOutOfBudget
	case ctx.Err() != nil:
		r.Cause = errOutOfBudget
	}
	if r.Cause != nil {
		return r
	}
	a.wait(ctx)
	a.Calls++
	r.Number = len(a.Transcript) + 1
	params := jsonv.ObjectOf("name", r.Tool)
	if !r.Args.IsAbsent() {
		params = params.With("arguments", r.Args)
	}
	parent := ctx
	if op := a.catalog.Op(r.Args.Lookup("operation").Text()); op != nil && op.Category == "CREATE" {
		var done func()
		ctx, done = lasting(ctx)
		defer done()
	}
	callCtx, cancel := mcp.WithLimit(ctx, "--call-timeout", a.options.CallTimeout)
	x := a.Session.Do(callCtx, mcp.Call{Method: "tools/call", Params: params.Append(nil)})
	cancel()
	r.Silent = x.Cause != nil
	r.cut = r.Silent && parent.Err() != nil
	a.read(&r, x)
	a.ledger.track(a.catalog.Op(r.operation()), r)
	a.write(r, x)
	a.watch(r, x)
	return r
}

// lastingTime is how long the run waits for a create after it was ended.
const lastingTime = 5 * time.Second

// lasting returns a context that outlives its parent for a while. A create in flight
// is not abandoned with the run, because its answer names the item to remove.
func lasting(parent context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(parent))
	stop := context.AfterFunc(parent, func() { time.AfterFunc(lastingTime, cancel) })
	return ctx, func() {
		stop()
		cancel()
	}
}

// wait delays a call to respect the rate limit.
func (a *caller) wait(ctx context.Context) {
	if a.options.Rate <= 0 {
		return
	}
	next := a.last.Add(time.Duration(float64(time.Second) / a.options.Rate))
	a.Tape.Pause(ctx, time.Until(next))
	a.last = time.Now()
}

// read finds the envelope in an answer: the first text block that is an object with
// success, or else structuredContent.
func (a *caller) read(r *Reply, x *mcp.Exchange) {
	r.Cause = x.Cause
	if x.Cause != nil {
		return
	}
	if r.rpc = x.RPCError(); r.rpc != nil {
		return
	}
	v, err := jsonv.Parse(x.Result)
	if err != nil {
		r.Cause = fmt.Errorf("the result cannot be read: %w", err)
		return
	}
	r.raw = v
	for _, block := range v.Lookup("content").Elems() {
		if block.Lookup("type").Text() != "text" {
			continue
		}
		if env, err := jsonv.Parse([]byte(block.Lookup("text").Text())); err == nil && !env.Lookup("success").IsAbsent() {
			r.Envelope = parseWrapped(env)
			break
		}
	}
	switch structured := v.Lookup("structuredContent"); {
	case r.Envelope.IsAbsent() && !structured.Lookup("success").IsAbsent():
		r.Envelope = parseWrapped(structured)
	case !r.Envelope.IsAbsent() && structured.Kind() == jsonv.KindObject && !jsonv.Equal(parseWrapped(structured), r.Envelope):
		a.rows.Fail("envelopes.same", *r, "structuredContent is not what the text says")
	}
	a.rows.Count("envelopes")
	// The flag, and the place of a domain error (MCP 4.1, 4.2).
	if !r.Envelope.IsAbsent() && r.raw.Lookup("isError").Bool() && (r.OK() || r.Refused() && r.Documented()) {
		a.rows.Fail("envelopes.is-error", *r, "isError is true although the caller can act on the response (%s)", r.Brief())
	}
}

// write adds a call to the transcript.
func (a *caller) write(r Reply, x *mcp.Exchange) {
	var whole jsonv.Value // the size of an answer that is not kept as a whole
	args, answer := a.Redact(r.Args), a.Noted(r).Without(evidence.Additions)
	if size := len(args.Append(nil)); size > maxKeptAnswer {
		args = jsonv.ObjectOf("operation", r.operation(), "x_bytes", size)
	}
	if size := len(answer.Append(nil)); size > maxKeptAnswer {
		answer, whole = jsonv.String(display.Truncate(answer.String(), 1000)), jsonv.Int(int64(size))
	}
	if a.kept > maxKeptTranscript {
		answer = jsonv.Value{}
	}
	a.kept += len(answer.Append(nil)) + len(args.Append(nil))
	a.Transcript = append(a.Transcript, jsonv.ObjectOf("n", r.Number, "tool", r.Tool, "arguments", args,
		"ms", float64(x.Elapsed.Microseconds())/1000, "bytes", whole, "answer", answer))
}

// watch reports faults of the adapter outside its answers, and restarts it after it
// died.
func (a *caller) watch(r Reply, x *mcp.Exchange) {
	a.rows.Count("conduct")
	if r.rpc != nil && r.rpc.Code != protocol.CodeInvalidParams {
		a.rows.Fail("envelopes.rpc", r, "the response is a JSON-RPC error instead of a result: %s", display.Truncate(r.rpc.Message, 120))
	}
	for _, v := range append(x.Violations, a.Session.TakeViolations()...) {
		a.rows.Fail("conduct.wire", r, "%s: %s", v.Kind, v.Msg)
	}
	if slices.ContainsFunc(x.During, func(m mcp.Message) bool { return m.Kind == mcp.KindRequest && m.Method != "ping" }) {
		a.rows.Fail("conduct.asks", r, "the adapter sends a request for which the client declared no capability")
	}
	if n := len(x.During) + x.Dropped; n > manyMessages {
		a.rows.Fail("conduct.flood", r, "%d messages during one call", n)
	}
	name := r.Args.Lookup("operation").Text()
	switch _, ok := errors.AsType[*mcp.TimeoutError](r.Cause); {
	case ok && a.Ctx.Err() == nil:
		a.rows.Fail("conduct.answers", r, "no response within %s", a.options.CallTimeout)
		if a.silent[name]++; a.silent[name] >= maxSilent {
			a.gate.Poison[name] = "it did not respond"
		}
		if a.timeouts++; a.timeouts >= maxTimeouts {
			a.Dead = "too many calls got no response"
		}
	case r.Cause == nil:
		a.timeouts = 0
	}
	if !a.Session.Alive() {
		a.gate.Poison[name] = "the adapter ended when it was called"
		a.restart(r)
	}
}

// restart restarts a dead adapter, once.
func (a *caller) restart(r Reply) {
	a.rows.Fail("conduct.lives", r, "%s", display.Truncate(a.Session.Err().Error(), 200))
	a.Session.Close(context.WithoutCancel(a.Ctx))
	if a.Restarts++; a.Restarts > 1 {
		a.Dead = "the adapter died twice"
		return
	}
	s, err := a.Tape.Dial(context.WithoutCancel(a.Ctx), "")
	if err != nil || s == nil {
		a.Dead = "the adapter died and could not be started again"
		return
	}
	a.Session = s
	a.verify()
}

// Ending returns why a run ended early, "" when it did not.
func (a *caller) Ending() string {
	switch {
	case a.Dead != "":
		return a.Dead
	case a.Ctx.Err() != nil:
		if _, ok := errors.AsType[*mcp.Limit](context.Cause(a.Ctx)); ok {
			return "the run's time is over (--budget " + a.options.Budget.String() + ")"
		}
		return "the run was ended early"
	case a.exhausted:
		return "the run reached the limit of calls (--max-calls " + strconv.Itoa(a.options.MaxCalls) + ")"
	}
	return ""
}

// EndedBefore returns the reason why something was not tested.
func (a *caller) EndedBefore() string {
	if why := a.Ending(); why != "" {
		return why
	}
	return "the run ended before"
}

// CutsShort records that the run ended before it had tested everything that the rows
// need. Their missing cases are then not the adapter's fault.
func (a *caller) CutsShort(tests ...string) {
	for _, id := range tests {
		a.Short[id] = cmp.Or(a.Short[id], a.EndedBefore())
	}
}

// Redact returns a value in the form in which it may be stored.
func (a *caller) Redact(v jsonv.Value) jsonv.Value { return evidence.RedactKeys(v, a.Sensitive) }

// Noted returns an answer in the form in which it may be stored.
func (a *caller) Noted(r Reply) jsonv.Value { return a.Redact(r.Response()) }

// An adapter is abandoned after this many consecutive calls without an answer, and an
// operation after fewer, because a run must end.
const (
	maxTimeouts = 4
	maxSilent   = 2
)
