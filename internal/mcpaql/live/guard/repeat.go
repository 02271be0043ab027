package guard

import (
	"context"
	"errors"
	"slices"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/evidence"
)

// TokenParameters returns the documented names of the parameter that carries a token;
// the documents disagree (OPS 7.5.3, DL 4.3).
func TokenParameters() []string { return []string{"confirmation_token", "_confirmation"} }

// ConfirmationRequired is the error code of an operation that has to be confirmed.
const ConfirmationRequired = "CONFIRMATION_REQUIRED"

// Token returns the token of a refusal and its expiry.
func (r Reply) Token() (token, expires string) {
	for _, at := range []jsonv.Value{r.Envelope.Lookup("error", "details"), r.Envelope.Lookup("confirmation")} {
		for _, key := range []string{"confirmation_token", "token"} {
			if s := at.Lookup(key).Text(); s != "" && token == "" {
				token, expires = s, at.Lookup("expires_at").Text()
			}
		}
	}
	return token, expires
}

// confirmed repeats a refused call with the token of the refusal if the run may: when
// the user allowed it, and always to remove the run's own items.
func (a *caller) confirmed(ctx context.Context, r Reply) Reply {
	if r.Code() != ConfirmationRequired {
		return r
	}
	a.Gated = true
	params := r.Args.Lookup("params")
	mayAnswer := a.run.Options.Confirm && (a.run.Options.Mode == ModeWrite || a.run.Options.Mode == ModeFull)
	if !mayAnswer && !a.run.Cleaner.Cleaning || slices.ContainsFunc(TokenParameters(), func(k string) bool { return !params.Lookup(k).IsAbsent() }) {
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
	a.run.Rows.Fail("confirmation.works", r, "%s asks for a confirmation and does not accept the token that it issued", r.operation())
	return r
}

func (r Reply) operation() string { return r.Args.Lookup("operation").Text() }

var tokenForm = evidence.Pattern(`^(conf|quota_continue)_[A-Za-z0-9_-]{1,64}$`)

// checkToken checks the form of a token and returns it.
func (a *caller) checkToken(r Reply) string {
	a.run.Rows.Count("confirmation")
	token, expires := r.Token()
	switch n := len(token); {
	case token == "":
		a.run.Rows.Fail("confirmation.token", r, "%s asks for a confirmation and issues no token", r.operation())
	case n < 8 || n > 80 || !tokenForm().MatchString(token):
		a.run.Rows.Fail("confirmation.token", r, "the token of %s is not conf_ or quota_continue_ and up to 64 letters, digits, _ and -", r.operation())
	}
	switch at, err := time.Parse(time.RFC3339, expires); {
	case token == "":
	case err != nil:
		a.run.Rows.Fail("confirmation.expires", r, "the token of %s has no expires_at that is a date and time", r.operation())
	case at.Before(a.Tape.Now().Add(-time.Minute)):
		a.run.Rows.Fail("confirmation.expires", r, "the token of %s expired before it was issued", r.operation())
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
