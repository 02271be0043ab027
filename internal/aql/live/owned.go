package live

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"mcptest/internal/aql/evidence"
	"mcptest/internal/jsonv"
)

// What an answer to a create names is not believed: an adapter may answer
// with something that was there before. A thing is the run's own when it was
// not listed before the run, and a read of it shows the run's mark; where no
// mark is shown, when it is the only new thing in its list and the answer
// names it. Nothing else is ever changed or removed.

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
func (kp *keeper) keepCreated(op *liveOp, params jsonv.Value, r reply) {
	switch thing, what := kp.identify(op, params, r); what {
	case owned:
		if kp.ledger.add(op.resource, thing) && kp.run.o.Journal != nil {
			_ = kp.run.o.Journal.Created(op.name, kp.run.catalog.idKey(op), thing.id, thing.with)
		}
		if !thing.id.IsAbsent() && kp.run.watcher.census.resembles(op.resource, thing.id, kp.run.catalog.itemKeys) {
			kp.run.cleaner.stays[op.resource] = whyAlike
		}
	case undecided:
		kp.run.cleaner.doubtful = append(kp.run.cleaner.doubtful, doubtfulThing{op, params, r})
	case foreign:
		kp.disown(op, r)
	}
}

// disown tells of a create whose answer does not name anything of the run.
// What it made, if anything, cannot be removed, so no more of it is created.
func (kp *keeper) disown(op *liveOp, r reply) {
	kp.run.rows.breaks("consistency.created", r, "the answer to %s names nothing new with the values that were sent; the run does not touch it", op.name)
	ids, whole := kp.run.lister.newOnes(op)
	if whole && len(ids) == 0 {
		return // nothing was created
	}
	for _, id := range ids {
		kp.ledger.ever[op.resource] = append(kp.ledger.ever[op.resource], id)
		kp.run.cleaner.leftovers = append(kp.run.cleaner.leftovers, jsonv.Object(evidence.TextMember("operation", op.name), jsonv.Member{Key: "id", Value: id},
			evidence.TextMember("reason", "it does not carry the run's mark, so it was not removed")))
	}
	if len(ids) == 0 {
		kp.run.cleaner.leftovers = append(kp.run.cleaner.leftovers, jsonv.Object(evidence.TextMember("operation", op.name), jsonv.Member{Key: "call", Value: jsonv.Int(int64(r.n))},
			evidence.TextMember("reason", "the answer does not say what was created, and no list shows it")))
	}
	kp.run.cleaner.stays[op.resource] = "what " + op.name + " created was not found again, so more of it would remain"
}

// findDoubtful decides at the end of a run what could not be read before.
func (cr *cleaner) findDoubtful() {
	list := cr.doubtful
	cr.doubtful = nil
	for _, d := range list {
		before := len(cr.doubtful)
		cr.run.keeper.keepCreated(d.op, d.params, d.answer)
		if len(cr.doubtful) > before {
			cr.doubtful = cr.doubtful[:before]
			cr.leftovers = append(cr.leftovers, jsonv.Object(evidence.TextMember("operation", d.op.name), jsonv.Member{Key: "call", Value: jsonv.Int(int64(d.answer.n))},
				evidence.TextMember("reason", "what was created could no longer be read")))
		}
	}
}

// identify finds what a create made among what its answer names, and else in
// the resource's list.
func (kp *keeper) identify(op *liveOp, params jsonv.Value, r reply) (createdThing, ownership) {
	remove := kp.run.gate.remover(op)
	thing := createdThing{with: kp.run.catalog.with(op, remove, params)}
	if kp.run.catalog.atMostOne(op) {
		return thing, kp.ownership(op, thing)
	}
	what := foreign
	for _, id := range kp.namedIDs(op, params, r) {
		thing.id = id
		switch kp.ownership(op, thing) {
		case owned:
			return thing, owned
		case undecided:
			what = undecided
		case foreign:
		}
	}
	if thing.id = kp.onlyNew(op, remove); !thing.id.IsAbsent() {
		return thing, owned
	}
	// A probe may have left the mark out, or the adapter have dropped it.
	ids, whole := kp.run.lister.newOnes(op)
	if whole && len(ids) == 1 && slices.ContainsFunc(kp.namedIDs(op, params, r), func(id jsonv.Value) bool { return jsonv.Equal(id, ids[0]) }) {
		thing.id, what = ids[0], owned
	}
	return thing, what
}

// ownership says whether a thing is the run's own. Reading it costs no call
// of the run's budget: what was created has to be known.
func (kp *keeper) ownership(op *liveOp, t createdThing) ownership {
	mine := kp.run.maker.mine()
	switch {
	case slices.ContainsFunc(kp.ledger.things[op.resource], t.equal):
		return owned
	case kp.knownBefore(op, t.id):
		return foreign
	}
	before := kp.run.cleaner.cleaning
	kp.run.cleaner.cleaning = true
	defer func() { kp.run.cleaner.cleaning = before }()
	get := kp.run.catalog.partner("get", "READ", op.resource)
	if kp.run.catalog.atMostOne(op) {
		get = kp.run.catalog.exact("get", "READ", op.resource)
	} else if get != nil && get.idParam() == nil {
		get = nil
	}
	if get != nil && kp.run.gate.barred(get) == "" {
		r := kp.run.caller.call(get, t.naming(get, kp.run.builder.fresh(get)))
		switch {
		case !r.heard():
			return undecided
		case r.ok() && (carries(r.data(), mine) || carries(t.id, mine)):
			return owned
		}
	}
	// An answer is believed no more than a failure: the list has to show it.
	if item, _ := kp.run.lister.listed(op, t); !item.IsAbsent() && (carries(item, mine) || carries(t.id, mine)) {
		return owned
	}
	return foreign
}

