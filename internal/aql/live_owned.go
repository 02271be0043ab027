package aql

import (
	"slices"

	"mcptest/internal/jsonv"
)

// What an answer to a create names is not believed: an adapter may answer
// with something that was there before. A thing is the run's own when it was
// not listed before the run, and a read of it shows the run's mark. Nothing
// else is ever changed or removed.

// doubtfulThing is a create that succeeded, and whose thing could not be read
// at once.
type doubtfulThing struct {
	op     *liveOp
	params jsonv.Value
	answer reply
}

// ownership is what is known of a thing that an answer names.
type ownership int

const (
	foreign ownership = iota // it is not, or not known to be, the run's own
	owned
	undecided // it could not be read now
)

// keepCreated notes what a create made, so that it is removed again.
func (c *collector) keepCreated(op *liveOp, params jsonv.Value, r reply) {
	switch thing, what := c.identify(op, params, r); what {
	case owned:
		if slices.ContainsFunc(c.created[op.resource], thing.equal) {
			return
		}
		c.created[op.resource] = append(c.created[op.resource], thing)
		if c.o.Journal != nil {
			_ = c.o.Journal.Created(op.name, c.idKey(op), thing.id, thing.with)
		}
	case undecided:
		c.doubtful = append(c.doubtful, doubtfulThing{op, params, r})
	case foreign:
		c.disown(op, r)
	}
}

// disown tells of a create whose answer does not name anything of the run.
func (c *collector) disown(op *liveOp, r reply) {
	c.breaks("consistency.created", r, "the answer to %s names nothing that is new and holds what was sent; the run leaves it alone", op.name)
	c.leftovers = append(c.leftovers, jsonv.Object(textMember("operation", op.name), jsonv.Member{Key: "call", Value: jsonv.Int(int64(r.n))},
		textMember("reason", "the answer does not say what was created")))
}

// findDoubtful decides at the end of a run what could not be read before.
func (c *collector) findDoubtful() {
	list := c.doubtful
	c.doubtful = nil
	for _, d := range list {
		before := len(c.doubtful)
		c.keepCreated(d.op, d.params, d.answer)
		if len(c.doubtful) > before {
			c.doubtful = c.doubtful[:before]
			c.leftovers = append(c.leftovers, jsonv.Object(textMember("operation", d.op.name), jsonv.Member{Key: "call", Value: jsonv.Int(int64(d.answer.n))},
				textMember("reason", "what was created could not be read any more")))
		}
	}
}

// identify finds what a create made among what its answer names, and else in
// the resource's list.
func (c *collector) identify(op *liveOp, params jsonv.Value, r reply) (createdThing, ownership) {
	remove := c.remover(op)
	thing := createdThing{with: c.with(op, remove, params)}
	if c.atMostOne(op) {
		return thing, c.ownership(op, thing)
	}
	what := foreign
	for _, id := range c.namedIDs(op, params, r) {
		thing.id = id
		switch c.ownership(op, thing) {
		case owned:
			return thing, owned
		case undecided:
			what = undecided
		case foreign:
		}
	}
	if thing.id = c.onlyNew(op, remove); !thing.id.IsAbsent() {
		return thing, owned
	}
	return thing, what
}

// ownership says whether a thing is the run's own. Reading it costs no call
// of the run's budget: what was created has to be known.
func (c *collector) ownership(op *liveOp, t createdThing) ownership {
	mine := []Left{{RunID: c.o.RunID}}
	switch {
	case slices.ContainsFunc(c.created[op.resource], t.equal):
		return owned
	case c.knownBefore(op, t.id):
		return foreign
	case carries(t.id, mine):
		return owned
	}
	before := c.cleaning
	c.cleaning = true
	defer func() { c.cleaning = before }()
	get := c.partner("get", "READ", op.resource)
	if c.atMostOne(op) {
		get = c.exact("get", "READ", op.resource)
	} else if get != nil && get.idParam() == nil {
		get = nil
	}
	if get == nil || c.barred(get) != "" {
		return foreign // the list tells, see onlyNew
	}
	switch r := c.call(get, t.naming(get, c.fresh(get))); {
	case r.ok() && carries(r.data(), mine):
		return owned
	case !r.heard():
		return undecided
	}
	return foreign
}

// knownBefore says that an identifier stood in a list before the run created
// anything.
func (c *collector) knownBefore(op *liveOp, id jsonv.Value) bool {
	if id.IsAbsent() {
		return false
	}
	if c.older[op.resource][id.String()] {
		return true
	}
	for _, lister := range c.ops {
		first, known := c.first[lister.name]
		if !known || !sameResource(lister.resource, op.resource) {
			continue
		}
		for _, item := range items(first.data(), listDepth) {
			for _, key := range c.idKeys(op) {
				if jsonv.Equal(item.Lookup(key), id) {
					return true
				}
			}
		}
	}
	return false
}

// idKeys are the members that may hold a resource's identifier.
func (c *collector) idKeys(op *liveOp) []string {
	return []string{c.idKey(op), "id", op.resource + "_id"}
}

// namedIDs lists the identifiers that the answer to a create names, the
// likeliest first.
func (c *collector) namedIDs(op *liveOp, params jsonv.Value, r reply) (ids []jsonv.Value) {
	add := func(v jsonv.Value) {
		if kind := v.Kind(); (kind == jsonv.KindString || kind == jsonv.KindNumber) && !slices.ContainsFunc(ids, func(o jsonv.Value) bool { return jsonv.Equal(o, v) }) {
			ids = append(ids, v)
		}
	}
	data := r.data()
	for _, at := range []jsonv.Value{data, data.Lookup(op.resource), data.Lookup("item"), params} {
		for _, k := range c.idKeys(op) {
			add(at.Lookup(k))
		}
	}
	add(data)
	return ids
}
