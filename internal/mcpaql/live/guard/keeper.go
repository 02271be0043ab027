package guard

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/evidence"
	"mcptest/internal/mcpaql/live/catalog"
)

// The run does not trust the identifiers in the answer to a create: an adapter may
// return an item that existed before. The run owns an item if it was not listed
// before the run and a read of it shows the run's mark; if no mark is shown, it owns
// the item if it is the only new one in its list and the answer names it. Nothing
// else is ever changed or removed.

// ownership is the run's knowledge about an item that an answer names.
type ownership int

const (
	foreign  ownership = iota // the run does not own it, or cannot prove that it does
	unmarked                  // it was not there before, and it does not show the run's mark
	owned
	undecided // it could not be read now
)

// keeper tracks what the run creates and removes, in the ledger.
type keeper struct {
	values
	lister   *lister
	watcher  *watcher
	steady   *steadiness
	evidence *evidence.Evidence
}

// keepCreated records the item of a create, so that it is removed again. An item that
// cannot be read is tried again when the run ends, for the last time.
func (kp *keeper) keepCreated(op *catalog.Operation, params jsonv.Value, r Reply) {
	if kp.tryKeep(op, params, r) {
		return
	}
	kp.Ledger.doubtful = append(kp.Ledger.doubtful, func() {
		if !kp.tryKeep(op, params, r) {
			kp.Ledger.leave(op, "call", r.Number, "what was created could no longer be read")
		}
	})
}

// tryKeep records the item of a create in the ledger, or disowns it. It returns false if
// the item cannot be read now.
func (kp *keeper) tryKeep(op *catalog.Operation, params jsonv.Value, r Reply) bool {
	thing, what := kp.identify(op, params, r)
	if what == foreign || what == unmarked {
		kp.steady.Await(func() bool {
			thing, what = kp.identify(op, params, r)
			return what == owned
		})
	}
	switch what {
	case owned:
		kp.own(op, thing)
	case unmarked, foreign:
		if !op.IsRehearsal(params) { // a rehearsal stores nothing, as it was asked to
			kp.disown(op, params, r, thing.ID) // absent if it is foreign
		}
	case undecided:
		return false
	}
	return true
}

// own enters an item of the run in the ledger and in the journal.
func (kp *keeper) own(op *catalog.Operation, thing CreatedThing) {
	if kp.Ledger.Add(op.Resource, thing) {
		_ = kp.Options.Journal(JournalEntry{
			Created:   op.Name,
			Parameter: kp.Catalog.FindIDKey(op),
			ID:        thing.ID,
			With:      thing.With,
		})
	}
	if !thing.ID.IsAbsent() && kp.Gate.Census.HasSimilar(op.Resource, thing.ID, kp.Catalog.ListItemKeys) {
		kp.Ledger.stays[op.Resource] = whyAlike
	}
}

// disown reports a create whose answer names no item of the run, or one without the
// run's mark. Its item, if any, cannot be removed, so no more of them are created.
func (kp *keeper) disown(op *catalog.Operation, params jsonv.Value, r Reply, named jsonv.Value) {
	kp.Rows.Fail("consistency.created", r,
		"the response to %s names no new item with the values that were sent; the run does not touch it", op.Name)
	ids, certain := kp.lister.findNewIDs(op)
	if !named.IsAbsent() && !slices.ContainsFunc(ids, func(id jsonv.Value) bool { return jsonv.Equal(id, named) }) {
		ids = append(ids, named)
	}
	kp.Ledger.stays[op.Resource] = "what " + op.Name + " created was not found again, so more of it would remain"
	kp.recordUnread(op, params)
	if certain && len(ids) == 0 { // nothing was created, unless it comes later still
		kp.Ledger.lost = append(kp.Ledger.lost, op)
		return
	}
	for _, id := range ids {
		kp.Ledger.ever = append(kp.Ledger.ever, CreatedThing{ID: id, resource: op.Resource})
		kp.Ledger.leave(op, "id", id, "it does not carry the run's mark, so it was not removed")
		_ = kp.Options.Journal(JournalEntry{Created: op.Name, Parameter: kp.Catalog.FindIDKey(op), ID: id})
	}
	if len(ids) == 0 {
		kp.Ledger.leave(op, "call", r.Number, "the response does not identify the created item, and no list shows it")
	}
}

