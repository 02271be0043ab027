package live

import (
	"strings"

	"mcptest/internal/aql/evidence"
	"mcptest/internal/aql/reference"
	"mcptest/internal/jsonv"
)

// Documented defaults: leaving a parameter out has to mean its default.

// defaults sees whether leaving a parameter out means its default.
func (pr operationProbe) defaults(op *liveOp, base reply) {
	if !base.ok() {
		return
	}
	for _, p := range op.params {
		def, has := p.v.Get("default")
		if !has || p.required || def.Kind() == jsonv.KindNull {
			continue
		}
		r := pr.run.caller.call(op, pr.run.builder.fresh(op).With(p.name, def))
		if !r.ok() {
			continue
		}
		same := !pr.run.steady.differs(op, base, r)
		path := echo(base.env, p.name, "", 4)
		response := pr.run.caller.noted(base)
		want := def
		switch {
		case path != "" && (same == jsonv.Equal(reference.Walk(base.env, path), def)):
		case !same || pr.observable(op, p, def, base):
			path, want = evidence.DefaultEquivalent, jsonv.Bool(true)
			response = response.With("_conformance", jsonv.Object(jsonv.Member{Key: "default_equivalent", Value: jsonv.Bool(same)}))
		default:
			pr.run.rows.leaves("defaults", op.name, p.name, "the default is consistent with the answers, but no other value changed them")
			continue
		}
		pr.run.e.OptionalDefaults = append(pr.run.e.OptionalDefaults, evidence.DefaultCase{Operation: op.name, Parameter: p.name, Path: path, Expected: want, Response: response, Request: pr.run.caller.redact(base.args), Call: base.n})
	}
}

// observable says that another value of a parameter changes the answer.
func (pr operationProbe) observable(op *liveOp, p liveParam, def jsonv.Value, base reply) bool {
	var other []jsonv.Value
	if v, given := pr.run.o.Values.Lookup(op.name).Get(p.name); given {
		other = append(other, v)
	}
	switch def.Kind() {
	case jsonv.KindNumber:
		if n, ok := def.Int64(); ok {
			other = append(other, jsonv.Int(n+1), jsonv.Int(n-1), jsonv.Int(1))
		}
	case jsonv.KindBool:
		other = append(other, jsonv.Bool(!def.Bool()))
	case jsonv.KindString:
		for _, e := range p.v.Lookup("enum").Elems() {
			if !jsonv.Equal(e, def) {
				other = append(other, e)
			}
		}
	}
	for i, v := range other {
		if i == 4 || pr.run.catalog.fits(p, v) != "" || jsonv.Equal(v, def) {
			continue
		}
		if r := pr.run.caller.call(op, pr.run.builder.fresh(op).With(p.name, v)); r.ok() && pr.run.steady.differs(op, base, r) {
			return true
		}
	}
	return false
}

// echo finds where an answer repeats a parameter; "" when it does not.
func echo(v jsonv.Value, name, path string, depth int) string {
	if v.Kind() != jsonv.KindObject || depth == 0 {
		return ""
	}
	for k, e := range v.Members() {
		at := strings.TrimPrefix(path+"."+k, ".")
		if k == name && e.Kind() != jsonv.KindObject && e.Kind() != jsonv.KindArray {
			return at
		}
		if found := echo(e, name, at, depth-1); found != "" {
			return found
		}
	}
	return ""
}

// createdDefaults compares what a create with the required parameters alone
// stored with the documented defaults of the others.
func (pr operationProbe) createdDefaults(op *liveOp) {
	things := pr.run.keeper.ledger.things[op.resource]
	y := pr.run.gate.cycleOf(op)
	if y == nil || len(things) == 0 {
		return
	}
	y.thing = things[len(things)-1]
	var back reply
	for _, p := range op.params {
		def, has := p.v.Get("default")
		if !has || p.required || def.Kind() == jsonv.KindNull {
			continue
		}
		if back.n == 0 {
			back = cycleProbe{pr.run}.readBack(y)
		}
		prefix, thing := y.place(back.env)
		if !back.ok() || thing.Lookup(p.name).IsAbsent() {
			pr.run.rows.leaves("defaults", op.name, p.name, "what was created does not show it")
			continue
		}
		pr.run.e.OptionalDefaults = append(pr.run.e.OptionalDefaults, evidence.DefaultCase{Operation: op.name, Parameter: p.name, Path: prefix + "." + p.name, Expected: def, Response: pr.run.caller.noted(back), Request: pr.run.caller.redact(back.args), Call: back.n})
	}
}
