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
func (kp *keeper) intend(op *liveOp) error {
	if kp.run.o.Journal == nil {
		return nil
	}
	if err := kp.run.o.Journal.Intend(op.name, Marker(kp.run.o.RunID)); err != nil {
		return fmt.Errorf("the journal cannot be kept, so nothing is created: %w", err)
	}
	return nil
}

// canMark says that what an operation creates can carry the run's mark, in
// one of the texts that it is created with.
func (mk *maker) canMark(op *liveOp) bool {
	for _, p := range op.params {
		if v, err := mk.value(op, p, p.name); err == nil && carries(v, mk.mine()) {
			return true
		}
	}
	return false
}

// marking adds to parameters of a create one that carries the run's mark,
// unless they have one. without is a parameter that stays out.
func (mk *maker) marking(op *liveOp, params jsonv.Value, without string) jsonv.Value {
	if !op.creates() || carries(params, mk.mine()) {
		return params
	}
	for _, p := range op.params {
		if _, given := params.Get(p.name); given || p.name == without {
			continue
		}
		if v, err := mk.value(op, p, p.name); err == nil && carries(v, mk.mine()) {
			return params.With(p.name, v)
		}
	}
	return params
}

// onlyNew looks in the resource's list for the one marked thing that the run
// does not know yet.
func (kp *keeper) onlyNew(op, remove *liveOp) jsonv.Value {
	if remove == nil {
		return jsonv.Value{}
	}
	known := map[string]bool{}
	for _, t := range kp.ledger.things[op.resource] {
		known[t.id.String()] = true
	}
	var fresh []jsonv.Value
	for _, t := range kp.run.lister.marked(op, kp.run.maker.mine()) {
		if !t.id.IsAbsent() && !known[t.id.String()] && !kp.knownBefore(op, t.id) {
			fresh = append(fresh, t.id)
		}
	}
	if len(fresh) != 1 {
		return jsonv.Value{}
	}
	return fresh[0]
}

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
			if fits(things[i]) && b.run.maker.common(op, things[i]) {
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

func (kp *keeper) forget(op *liveOp, params jsonv.Value) {
	var id jsonv.Value
	if p := op.idParam(); p != nil {
		id = params.Lookup(p.name)
	}
	kp.ledger.remove(op.resource, id)
	if kp.run.o.Journal != nil {
		_ = kp.run.o.Journal.Deleted(kp.run.catalog.idKey(op), id)
	}
}

// cleanUpTime is how long the clean-up of a run that was ended may take.
const cleanUpTime = 30 * time.Second

// cleanUp removes what the run created, latest first. It works after the
// run's own context ended. The last one sees that nothing else has changed.
func (cr *cleaner) cleanUp(last bool) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(cr.run.caller.ctx), cleanUpTime)
	defer cancel()
	ctx = cr.run.caller.tape.Context(ctx)
	own, before := cr.run.caller.ctx, cr.cleaning
	cr.run.caller.ctx, cr.cleaning = ctx, true
	defer func() { cr.run.caller.ctx, cr.cleaning = own, before }()
	cr.run.executor.endExecutions()
	cr.findDoubtful()
	cr.findLost()
	for i := len(cr.run.catalog.ops) - 1; i >= 0; i-- {
		op := cr.run.catalog.ops[i]
		things := cr.run.keeper.ledger.things[op.resource]
		if op.category != "CREATE" || len(things) == 0 {
			continue
		}
		remove := cr.run.gate.remover(op)
		for k := len(things) - 1; k >= 0; k-- {
			cr.removeOne(ctx, op, remove, things[k])
		}
		delete(cr.run.keeper.ledger.things, op.resource)
	}
	if last {
		cr.run.watcher.checkOthers()
	}
}

// findLost looks for what creates made whose answers never came: it has the
// run's marker. An adapter may still be at work on it, so it is looked for
// more than once.
func (cr *cleaner) findLost() {
	lost := map[*liveOp]int{}
	for _, op := range cr.lost {
		lost[op]++
	}
	cr.lost = nil
	for _, op := range cr.run.catalog.ops {
		if lost[op] == 0 || cr.run.gate.remover(op) == nil {
			continue
		}
		found := 0
		for _, d := range []time.Duration{0, 200 * time.Millisecond, time.Second, 3 * time.Second} {
			if found >= lost[op] || cr.run.caller.dead != "" || !cr.run.caller.tape.Pause(cr.run.caller.ctx, d) {
				break
			}
			found += cr.run.watcher.addMarked(op)
		}
	}
}

func (cr *cleaner) removeOne(ctx context.Context, op, remove *liveOp, t createdThing) {
	note := evidence.Object{evidence.TextMember("operation", op.name)}
	note.Set("id", t.id)
	if remove == nil {
		_, why := cr.run.gate.removal(op)
		note.Set("reason", jsonv.String(why))
		cr.leftovers = append(cr.leftovers, note.Value())
		return
	}
	params := jsonv.Object()
	for _, p := range remove.params {
		if p.required && !remove.isIdentifier(p) {
			if v, err := cr.run.maker.value(remove, p, p.name); err == nil {
				params = params.With(p.name, v)
			}
		}
	}
	params = t.naming(remove, params)
	var r reply
	for try := range 3 {
		r = cr.run.caller.exchange(ctx, reply{tool: remove.tool, args: jsonv.Object(evidence.TextMember("operation", remove.name), jsonv.Member{Key: "params", Value: params})})
		if r.ok() || strings.HasPrefix(r.code(), "NOT_FOUND") || r.budget || try == 2 {
			break
		}
	}
	gone := r.ok() || strings.HasPrefix(r.code(), "NOT_FOUND")
	if !gone && r.heard() { // an adapter has its own words for what is gone
		_, gone = cr.run.lister.fate(op, t, cr.run.maker.mine())
	}
	if gone {
		cr.cleaned = append(cr.cleaned, note.Value())
		if cr.run.o.Journal != nil {
			_ = cr.run.o.Journal.Deleted(cr.run.catalog.idKey(remove), t.id)
		}
		return
	}
	cr.refusedDelete(remove, r)
	note.Set("reason", jsonv.String(r.brief()))
	cr.leftovers = append(cr.leftovers, note.Value())
}

// cleaner removes what the run created.
type cleaner struct {
	run       *collector
	stays     map[string]string // resource → why nothing of it can be removed
	lost      []*liveOp         // creates whose answer never came
	doubtful  []doubtfulThing   // creates whose thing could not be read
	cleaning  bool
	cleaned   []jsonv.Value
	leftovers []jsonv.Value
}