// recordUnread records that no list shows the marked values of a create that succeeded.
func (kp *keeper) recordUnread(op *catalog.Operation, params jsonv.Value) {
	list := kp.Catalog.FindPartner("list", "READ", op.Resource)
	if list == nil || kp.Gate.ExplainBarred(list) != "" {
		return
	}
	required, _ := kp.lister.params(list)
	back := kp.Caller.Call(list, required)
	f := evidence.FieldsCase{
		Name:         op.Name + " then " + list.Name,
		ReadResponse: kp.Caller.RedactAnswer(back),
		Call:         back.Number,
	}
	for name, v := range params.Members() {
		if catalog.Carries(v, kp.Maker.RunIDs()) && v.Kind() == jsonv.KindString {
			f.Fields = append(f.Fields, evidence.Field{Path: "data." + name, Value: v})
		}
	}
	if back.IsOK() && len(f.Fields) > 0 {
		kp.evidence.RoundTrips = append(kp.evidence.RoundTrips, f)
	}
}

// identify finds the item of a create among the identifiers in its answer, or else in
// the resource's list.
func (kp *keeper) identify(op *catalog.Operation, params jsonv.Value, r Reply) (CreatedThing, ownership) {
	remove := kp.Gate.FindRemover(op)
	thing := CreatedThing{With: kp.Catalog.SelectNaming(op, remove, params)}
	if kp.Catalog.HasAtMostOne(op) {
		return thing, kp.determineOwnership(op, thing)
	}
	what, seen := foreign, jsonv.Value{}
	for _, id := range kp.ListNamedIDs(op, params, r) {
		thing.ID = id
		now := kp.determineOwnership(op, thing)
		switch {
		case now == owned:
			return thing, owned
		case now > what:
			what, seen = now, id
		}
	}
	if thing.ID = kp.findOnlyNew(op); !thing.ID.IsAbsent() && what != unmarked {
		return thing, owned
	}
	// A probe may have left the mark out, or the adapter have dropped it.
	ids, whole := kp.lister.findNewIDs(op)
	isNew := func(id jsonv.Value) bool {
		return jsonv.Equal(id, ids[0])
	}
	if whole && len(ids) == 1 && slices.ContainsFunc(kp.ListNamedIDs(op, params, r), isNew) {
		return CreatedThing{ID: ids[0], With: thing.With}, owned
	}
	thing.ID = seen
	return thing, what
}

// determineOwnership determines whether the run owns an item. Reading it does not count
// against the run's budget, because created items must be known.
func (kp *keeper) determineOwnership(op *catalog.Operation, t CreatedThing) ownership {
	mine := kp.Maker.RunIDs()
	switch {
	case slices.ContainsFunc(kp.Ledger.ListThings(op.Resource), t.Equal):
		return owned
	case kp.Gate.Census.Knows(op.Resource, t.ID):
		return foreign
	}
	before, what := kp.Caller.Cleaning, foreign
	kp.Caller.Cleaning = true
	defer func() { kp.Caller.Cleaning = before }()
	if get := kp.Catalog.FindGetter(op); get != nil && kp.Gate.ExplainBarred(get) == "" {
		r := kp.Caller.Call(get, kp.lister.BuildNaming(get, t))
		switch {
		case !r.WasHeard():
			return undecided
		case r.IsOK() && (catalog.Carries(r.Data(), mine) || catalog.Carries(t.ID, mine)):
			return owned
		case r.IsOK() && !t.ID.IsAbsent() && r.Data().Len() > 0:
			what = unmarked
		}
	}
	// A success is trusted no more than a failure: the list must show the item.
	item, _ := kp.lister.findListed(op, t)
	if !item.IsAbsent() && (catalog.Carries(item, mine) || catalog.Carries(t.ID, mine)) {
		return owned
	}
	return what
}

// verifyAgain checks the run's items after a restart of the adapter: it may have
// forgotten them and reused their identifiers.
func (kp *keeper) verifyAgain() {
	before := ledger{things: kp.Ledger.things}
	kp.Ledger.things = nil
	for _, op := range kp.Catalog.Operations {
		if !op.Creates() {
			continue
		}
		for _, t := range before.ListThings(op.Resource) {
			if kp.determineOwnership(op, t) == owned {
				kp.Ledger.Add(op.Resource, t)
			} else if _, gone := kp.lister.DetermineFate(op, t, kp.Maker.RunIDs()); !gone {
				kp.Ledger.leave(op, "id", t.ID, "after its restart, the adapter no longer shows it with the run's mark")
			}
		}
		before.things = slices.DeleteFunc(before.things, func(t CreatedThing) bool { return t.resource == op.Resource })
	}
}

// ListNamedIDs lists the identifiers in the answer to a create, the likeliest first.
func (kp *keeper) ListNamedIDs(op *catalog.Operation, params jsonv.Value, r Reply) (ids []jsonv.Value) {
	add := func(v jsonv.Value) {
		kind := v.Kind()
		isKnown := func(o jsonv.Value) bool {
			return jsonv.Equal(o, v)
		}
		if (kind == jsonv.KindString || kind == jsonv.KindNumber) && !slices.ContainsFunc(ids, isKnown) {
			ids = append(ids, v)
		}
	}
	data := r.Data()
	for _, at := range []jsonv.Value{data, data.Lookup(op.Resource), data.Lookup("item"), params} {
		for _, k := range kp.Catalog.ListIDKeys(op) {
			add(at.Lookup(k))
		}
	}
	add(data)
	return ids
}

