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
	ask := func(params jsonv.Value) string {
		r := p.run.Caller.SendNow(p.run.Caller.Ctx, guard.Reply{Tool: op.Tool, Args: op.Request(params)})
		token, _ := r.Token()
		return token
	}
	with := func(params jsonv.Value, token string) guard.Reply {
		return p.run.Keeper.Attempt(op, params.With(p.run.Caller.TokenKey, jsonv.String(token)))
	}
	params, why := p.run.Builder.Params(op)
	if p.run.Caller.TokenKey == "" || why != "" || p.run.Gate.Forbidden(op.Request(params)) != "" {
		return
	}
	if r := with(params, "conf_"+strings.Repeat("0", 32)); r.OK() {
		p.run.Rows.Fail("confirmation.unknown", r, "%s accepts a token that was never issued", op.Name)
		params = p.run.Builder.Fresh(op)
	} else {
		p.run.Failed(op.Name+" with a token that was never issued", r)
	}
	token := ask(params)
	if token == "" {
		return
	}
	if other := p.otherTarget(op, params); !other.IsAbsent() {
		if r := with(other, token); r.OK() {
			p.run.Rows.Fail("confirmation.scope", r, "%s accepts the token of another call", op.Name)
		}
	}
	if token = ask(params); token == "" {
		return
	}
	if r := with(params, token); !r.OK() {
		return
	}
	if r := with(params, token); r.OK() {
		p.run.Rows.Fail("confirmation.once", r, "%s accepts a token twice", op.Name)
	}
}

// otherTarget returns parameters that name a different item; it returns an absent
// value if there is none that may be sent.
func (p confirmationProbe) otherTarget(op *catalog.Operation, params jsonv.Value) jsonv.Value {
	id := op.IDParam()
	create := p.run.Catalog.Creator(op)
	if id == nil || create == nil || p.run.Gate.Barred(create) != "" {
		return jsonv.Value{}
	}
	if made, why := p.run.Builder.Params(create); why != "" || !p.run.Keeper.Attempt(create, made).OK() {
		return jsonv.Value{}
	}
	for _, t := range p.run.Ledger.Things(create.Resource) {
		if !jsonv.Equal(t.ID, params.Lookup(id.Name)) {
			return params.With(id.Name, t.ID)
		}
	}
	return jsonv.Value{}
}

// confirmationRow records why the row has no cases.
func (p confirmationProbe) confirmationRow() {
	switch t := p.run.Rows.Tests["confirmation"]; {
	case t.Cases > 0:
	case p.run.Options.Mode == guard.ModeSafe:
		t.Incomplete = "mode safe calls nothing that has to be confirmed"
	case !p.run.Caller.Gated:
		t.NotApplicable = "no operation asked for a confirmation"
	default:
		t.Incomplete = "operations ask for a confirmation, and --confirm was not given"
	}
}

// pending is a confirmed call that has not been sent yet. A new session must not know
// its token (D 2.3.3).
type pending struct {
	op   *catalog.Operation
	args jsonv.Value
}

// pendingConfirmation requests a token and leaves it unused. It returns nil if no
// operation on the run's own items asks for one.
func (p confirmationProbe) pendingConfirmation() *pending {
	for _, op := range p.run.Catalog.Operations {
		if !p.run.Gates[op.Name] || p.run.Caller.TokenKey == "" || p.run.Gate.Barred(op) != "" {
			continue
		}
		params, why := p.run.Builder.Params(op)
		args := op.Request(params)
		if why != "" || p.run.Gate.Forbidden(args) != "" {
			continue
		}
		if token, _ := p.run.Caller.SendNow(p.run.Caller.Ctx, guard.Reply{Tool: op.Tool, Args: args}).Token(); token != "" {
			return &pending{op, args.With("params", params.With(p.run.Caller.TokenKey, jsonv.String(token)))}
		}
	}
	return nil
}
