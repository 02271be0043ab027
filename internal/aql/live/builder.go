package live

import (
	"errors"
	"strings"

	"mcptest/internal/jsonv"
)

const maxHarvested = 20

// harvestLists calls the operations that list things, and keeps what they
// answer as identifiers for other operations.
func (b *builder) harvestLists() {
	for _, op := range b.run.catalog.ops {
		if op.category != "READ" || b.run.skipped[op.name] != "" || op.idParam() != nil || op.name == "introspect" {
			continue
		}
		if op.verb != "list" && op.verb != "get" && op.verb != "search" && !strings.HasSuffix(op.resource, "s") {
			continue
		}
		params, why := b.params(op)
		if why != "" {
			continue
		}
		r := b.run.caller.call(op, params)
		if !r.ok() {
			continue
		}
		b.first[op.name] = r
		keys := b.harvest[op.resource]
		if keys == nil {
			keys = map[string][]jsonv.Value{}
			b.harvest[op.resource] = keys
		}
		for _, item := range items(r.data(), listDepth) {
			for k, v := range item.Members() {
				if kind := v.Kind(); (kind == jsonv.KindString || kind == jsonv.KindNumber) && len(keys[k]) < maxHarvested {
					keys[k] = append(keys[k], v)
				}
			}
		}
	}
}

// harvested finds an identifier that the adapter itself gave.
func (b *builder) harvested(op *liveOp, p liveParam) (jsonv.Value, bool) {
	resource := op.resource
	if stem, ok := strings.CutSuffix(p.name, "_id"); ok && stem != "" {
		resource = stem
	}
	// The collector's maps are walked in the order of the operations, so that
	// the same adapter gets the same requests.
	for _, lister := range b.run.catalog.ops {
		keys := b.harvest[lister.resource]
		if keys == nil || !sameResource(lister.resource, resource) {
			continue
		}
		for _, key := range []string{p.name, "id", "name", "slug"} {
			if len(keys[key]) > 0 && b.run.catalog.fits(p, keys[key][0]) == "" {
				return keys[key][0], true
			}
		}
	}
	return jsonv.Value{}, false
}

// params builds the required parameters of an operation; why says what is in
// the way.
func (b *builder) params(op *liveOp) (out jsonv.Value, why string) {
	out = jsonv.Object()
	if (op.category == "UPDATE" || op.category == "DELETE") && b.run.catalog.atMostOne(op) {
		if _, err := b.ownThing(op, func(createdThing) bool { return true }); err != nil {
			return out, err.Error()
		}
	}
	for _, p := range op.params {
		if !p.required {
			continue
		}
		v, err := b.required(op, p)
		if err != nil {
			return out, err.Error()
		}
		out = out.With(p.name, v)
	}
	return b.run.maker.marking(op, out, ""), ""
}

func (b *builder) required(op *liveOp, p liveParam) (jsonv.Value, error) {
	if v, ok := b.run.o.Values.Lookup(op.name).Get(p.name); ok {
		return v, nil
	}
	if x := op.executionParam(); x != nil && x.name == p.name {
		if v, err := b.run.executor.someExecution(op); err == nil || op.category != "READ" {
			return v, err
		}
	}
	switch {
	case op.isIdentifier(p) && (op.category == "UPDATE" || op.category == "DELETE"):
		return b.own(op, p)
	case op.isIdentifier(p) && op.category == "EXECUTE" && b.run.catalog.creator(op) != nil:
		return b.own(op, p)
	case op.isIdentifier(p):
		if v, ok := b.harvested(op, p); ok {
			return v, nil
		}
	case op.category == "UPDATE" && p.name == "input":
		return b.someInput(op), nil
	}
	return b.run.maker.value(op, p, p.name)
}

// someInput is an object with one field that the resource has.
func (b *builder) someInput(op *liveOp) jsonv.Value {
	if create := b.run.catalog.creator(op); create != nil {
		for _, p := range create.params {
			if b.run.catalog.jsonKind(p) == "string" && p.v.Lookup("enum").IsAbsent() && !p.sensitive {
				if v, err := b.run.maker.value(create, p, "changed"); err == nil {
					return jsonv.Object(jsonv.Member{Key: p.name, Value: v})
				}
			}
		}
	}
	return jsonv.Object()
}

// builder builds the required parameters of an operation, with identifiers that the
// adapter listed or that the run created.
type builder struct {
	run     *collector
	harvest map[string]map[string][]jsonv.Value // resource → key → values
	first   map[string]reply                    // what lists answered before anything else was called
}

var errNoResource = errors.New("the run created nothing that it could name")

// own returns the identifier of something that this run created, creating it
// when there is nothing yet.
func (b *builder) own(op *liveOp, p liveParam) (jsonv.Value, error) {
	t, err := b.ownThing(op, func(t createdThing) bool { return b.run.catalog.fits(p, t.id) == "" })
	return t.id, err
}

func (b *builder) ownThing(op *liveOp, fits func(createdThing) bool) (createdThing, error) {
	for _, other := range b.run.catalog.ops {
		things := b.run.keeper.ledger.things[other.resource]
		if !sameResource(other.resource, op.resource) {
			continue
		}
		for i := len(things) - 1; i >= 0; i-- {
			if fits(things[i]) && b.run.maker.common(op, things[i].with) {
				return things[i], nil
			}
		}
	}
	create := b.run.catalog.creator(op)
	if create == nil || b.run.gate.barred(create) != "" {
		return createdThing{}, errNoResource
	}
	params, why := b.params(create)
	if why != "" {
		return createdThing{}, errors.New(why)
	}
	r := b.run.keeper.attempt(create, params)
	if things := b.run.keeper.ledger.things[create.resource]; r.ok() && len(things) > 0 {
		return things[len(things)-1], nil
	}
	if !r.sent() && r.cause != nil {
		return createdThing{}, r.cause
	}
	return createdThing{}, errNoResource
}

// fresh is the required parameters anew: a delete has used up what the last
// ones named.
func (b *builder) fresh(op *liveOp) jsonv.Value {
	params, _ := b.params(op)
	return params
}
