package live

import (
	"context"
	"slices"
	"time"

	"mcptest/internal/aql/evidence"
	"mcptest/internal/jsonv"
)

// tokenParameters are the names that the documents give the parameter that
// carries a token; they disagree (OPS 7.5.3, DL 4.3).
func tokenParameters() []string { return []string{"confirmation_token", "_confirmation"} }

const confirmationRequired = "CONFIRMATION_REQUIRED"

// token is the token of a refusal, and when it expires.
func (r reply) token() (token, expires string) {
	for _, at := range []jsonv.Value{r.env.Lookup("error", "details"), r.env.Lookup("confirmation")} {
		for _, key := range []string{"confirmation_token", "token"} {
			if s := at.Lookup(key).Text(); s != "" && token == "" {
				token, expires = s, at.Lookup("expires_at").Text()
			}
		}
	}
	return token, expires
}

// confirmed repeats a call with the token that it was refused with, where the
// run may: when the user said so, and always to remove what the run made.
func (a *caller) confirmed(ctx context.Context, r reply) reply {
	if r.code() != confirmationRequired {
		return r
	}
	a.gated = true
	params := r.args.Lookup("params")
	mayAnswer := a.run.o.Confirm && (a.run.o.Mode == ModeWrite || a.run.o.Mode == ModeFull)
	if !mayAnswer && !a.run.cleaner.cleaning || slices.ContainsFunc(tokenParameters(), func(k string) bool { return !params.Lookup(k).IsAbsent() }) {
		return r
	}
	token := a.checkToken(r)
	if token == "" {
		return r
	}
	keys := tokenParameters()
	if a.tokenKey != "" {
		keys = []string{a.tokenKey}
	}
	for _, key := range keys {
		again := a.sendNow(ctx, reply{tool: r.tool, args: r.args.With("params", params.With(key, jsonv.String(token)))})
		if again.unknownParameter(key) || again.code() == confirmationRequired {
			continue
		}
		if again.ok() {
			a.tokenKey = key
		}
		return again
	}
	a.run.rows.breaks("confirmation.works", r, "%s asks for a confirmation and does not accept the token that it issued", r.operation())
	return r
}

func (r reply) operation() string { return r.args.Lookup("operation").Text() }

var tokenForm = evidence.Pattern(`^(conf|quota_continue)_[A-Za-z0-9_-]{1,64}$`)

// checkToken looks at the form of a token, and returns it.
func (a *caller) checkToken(r reply) string {
	a.run.rows.sees("confirmation")
	token, expires := r.token()
	switch n := len(token); {
	case token == "":
		a.run.rows.breaks("confirmation.token", r, "%s asks for a confirmation and issues no token", r.operation())
	case n < 8 || n > 80 || !tokenForm().MatchString(token):
		a.run.rows.breaks("confirmation.token", r, "the token of %s is not conf_ or quota_continue_ and up to 64 letters, digits, _ and -", r.operation())
	}
	at, err := time.Parse(time.RFC3339, expires)
	switch {
	case token == "":
	case err != nil:
		a.run.rows.breaks("confirmation.expires", r, "the token of %s has no expires_at that is a date and time", r.operation())
	case at.Before(a.tape.Now().Add(-time.Minute)):
		a.run.rows.breaks("confirmation.expires", r, "the token of %s expired before it was issued", r.operation())
	}
	return token
}
