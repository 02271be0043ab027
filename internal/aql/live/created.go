package live

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"mcptest/internal/aql/evidence"
	"mcptest/internal/jsonv"
)

// What a run created is known by identifier, and is gone when the run ends.

// createdThing is something that the run created: its identifier, absent
// where there is at most one, and what else names it.
type createdThing struct{ id, with jsonv.Value }

func (t createdThing) equal(o createdThing) bool {
	return jsonv.Equal(t.id, o.id) && t.with.Len() == o.with.Len() && (t.with.Len() == 0 || jsonv.Equal(t.with, o.with))
}

// naming adds what names a thing to parameters of an operation.
func (t createdThing) naming(op *liveOp, params jsonv.Value) jsonv.Value {
	for name, v := range t.with.Members() {
		if op.param(name) != nil {
			params = params.With(name, v)
		}
	}
	if id := op.idParam(); id != nil && !t.id.IsAbsent() {
		params = params.With(id.name, t.id)
	}
	return params
}

var errNoResource = errors.New("the run created nothing that it could name")

// intend tells the journal of a create before it is sent.
func (c *collector) intend(op *liveOp) error {
	if c.o.Journal == nil {
		return nil
	}
	if err := c.o.Journal.Intend(op.name, Marker(c.o.RunID)); err != nil {
		return fmt.Errorf("the journal cannot be kept, so nothing is created: %w", err)
	}
	return nil
}

// canMark says that what an operation creates can carry the run's mark, in
// one of the texts that it is created with.
func (c *collector) canMark(op *liveOp) bool {
	for _, p := range op.params {
		if v, err := c.value(op, p, p.name); err == nil && carries(v, c.mine()) {
			return true
		}
	}
	return false
}

// marking adds to parameters of a create one that carries the run's mark,
// unless they have one. without is a parameter that stays out.
func (c *collector) marking(op *liveOp, params jsonv.Value, without string) jsonv.Value {
	if !op.creates() || carries(params, c.mine()) {
		return params
	}
	for _, p := range op.params {
		if _, given := params.Get(p.name); given || p.name == without {
			continue
		}
		if v, err := c.value(op, p, p.name); err == nil && carries(v, c.mine()) {
			return params.With(p.name, v)
		}
	}
	return params
}

// onlyNew looks in the resource's list for the one marked thing that the run
// does not know yet.
func (c *collector) onlyNew(op, remove *liveOp) jsonv.Value {
	if remove == nil {
		return jsonv.Value{}
	}
	known := map[string]bool{}
	for _, t := range c.ledger.things[op.resource] {
		known[t.id.String()] = true
	}
	var fresh []jsonv.Value
	for _, t := range c.marked(op, c.mine()) {
		if !t.id.IsAbsent() && !known[t.id.String()] && !c.knownBefore(op, t.id) {
			fresh = append(fresh, t.id)
		}
	}
	if len(fresh) != 1 {
		return jsonv.Value{}
	}
	return fresh[0]
}

// idKey is the parameter by which the resource of an operation is deleted.
func (c *collector) idKey(op *liveOp) string {
	if d := c.partner("delete", "DELETE", op.resource); d != nil && d.idParam() != nil {
		return d.idParam().name
	}
	return "id"
}

// own returns the identifier of something that this run created, creating it
// when there is nothing yet.
func (c *collector) own(op *liveOp, p liveParam) (jsonv.Value, error) {
	t, err := c.ownThing(op, func(t createdThing) bool { return c.fits(p, t.id) == "" })
	return t.id, err
}

func (c *collector) ownThing(op *liveOp, fits func(createdThing) bool) (createdThing, error) {
	for _, other := range c.ops {
		things := c.ledger.things[other.resource]
		if !sameResource(other.resource, op.resource) {
			continue
		}
		for i := len(things) - 1; i >= 0; i-- {
			if fits(things[i]) && c.common(op, things[i]) {
				return things[i], nil
			}
		}
	}
	create := c.creator(op)
	if create == nil || c.barred(create) != "" {
		return createdThing{}, errNoResource
	}
	params, why := c.params(create)
	if why != "" {
		return createdThing{}, errors.New(why)
	}
	r := c.attempt(create, params)
	if things := c.ledger.things[create.resource]; r.ok() && len(things) > 0 {
		return things[len(things)-1], nil
	}
	if !r.sent() && r.cause != nil {
		return createdThing{}, r.cause
	}
	return createdThing{}, errNoResource
}