// verifyAgain looks at what the run made after the adapter was started anew:
// it may have forgotten it, and given the identifier to something else.
func (kp *keeper) verifyAgain() {
	before := kp.ledger.things
	kp.ledger.things = map[string][]createdThing{}
	for _, op := range kp.run.catalog.ops {
		if !op.creates() {
			continue
		}
		for _, t := range before[op.resource] {
			if kp.ownership(op, t) == owned {
				kp.ledger.add(op.resource, t)
			} else if _, gone := kp.run.lister.fate(op, t, kp.run.maker.mine()); !gone {
				kp.run.cleaner.leftovers = append(kp.run.cleaner.leftovers, jsonv.Object(evidence.TextMember("operation", op.name), jsonv.Member{Key: "id", Value: t.id},
					evidence.TextMember("reason", "the adapter was restarted, and no longer shows it with the run's mark")))
			}
		}
		delete(before, op.resource)
	}
}

// knownBefore says that an identifier stood in a list before the run created
// anything.
func (kp *keeper) knownBefore(op *liveOp, id jsonv.Value) bool {
	return !id.IsAbsent() && kp.run.watcher.census.knows(op.resource, id)
}

// namedIDs lists the identifiers that the answer to a create names, the
// likeliest first.
func (kp *keeper) namedIDs(op *liveOp, params jsonv.Value, r reply) (ids []jsonv.Value) {
	add := func(v jsonv.Value) {
		if kind := v.Kind(); (kind == jsonv.KindString || kind == jsonv.KindNumber) && !slices.ContainsFunc(ids, func(o jsonv.Value) bool { return jsonv.Equal(o, v) }) {
			ids = append(ids, v)
		}
	}
	data := r.data()
	for _, at := range []jsonv.Value{data, data.Lookup(op.resource), data.Lookup("item"), params} {
		for _, k := range kp.run.catalog.idKeys(op) {
			add(at.Lookup(k))
		}
	}
	add(data)
	return ids
}

// keeper tracks what the run creates and removes, in the ledger.
type keeper struct {
	run    *collector
	ledger *ledger
}

// occupied says why the one resource cannot be created by this run, or "":
// what is there is left alone.
func (kp *keeper) occupied(op *liveOp) string {
	if !kp.run.catalog.atMostOne(op) || len(kp.ledger.things[op.resource]) > 0 {
		return ""
	}
	get := kp.run.catalog.exact("get", "READ", op.resource)
	r := kp.run.caller.call(get, jsonv.Object())
	none := r.data().Kind() == jsonv.KindNull
	if v, ok := r.data().Get(op.resource); ok && v.Kind() == jsonv.KindNull {
		none = true
	}
	switch {
	case r.ok() && none, r.refused() && strings.HasPrefix(r.code(), "NOT_FOUND"):
		return ""
	case r.ok():
		return "there is a " + op.resource + " already, which is left alone"
	}
	return "it could not be seen whether there is a " + op.resource + " already: " + r.brief()
}

// attempt calls an operation and keeps track of what it created or removed.
func (kp *keeper) attempt(op *liveOp, params jsonv.Value) reply {
	return kp.attemptArgs(op, jsonv.Object(
		jsonv.Member{Key: "operation", Value: jsonv.String(op.name)},
		jsonv.Member{Key: "params", Value: params},
	))
}

func (kp *keeper) attemptArgs(op *liveOp, args jsonv.Value) reply {
	return kp.attemptOn(op.tool, op, args)
}

func (kp *keeper) attemptOn(tool string, op *liveOp, args jsonv.Value) reply {
	if op.creates() && kp.run.gate.forbidden(args) == "" {
		if reason := kp.occupied(op); reason != "" {
			return reply{budget: true, barred: true, cause: errors.New(reason)}
		}
		if reason := kp.intend(op); reason != nil {
			return reply{budget: true, cause: reason}
		}
	}
	r := kp.run.caller.send(tool, args)
	kp.run.steady.checkDates(op, r)
	if r.ok() && op.creates() {
		kp.keepCreated(op, args.Lookup("params"), r)
	}
	if op.creates() && r.n > 0 && r.cause != nil {
		kp.run.cleaner.lost = append(kp.run.cleaner.lost, op)
	}
	if op.category == "DELETE" && r.denied() {
		kp.run.cleaner.refusedDelete(op, r)
	}
	if r.ok() && op.category == "DELETE" {
		kp.forget(op, args.Lookup("params"))
	}
	if r.ok() && op.changes() {
		kp.run.watcher.change(op)
	}
	return r
}

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
