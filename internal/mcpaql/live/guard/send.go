package guard

import (
	"context"
	"errors"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
	"mcptest/internal/mcpaql/live/catalog"
)

var errOutOfBudget = errors.New("the run's budget is exhausted")

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
	if r.Cause = a.checkBudget(ctx); r.Cause != nil {
		return r
	}
	a.wait(ctx)
	a.Calls++
	a.noteGiven(r.Args)
	r.Number = len(a.Transcript) + 1
	params := jsonv.ObjectOf("name", r.Tool, "arguments", r.Args)
	op := a.catalog.FindOperation(r.operation())
	parent := ctx
	if op != nil && op.Category == "CREATE" {
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
	a.ledger.track(op, r)
	a.dates.watch(op, r)
	a.appendTranscript(r, x)
	a.checkConduct(r, x)
	return r
}

// checkBudget returns why no more calls are sent; nil while they are.
func (a *caller) checkBudget(ctx context.Context) error {
	switch {
	case a.Dead != "":
		return errors.New(a.Dead)
	case ctx.Err() != nil:
		return errOutOfBudget
	case a.Calls >= a.options.MaxCalls && !a.Cleaning:
		a.exhausted = true
		return errOutOfBudget
	}
	return nil
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
