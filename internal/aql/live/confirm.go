package live

import (
	"strings"

	"mcptest/internal/aql/evidence"
	"mcptest/internal/jsonv"
)

// Some adapters do a dangerous thing only when it is asked for twice: the
// first call is refused with a token, the second one brings the token along
// (CT 1.3).

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