// explainOccupied returns why the run cannot create the single item of a resource, or "". An
// existing item is left alone.
func (kp *keeper) explainOccupied(op *catalog.Operation) string {
	if !kp.Catalog.HasAtMostOne(op) || len(kp.Ledger.ListThings(op.Resource)) > 0 {
		return ""
	}
	get := kp.Catalog.FindExact("get", "READ", op.Resource)
	r := kp.Caller.Call(get, jsonv.Object())
	none := r.Data().Kind() == jsonv.KindNull || r.Data().Lookup(op.Resource).Kind() == jsonv.KindNull
	switch {
	case r.IsOK() && none, r.IsRefused() && strings.HasPrefix(r.Code(), "NOT_FOUND"):
		return ""
	case r.IsOK():
		return "there is a " + op.Resource + " already, which is left alone"
	}
	return "could not check whether there is a " + op.Resource + " already: " + r.FormatBrief()
}

// Attempt calls an operation and keeps track of what it created or removed.
func (kp *keeper) Attempt(op *catalog.Operation, params jsonv.Value) Reply {
	return kp.AttemptOn(op.Tool, op, op.Request(params))
}

// AttemptOn is like Attempt but calls the given tool with complete arguments.
func (kp *keeper) AttemptOn(tool string, op *catalog.Operation, args jsonv.Value) Reply {
	if op.Creates() && kp.Gate.ExplainForbidden(args) == "" {
		if refusal, ok := kp.prepareCreate(op); !ok {
			return refusal
		}
	}
	if id := op.FindIDParam(); id != nil && op.ChangesData() && op.Category != "UPDATE" {
		kp.Ledger.deleting[args.Lookup("params", id.Name).String()] = true
	}
	r := kp.Caller.Send(tool, args)
	kp.steady.checkDates(op, r)
	kp.track(op, args.Lookup("params"), r)
	if r.IsOK() && op.Category != "READ" {
		if kp.steady.Lag > 0 {
			kp.Caller.Tape.Pause(kp.Caller.Ctx, kp.steady.Lag)
		}
		kp.watcher.checkChange(op)
	}
	return r
}

// prepareCreate enters the intention to create something in the journal. If it must not be
// created, it returns the reply to the call that is not sent, and false.
func (kp *keeper) prepareCreate(op *catalog.Operation) (refusal Reply, ok bool) {
	if reason := kp.explainOccupied(op); reason != "" {
		return Reply{Barred: true, Cause: errors.New(reason)}, false
	}
	intention := JournalEntry{Intend: op.Name, Marker: catalog.MakeMarker(kp.Options.RunID)}
	if err := kp.Options.Journal(intention); err != nil {
		return Reply{Cause: fmt.Errorf("the journal cannot be kept, so nothing is created: %w", err)}, false
	}
	return Reply{}, true
}

// track enters in the ledger what a call created or removed.
func (kp *keeper) track(op *catalog.Operation, params jsonv.Value, r Reply) {
	switch {
	case op.Creates() && r.IsOK():
		kp.keepCreated(op, params, r)
	case op.Creates() && r.Number > 0 && r.Cause != nil:
		kp.Ledger.lost = append(kp.Ledger.lost, op)
	}
	switch {
	case op.Category == "DELETE" && r.IsOK():
		kp.forget(op, params)
	case op.Category == "DELETE" && r.isDenied():
		kp.Ledger.NoteRefusedDelete(op, r)
	}
}

// findOnlyNew returns the only marked item in the resource's list that the run does not
// know yet.
func (kp *keeper) findOnlyNew(op *catalog.Operation) jsonv.Value {
	fresh := slices.DeleteFunc(kp.lister.FindMarked(op, kp.Maker.RunIDs()), func(t CreatedThing) bool {
		known := slices.ContainsFunc(kp.Ledger.ListThings(op.Resource), func(o CreatedThing) bool {
			return o.ID.String() == t.ID.String()
		})
		return known || t.ID.IsAbsent() || kp.Gate.Census.Knows(op.Resource, t.ID)
	})
	if len(fresh) != 1 {
		return jsonv.Value{}
	}
	return fresh[0].ID
}

func (kp *keeper) forget(op *catalog.Operation, params jsonv.Value) {
	var id jsonv.Value
	if p := op.FindIDParam(); p != nil {
		id = params.Lookup(p.Name)
	}
	kp.Ledger.remove(op.Resource, id)
	_ = kp.Options.Journal(JournalEntry{Deleted: kp.Catalog.FindIDKey(op), ID: id})
}
