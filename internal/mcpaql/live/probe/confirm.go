package probe

import (
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/live/catalog"
	"mcptest/internal/mcpaql/live/guard"
)

// Some adapters perform a dangerous operation only when it is requested twice: the
// first call is refused with a token, and the second one sends the token back (CT
// 1.3).

// confirmationProbe tests confirmation tokens.
type confirmationProbe struct{ run *guard.Run }

// probeConfirmation tests whether the tokens of an operation protect it. It is called
// for operations that the run may confirm.
func (p confirmationProbe) probeConfirmation(op *catalog.Operation) {
	params, why := p.run.Builder.BuildParams(op)
	if p.run.Caller.TokenKey == "" || why != "" || p.run.Gate.ExplainForbidden(op.Request(params)) != "" {
		return
	}
	if r := p.confirm(op, params, "conf_"+strings.Repeat("0", 32)); r.IsOK() {
		p.run.Rows.Fail("confirmation.unknown", r, "%s accepts a token that was never issued", op.Name)
		params = p.run.Builder.RebuildParams(op)
	} else {
		p.run.AddErrorTest(op.Name+" with a token that was never issued", r)
	}
	token := p.requestToken(op, params)
	if token == "" {
		return
	}
	if other := p.findOtherTarget(op, params); !other.IsAbsent() {
		if r := p.confirm(op, other, token); r.IsOK() {
			p.run.Rows.Fail("confirmation.scope", r, "%s accepts the token of another call", op.Name)
		}
	}
	token = p.requestToken(op, params) // the one before may be used up
	if token == "" {
		return
	}
	first := p.confirm(op, params, token)
	if !first.IsOK() {
		return
	}
	if again := p.confirm(op, params, token); again.IsOK() {
		p.run.Rows.Fail("confirmation.once", again, "%s accepts a token twice", op.Name)
	}
}

// requestToken makes a call without a token, and returns the one that is asked for.
func (p confirmationProbe) requestToken(op *catalog.Operation, params jsonv.Value) string {
	r := p.run.Caller.SendNow(p.run.Caller.Ctx, guard.Reply{Tool: op.Tool, Args: op.Request(params)})
	token, _ := r.Token()
	return token
}

// confirm makes a call with a token.
func (p confirmationProbe) confirm(op *catalog.Operation, params jsonv.Value, token string) guard.Reply {
	return p.run.Keeper.Attempt(op, params.With(p.run.Caller.TokenKey, jsonv.String(token)))
}

// findOtherTarget returns parameters that name a different item; it returns an absent
// value if there is none that may be sent.
func (p confirmationProbe) findOtherTarget(op *catalog.Operation, params jsonv.Value) jsonv.Value {
	id := op.FindIDParam()
	create := p.run.Catalog.FindCreator(op)
	if id == nil || create == nil || p.run.Gate.ExplainBarred(create) != "" {
		return jsonv.Value{}
	}
	if made, why := p.run.Builder.BuildParams(create); why != "" || !p.run.Keeper.Attempt(create, made).IsOK() {
		return jsonv.Value{}
	}
	for _, t := range p.run.Ledger.ListThings(create.Resource) {
		if !jsonv.Equal(t.ID, params.Lookup(id.Name)) {
			return params.With(id.Name, t.ID)
		}
	}
	return jsonv.Value{}
}

// explainNoConfirmation records why the row has no cases.
func (p confirmationProbe) explainNoConfirmation() {
	t := p.run.Rows.Tests["confirmation"]
	switch {
	case t.Cases > 0:
	case p.run.Options.Mode == guard.ModeSafe:
		t.Incomplete = "mode safe calls nothing that has to be confirmed"
	case !p.run.Caller.Gated:
		t.NotApplicable = "no operation asked for a confirmation"
	default:
		t.Incomplete = "operations ask for a confirmation, and --confirm was not given"
	}
}

// requestConfirmation requests a token and leaves it unused: a new session must not know
// it (D 2.3.3). It returns a function that sends the confirmed call; nil if no operation
// on the run's own items asks for one.
func (p confirmationProbe) requestConfirmation() func() guard.Reply {
	for _, op := range p.run.Catalog.Operations {
		if !p.run.Gates[op.Name] || p.run.Caller.TokenKey == "" || p.run.Gate.ExplainBarred(op) != "" {
			continue
		}
		params, why := p.run.Builder.BuildParams(op)
		args := op.Request(params)
		if why != "" || p.run.Gate.ExplainForbidden(args) != "" {
			continue
		}
		token, _ := p.run.Caller.SendNow(p.run.Caller.Ctx, guard.Reply{Tool: op.Tool, Args: args}).Token()
		if token != "" {
			return func() guard.Reply {
				confirmed := params.With(p.run.Caller.TokenKey, jsonv.String(token))
				return p.run.Keeper.AttemptOn(op.Tool, op, args.With("params", confirmed))
			}
		}
	}
	return nil
}