func (c *collector) forget(op *liveOp, params jsonv.Value) {
	var id jsonv.Value
	if p := op.idParam(); p != nil {
		id = params.Lookup(p.name)
	}
	c.ledger.remove(op.resource, id)
	if c.o.Journal != nil {
		_ = c.o.Journal.Deleted(c.idKey(op), id)
	}
}

// cleanUpTime is how long the clean-up of a run that was ended may take.
const cleanUpTime = 30 * time.Second

// cleanUp removes what the run created, latest first. It works after the
// run's own context ended. The last one sees that nothing else has changed.
func (c *collector) cleanUp(last bool) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.ctx), cleanUpTime)
	defer cancel()
	ctx = c.tape.Context(ctx)
	own, before := c.ctx, c.cleaning
	c.ctx, c.cleaning = ctx, true
	defer func() { c.ctx, c.cleaning = own, before }()
	c.endExecutions()
	c.findDoubtful()
	c.findLost()
	for i := len(c.ops) - 1; i >= 0; i-- {
		op := c.ops[i]
		things := c.ledger.things[op.resource]
		if op.category != "CREATE" || len(things) == 0 {
			continue
		}
		remove := c.remover(op)
		for k := len(things) - 1; k >= 0; k-- {
			c.removeOne(ctx, op, remove, things[k])
		}
		delete(c.ledger.things, op.resource)
	}
	if last {
		c.checkOthers()
	}
}

// findLost looks for what creates made whose answers never came: it has the
// run's marker. An adapter may still be at work on it, so it is looked for
// more than once.
func (c *collector) findLost() {
	lost := map[*liveOp]int{}
	for _, op := range c.lost {
		lost[op]++
	}
	c.lost = nil
	for _, op := range c.ops {
		if lost[op] == 0 || c.remover(op) == nil {
			continue
		}
		found := 0
		for _, d := range []time.Duration{0, 200 * time.Millisecond, time.Second, 3 * time.Second} {
			if found >= lost[op] || c.dead != "" || !c.tape.Pause(c.ctx, d) {
				break
			}
			found += c.watcher.addMarked(op)
		}
	}
}

func (c *collector) removeOne(ctx context.Context, op, remove *liveOp, t createdThing) {
	note := evidence.Object{evidence.TextMember("operation", op.name)}
	note.Set("id", t.id)
	if remove == nil {
		_, why := c.removal(op)
		note.Set("reason", jsonv.String(why))
		c.leftovers = append(c.leftovers, note.Value())
		return
	}
	params := jsonv.Object()
	for _, p := range remove.params {
		if p.required && !remove.isIdentifier(p) {
			if v, err := c.value(remove, p, p.name); err == nil {
				params = params.With(p.name, v)
			}
		}
	}
	params = t.naming(remove, params)
	var r reply
	for try := range 3 {
		r = c.exchange(ctx, reply{tool: remove.tool, args: jsonv.Object(evidence.TextMember("operation", remove.name), jsonv.Member{Key: "params", Value: params})})
		if r.ok() || strings.HasPrefix(r.code(), "NOT_FOUND") || r.budget || try == 2 {
			break
		}
	}
	gone := r.ok() || strings.HasPrefix(r.code(), "NOT_FOUND")
	if !gone && r.heard() { // an adapter has its own words for what is gone
		_, gone = c.fate(op, t, c.mine())
	}
	if gone {
		c.cleaned = append(c.cleaned, note.Value())
		if c.o.Journal != nil {
			_ = c.o.Journal.Deleted(c.idKey(remove), t.id)
		}
		return
	}
	c.refusedDelete(remove, r)
	note.Set("reason", jsonv.String(r.brief()))
	c.leftovers = append(c.leftovers, note.Value())
}
