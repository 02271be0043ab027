package guard

import (
	"context"
	"errors"
	"slices"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/evidence"
	"mcptest/internal/mcpaql/live/catalog"
)

// TokenParameters returns the documented names of the parameter that carries a token;
// the documents disagree (OPS 7.5.3, DL 4.3).
func TokenParameters() []string { return []string{"confirmation_token", "_confirmation"} }

// ConfirmationRequired is the error code of an operation that has to be confirmed.
const ConfirmationRequired = "CONFIRMATION_REQUIRED"

// confirmed repeats a refused call with the token of the refusal if the run may: when
// the user allowed it, and always to remove the run's own items.
func (a *caller) confirmed(ctx context.Context, r Reply) Reply {
	if r.Code() != ConfirmationRequired {
		return r
	}
	a.Gated = true
	params := r.Args.Lookup("params")
	mayAnswer := a.options.Confirm && (a.options.Mode == ModeWrite || a.options.Mode == ModeFull)
	if !mayAnswer && !a.Cleaning || slices.ContainsFunc(TokenParameters(), func(k string) bool { return !params.Lookup(k).IsAbsent() }) {
		return r
	}
	token := a.checkToken(r)
	if token == "" {
		return r
	}
	keys := TokenParameters()
	if a.TokenKey != "" {
		keys = []string{a.TokenKey}
	}
	for _, key := range keys {
		again := a.SendNow(ctx, Reply{Tool: r.Tool, Args: r.Args.With("params", params.With(key, jsonv.String(token)))})
		if again.UnknownParameter(key) || again.Code() == ConfirmationRequired {
			continue
		}
		if again.OK() {
			a.TokenKey = key
		}
		return again
	}
	a.rows.Fail("confirmation.works", r, "%s asks for a confirmation and does not accept the token that it issued", r.operation())
	return r
}

var tokenForm = evidence.Pattern(`^(conf|quota_continue)_[A-Za-z0-9_-]{1,64}$`)

// checkToken checks the form of a token and returns it.
func (a *caller) checkToken(r Reply) string {
	a.rows.Count("confirmation")
	token, expires := r.Token()
	switch n := len(token); {
	case token == "":
		a.rows.Fail("confirmation.token", r, "%s asks for a confirmation and issues no token", r.operation())
	case n < 8 || n > 80 || !tokenForm().MatchString(token):
		a.rows.Fail("confirmation.token", r, "the token of %s is not conf_ or quota_continue_ and up to 64 letters, digits, _ and -", r.operation())
	}
	switch at, err := time.Parse(time.RFC3339, expires); {
	case token == "":
	case err != nil:
		a.rows.Fail("confirmation.expires", r, "the token of %s has no expires_at that is a date and time", r.operation())
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

// unlimited repeats a call once that was refused by the rate limit, after the time
// that the refusal names. If it is refused again, it counts as not sent: nothing is
// known about the operation.
func (a *caller) unlimited(ctx context.Context, r Reply) Reply {
	d := r.retryAfter()
	if r.rateLimited() && d <= maxRateWait && a.waited+d <= maxRateWaits && a.Tape.Pause(ctx, d) {
		a.waited += d
		r = a.SendNow(ctx, Reply{Tool: r.Tool, Args: r.Args})
	}
	if r.rateLimited() || r.busy() {
		r.limited, r.Cause = true, errLimited
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
	if reason := a.gate.Forbidden(args); reason != "" {
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
	return a.confirmed(ctx, a.unlimited(ctx, a.SendNow(ctx, r)))
}

// Introspect sends an introspection request.
func (a *caller) Introspect(params ...any) Reply {
	return a.Send(a.catalog.Reader, jsonv.ObjectOf("operation", "introspect", "params", jsonv.ObjectOf(params...)))
}
