package live

import (
	"strings"

	"mcptest/internal/aql/evidence"
	"mcptest/internal/aql/reference"
	"mcptest/internal/jsonv"
)

// Documented defaults: leaving a parameter out has to mean its default.

// defaults sees whether leaving a parameter out means its default.
func (c *collector) defaults(op *liveOp, base reply) {
	if !base.ok() {
		return
	}
	for _, p := range op.params {
		def, has := p.v.Get("default")
		if !has || p.required || def.Kind() == jsonv.KindNull {
			continue
		}
		r := c.call(op, c.fresh(op).With(p.name, def))
		if !r.ok() {
			continue
		}
		same := !c.differs(op, base, r)
		path := echo(base.env, p.name, "", 4)
		response := c.noted(base)
		want := def
		switch {
		case path != "" && (same == jsonv.Equal(reference.Walk(base.env, path), def)):
		case !same || c.observable(op, p, def, base):
			path, want = evidence.DefaultEquivalent, jsonv.Bool(true)
			response = response.With("_conformance", jsonv.Object(jsonv.Member{Key: "default_equivalent", Value: jsonv.Bool(same)}))
		default:
			c.leaves("defaults", op.name, p.name, "the default is consistent with the answers, but no other value changed them")
			continue
		}
		c.e.OptionalDefaults = append(c.e.OptionalDefaults, evidence.DefaultCase{Operation: op.name, Parameter: p.name, Path: path, Expected: want, Response: response, Request: c.redact(base.args), Call: base.n})
	}
}

// observable says that another value of a parameter changes the answer.
func (c *collector) observable(op *liveOp, p liveParam, def jsonv.Value, base reply) bool {
	var other []jsonv.Value
	if v, given := c.o.Values.Lookup(op.name).Get(p.name); given {
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
		if i == 4 || c.fits(p, v) != "" || jsonv.Equal(v, def) {
			continue
		}
		if r := c.call(op, c.fresh(op).With(p.name, v)); r.ok() && c.differs(op, base, r) {
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
