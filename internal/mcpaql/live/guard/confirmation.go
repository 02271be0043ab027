package guard

import (
	"context"
	"slices"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/evidence"
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
	if !mayAnswer && !a.Cleaning {
		return r
	}
	hasToken := slices.ContainsFunc(ListTokenParameters(), func(key string) bool {
		return !params.Lookup(key).IsAbsent()
	})
	if hasToken {
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
