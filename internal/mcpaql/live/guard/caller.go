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

// maxKeptTranscript is how many bytes of the transcript a run keeps.
const maxKeptTranscript = 16 << 20

// manyMessages is how many notifications during one call count as a flood.
const manyMessages = 1000

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
	Sensitive  map[string]bool // namesOwnThing of parameters that are never stored
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
	dates      *dateLog
	GivenSent  map[[2]string]bool // values of the user that were sent, by operation and parameter
}

// SendNow calls a tool once. It is the only place that sends calls: every request
// passes the gate and the budgets here.
func (a *caller) SendNow(ctx context.Context, r Reply) Reply {
	if !a.Ungated {
		if why := a.gate.explainRefusal(r.Args); why != "" {
			r.Barred, r.Cause = true, errors.New(why)
			return r
		}
		if op := a.catalog.FindOperation(r.operation()); op != nil && op.Risk > catalog.RiskRead {
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
	a.noteGiven(r.Args)
	r.Number = len(a.Transcript) + 1
	params := jsonv.ObjectOf("name", r.Tool, "arguments", r.Args)
	parent := ctx
	if op := a.catalog.FindOperation(r.Args.Lookup("operation").Text()); op != nil && op.Category == "CREATE" {
		var done func()
		ctx, done = extendContext(ctx)
		defer done()
	}
	callCtx, cancel := mcp.WithLimit(ctx, "--call-timeout", a.options.CallTimeout)
	x := a.Session.Do(callCtx, mcp.Call{Method: "tools/call", Params: params.Append(nil)})
	cancel()
	r.Silent = x.Cause != nil
	r.void = r.Silent && parent.Err() != nil
	a.readEnvelope(&r, x)
	a.ledger.track(a.catalog.FindOperation(r.operation()), r)
	a.dates.watch(a.catalog.FindOperation(r.operation()), r)
	a.appendTranscript(r, x)
	a.checkConduct(r, x)
	return r
}

// noteGiven notes which values of the user a call sends.
func (a *caller) noteGiven(args jsonv.Value) {
	name := args.Lookup("operation").Text()
	for param, v := range args.Lookup("params").Members() {
		if given, ok := a.options.FindGiven(name, param); ok && jsonv.Equal(given, v) {
			a.GivenSent[[2]string{name, param}] = true
		}
	}
}

// lastingTime is how long the run waits for a create after it was ended.
const lastingTime = 5 * time.Second

// extendContext returns a context that outlives its parent for a while. A create in flight
// is not abandoned with the run, because its answer names the item to remove.
func extendContext(parent context.Context) (context.Context, func()) {
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

// readEnvelope finds the envelope in an answer: the first text block that is an object with
// success, or else structuredContent.
func (a *caller) readEnvelope(r *Reply, x *mcp.Exchange) {
	if r.Cause = x.Cause; r.Cause != nil {
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
		env, err := jsonv.Parse([]byte(block.Lookup("text").Text()))
		if err == nil && !env.Lookup("success").IsAbsent() {
			r.Envelope = parseWrapped(env)
			break
		}
	}
	structured := v.Lookup("structuredContent")
	switch {
	case r.Envelope.IsAbsent() && !structured.Lookup("success").IsAbsent():
		r.Envelope = parseWrapped(structured)
	case !r.Envelope.IsAbsent() && structured.Kind() == jsonv.KindObject && !jsonv.Equal(parseWrapped(structured), r.Envelope):
		a.rows.Fail("envelopes.same", *r, "structuredContent is not what the text says")
	}
	a.rows.Count("envelopes")
	// The flag, and the place of a domain error (MCP 4.1, 4.2).
	isUsable := r.IsOK() || r.IsRefused() && r.IsDocumented()
	if !r.Envelope.IsAbsent() && r.raw.Lookup("isError").Bool() && isUsable {
		a.rows.Fail("envelopes.is-error", *r,
			"isError is true although the caller can act on the response (%s)", r.FormatBrief())
	}
}

// appendTranscript adds a call to the transcript.
func (a *caller) appendTranscript(r Reply, x *mcp.Exchange) {
	var whole jsonv.Value // the size of an answer that is not kept as a whole
	args, answer := a.Redact(r.Args), a.RedactAnswer(r).Without(evidence.Additions)
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

// checkConduct reports faults of the adapter outside its answers, and restarts it after it
// died.
func (a *caller) checkConduct(r Reply, x *mcp.Exchange) {
	a.rows.Count("conduct")
	if r.rpc != nil && r.rpc.Code != protocol.CodeInvalidParams {
		a.rows.Fail("envelopes.rpc", r,
			"the response is a JSON-RPC error instead of a result: %s", display.Truncate(r.rpc.Message, 120))
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
	_, ok := errors.AsType[*mcp.TimeoutError](r.Cause)
	switch {
	case ok && a.Ctx.Err() == nil:
		a.rows.Fail("conduct.answers", r, "no response within %s", a.options.CallTimeout)
		a.silent[name]++
		if a.silent[name] >= maxSilent {
			a.gate.Poison[name] = "it did not respond"
		}
		a.timeouts++
		if a.timeouts >= maxTimeouts {
			a.Dead = "too many calls got no response"
		}
	case r.Cause == nil:
		a.timeouts = 0
	}
	if !a.Session.IsAlive() {
		a.gate.Poison[name] = "the adapter ended when it was called"
		a.restart(r)
	}
}

// restart restarts a dead adapter, once.
func (a *caller) restart(r Reply) {
	a.rows.Fail("conduct.lives", r, "%s", display.Truncate(a.Session.Err().Error(), 200))
	a.Session.Close(context.WithoutCancel(a.Ctx))
	a.Restarts++
	if a.Restarts > 1 {
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

// ExplainEnding returns why a run ended early, "" when it did not.
func (a *caller) ExplainEnding() string {
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

// ExplainUntested returns the reason why something was not tested.
func (a *caller) ExplainUntested() string {
	return cmp.Or(a.ExplainEnding(), "the run ended before")
}

// CutShort records that the run ended before it had tested everything that the rows
// need. Their missing cases are then not the adapter's fault.
func (a *caller) CutShort(tests ...string) {
	for _, id := range tests {
		a.Short[id] = cmp.Or(a.Short[id], a.ExplainUntested())
	}
}

// Redact returns a value in the form in which it may be stored.
func (a *caller) Redact(v jsonv.Value) jsonv.Value { return evidence.RedactKeys(v, a.Sensitive) }

// RedactAnswer returns an answer in the form in which it may be stored.
func (a *caller) RedactAnswer(r Reply) jsonv.Value { return a.Redact(r.Response()) }

// An adapter is abandoned after this many consecutive calls without an answer, and an
// operation after fewer, because a run must end.
const (
	maxTimeouts = 4
	maxSilent   = 2
)

// ListTokenParameters returns the documented names of the parameter that carries a token;
// the documents disagree (OPS 7.5.3, DL 4.3).
func ListTokenParameters() []string { return []string{"confirmation_token", "_confirmation"} }

// ConfirmationRequired is the error code of an operation that has to be confirmed.
const ConfirmationRequired = "CONFIRMATION_REQUIRED"

// repeatConfirmed repeats a refused call with the token of the refusal if the run may: when
// the user allowed it, and always to remove the run's own items.
func (a *caller) repeatConfirmed(ctx context.Context, r Reply) Reply {
	if r.Code() != ConfirmationRequired {
		return r
	}
	a.Gated = true
	params := r.Args.Lookup("params")
	mayAnswer := a.options.Confirm && (a.options.Mode == ModeWrite || a.options.Mode == ModeFull)
	if !mayAnswer && !a.Cleaning || slices.ContainsFunc(ListTokenParameters(), func(k string) bool { return !params.Lookup(k).IsAbsent() }) {
		return r
	}
	token := a.checkToken(r)
	if token == "" {
		return r
	}
	keys := ListTokenParameters()
	if a.TokenKey != "" {
		keys = []string{a.TokenKey}
	}
	for _, key := range keys {
		again := a.SendNow(ctx, Reply{
			Tool: r.Tool,
			Args: r.Args.With("params", params.With(key, jsonv.String(token))),
		})
		if again.NamesUnknown(key) || again.Code() == ConfirmationRequired {
			continue
		}
		if again.IsOK() {
			a.TokenKey = key
		}
		return again
	}
	a.rows.Fail("confirmation.works", r,
		"%s asks for a confirmation and does not accept the token that it issued", r.operation())
	return r
}

var tokenForm = evidence.Pattern(`^(conf|quota_continue)_[A-Za-z0-9_-]{1,64}$`)

// checkToken checks the form of a token and returns it.
func (a *caller) checkToken(r Reply) string {
	a.rows.Count("confirmation")
	token, expires := r.Token()
	n := len(token)
	switch {
	case token == "":
		a.rows.Fail("confirmation.token", r, "%s asks for a confirmation and issues no token", r.operation())
	case n < 8 || n > 80 || !tokenForm().MatchString(token):
		a.rows.Fail("confirmation.token", r,
			"the token of %s is not conf_ or quota_continue_ and up to 64 letters, digits, _ and -", r.operation())
	}
	at, err := time.Parse(time.RFC3339, expires)
	switch {
	case token == "":
	case err != nil:
		a.rows.Fail("confirmation.expires", r,
			"the token of %s has no expires_at that is a date and time", r.operation())
	case at.Before(a.Tape.Now().Add(-time.Minute)):
		a.rows.Fail("confirmation.expires", r, "the token of %s expired before it was issued", r.operation())
	}
	return token
}

// How long a run waits for an adapter that limits the rate of calls: for one call,
// and in total.
const (
	maxRateWait  = 30 * time.Second
	maxRateWaits = 2 * time.Minute
)

var errLimited = errors.New("the adapter limits the rate of calls")

// repeatUnlimited repeats a call once that was refused by the rate limit, after the time
// that the refusal names. If it is refused again, it counts as not sent: nothing is
// known about the operation.
func (a *caller) repeatUnlimited(ctx context.Context, r Reply) Reply {
	d := r.retryAfter()
	if r.isRateLimited() && d <= maxRateWait && a.waited+d <= maxRateWaits && a.Tape.Pause(ctx, d) {
		a.waited += d
		r = a.SendNow(ctx, Reply{Tool: r.Tool, Args: r.Args})
	}
	if r.isRateLimited() || r.isBusy() {
		r.void, r.Cause = true, errLimited
	}
	return r
}

// Call sends an operation with its params.
func (a *caller) Call(op *catalog.Operation, params jsonv.Value) Reply {
	return a.Send(op.Tool, op.Request(params))
}

// Send calls a tool with arguments, unless the policy forbids it.
func (a *caller) Send(tool string, args jsonv.Value) Reply {
	r := Reply{Tool: tool, Args: args}
	if reason := a.gate.ExplainForbidden(args); reason != "" {
		r.Cause = errors.New(reason)
		r.Barred = a.gate.Poison[r.operation()] != reason
		return r
	}
	return a.exchange(a.Ctx, r)
}

// exchange calls a tool until there is an answer that counts. It waits when the
// adapter limits the rate, and confirms where the run may. The clean-up uses it too,
// with a context of its own.
func (a *caller) exchange(ctx context.Context, r Reply) Reply {
	return a.repeatConfirmed(ctx, a.repeatUnlimited(ctx, a.SendNow(ctx, r)))
}

// Introspect sends an introspection request.
func (a *caller) Introspect(params ...any) Reply {
	return a.Send(a.catalog.Reader, jsonv.ObjectOf("operation", "introspect", "params", jsonv.ObjectOf(params...)))
}
