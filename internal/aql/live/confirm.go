package live

import (
	"context"
	"slices"
	"strings"
	"time"

	"mcptest/internal/aql/evidence"
	"mcptest/internal/jsonv"
)

// Some adapters do a dangerous thing only when it is asked for twice: the
// first call is refused with a token, the second one brings the token along
// (CT 1.3).

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

// probeConfirmation sees what the tokens of an operation are worth. It is
// called for operations that the run may confirm.
func (p confirmationProbe) probeConfirmation(op *liveOp) {
	ask := func(params jsonv.Value) string {
		r := p.run.caller.sendNow(p.run.caller.ctx, reply{tool: op.tool, args: jsonv.Object(evidence.TextMember("operation", op.name), jsonv.Member{Key: "params", Value: params})})
		token, _ := r.token()
		return token
	}
	with := func(params jsonv.Value, token string) reply {
		return p.run.keeper.attempt(op, params.With(p.run.caller.tokenKey, jsonv.String(token)))
	}
	params, why := p.run.builder.params(op)
	if p.run.caller.tokenKey == "" || why != "" || p.run.gate.forbidden(jsonv.Object(evidence.TextMember("operation", op.name), jsonv.Member{Key: "params", Value: params})) != "" {
		return
	}
	if r := with(params, "conf_"+strings.Repeat("0", 32)); r.ok() {
		p.run.rows.breaks("confirmation.unknown", r, "%s accepts a token that was never issued", op.name)
		params = p.run.builder.fresh(op)
	} else {
		p.run.failed(op.name+" with a token that was never issued", r)
	}
	token := ask(params)
	if token == "" {
		return
	}
	if other := p.another(op, params); !other.IsAbsent() {
		if r := with(other, token); r.ok() {
			p.run.rows.breaks("confirmation.scope", r, "%s accepts the token of another call", op.name)
		}
	}
	if token = ask(params); token == "" {
		return
	}
	args := params
	if r := with(args, token); !r.ok() {
		return
	}
	if r := with(args, token); r.ok() {
		p.run.rows.breaks("confirmation.once", r, "%s accepts a token twice", op.name)
	}
}

// another is parameters that differ from some in what they name; absent when
// there are none that may be sent.
func (p confirmationProbe) another(op *liveOp, params jsonv.Value) jsonv.Value {
	id := op.idParam()
	create := p.run.catalog.creator(op)
	if id == nil || create == nil || p.run.gate.barred(create) != "" {
		return jsonv.Value{}
	}
	made, why := p.run.builder.params(create)
	if why != "" || !p.run.keeper.attempt(create, made).ok() {
		return jsonv.Value{}
	}
	for _, t := range p.run.keeper.ledger.things[create.resource] {
		if !jsonv.Equal(t.id, params.Lookup(id.name)) {
			return params.With(id.name, t.id)
		}
	}
	return jsonv.Value{}
}

// confirmationRow says why the row has no cases.
func (p confirmationProbe) confirmationRow() {
	t := p.run.rows.tests["confirmation"]
	switch {
	case t.cases > 0:
	case p.run.o.Mode == ModeSafe:
		t.lacking = "mode safe calls nothing that has to be confirmed"
	case !p.run.caller.gated:
		t.moot = "no operation asked for a confirmation"
	default:
		t.lacking = "operations ask for a confirmation, and --confirm was not given"
	}
}

// pending is a confirmed call that has not been sent yet: what a new session
// must not know of (D 2.3.3).
type pending struct {
	op   *liveOp
	args jsonv.Value
}

// pendingConfirmation asks for a token and leaves it unused; nil when no
// operation of the run's own asks for one.
func (p confirmationProbe) pendingConfirmation() *pending {
	for _, op := range p.run.catalog.ops {
		if !p.run.gates[op.name] || p.run.caller.tokenKey == "" || p.run.gate.barred(op) != "" {
			continue
		}
		params, why := p.run.builder.params(op)
		args := jsonv.Object(evidence.TextMember("operation", op.name), jsonv.Member{Key: "params", Value: params})
		if why != "" || p.run.gate.forbidden(args) != "" {
			continue
		}
		if token, _ := p.run.caller.sendNow(p.run.caller.ctx, reply{tool: op.tool, args: args}).token(); token != "" {
			return &pending{op, args.With("params", params.With(p.run.caller.tokenKey, jsonv.String(token)))}
		}
	}
	return nil
}

// confirmationProbe tests confirmation tokens.
type confirmationProbe struct {
	run *collector
}
