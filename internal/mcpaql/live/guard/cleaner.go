package guard

import (
	"context"
	"slices"
	"strings"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/live/catalog"
)

// The items that a run created are identified by their identifiers, and are removed
// when the run ends.

// cleanUpTime is the time limit of the clean-up after a run was ended.
const cleanUpTime = 30 * time.Second

// cleaner removes the items that the run created.
type cleaner struct {
	run       *Run
	stays     map[string]string    // resource → why none of its items can be removed
	lost      []*catalog.Operation // creates whose answer never came
	doubtful  []doubtfulThing      // creates whose item could not be read
	Cleaning  bool
	Cleaned   []jsonv.Value
	Leftovers []jsonv.Value
}

// CleanUp removes the items that the run created, latest first. It works after the
// run's own context ended. The last clean-up also checks that nothing else has
// changed.
func (cr *cleaner) CleanUp(last bool) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(cr.run.Caller.Ctx), cleanUpTime)
	defer cancel()
	ctx = cr.run.Caller.Tape.Context(ctx)
	own, before := cr.run.Caller.Ctx, cr.Cleaning
	cr.run.Caller.Ctx, cr.Cleaning = ctx, true
	defer func() { cr.run.Caller.Ctx, cr.Cleaning = own, before }()
	cr.run.Executor.endExecutions()
	cr.findDoubtful()
	cr.findLost()
	type made struct {
		op *catalog.Operation
		CreatedThing
	}
	var things []made
	for _, op := range slices.Backward(cr.run.Catalog.Operations) {
		for _, t := range cr.run.Keeper.Ledger.Things[op.Resource] {
			if op.Category == "CREATE" && !slices.ContainsFunc(things, func(o made) bool { return o.order == t.order }) {
				things = append(things, made{op, t})
			}
		}
	}
	slices.SortFunc(things, func(a, b made) int { return b.order - a.order })
	for _, t := range things {
		cr.RemoveOne(ctx, t.op, cr.run.Gate.Remover(t.op), t.CreatedThing)
	}
	clear(cr.run.Keeper.Ledger.Things)
	if cr.run.Caller.Tape.Pause(ctx, cr.run.Steady.Lag) && last {
		cr.run.Watcher.checkOthers()
	}
}

// findLost searches for items whose create was never answered, by the run's marker.
// An adapter may still be working on them, so it searches more than once.
func (cr *cleaner) findLost() {
	lost := map[*catalog.Operation]int{}
	for _, op := range cr.lost {
		lost[op]++
	}
	cr.lost = nil
	for _, op := range cr.run.Catalog.Operations {
		if lost[op] == 0 || cr.run.Gate.Remover(op) == nil {
			continue
		}
		found, waited := 0, time.Duration(0)
		for _, d := range []time.Duration{0, 200 * time.Millisecond, time.Second, 3 * time.Second} {
			waited += d
			if found >= lost[op] || cr.run.Caller.Dead != "" || !cr.run.Caller.Tape.Pause(cr.run.Caller.Ctx, d) {
				break
			}
			if n := cr.run.Watcher.addMarked(op); n > 0 {
				found += n
				cr.run.Steady.Lag = max(cr.run.Steady.Lag, waited)
			}
		}
	}
}

// leave records something that the run leaves behind: an id, or the call that may
// have created it.
func (cr *cleaner) leave(op *catalog.Operation, key string, v any, reason string) {
	cr.Leftovers = append(cr.Leftovers, jsonv.ObjectOf("operation", op.Name, key, v, "reason", reason))
}

// unfound reports whether the run left something of a list's resource behind that it
// could not identify.
func (cr *cleaner) unfound(list *catalog.Operation) bool {
	return slices.ContainsFunc(cr.Leftovers, func(v jsonv.Value) bool {
		op := cr.run.Catalog.Op(v.Lookup("operation").Text())
		return op != nil && catalog.SameResource(op.Resource, list.Resource) && !v.Lookup("call").IsAbsent()
	})
}

// RemoveOne removes one item, or records why it is left behind.
func (cr *cleaner) RemoveOne(ctx context.Context, op, remove *catalog.Operation, t CreatedThing) {
	if remove == nil {
		_, why := cr.run.Gate.removal(op)
		cr.leave(op, "id", t.Id, why)
		return
	}
	params := cr.run.Maker.Completed(remove, t.Naming(remove, jsonv.Object()))
	var r Reply
	for try := range 3 {
		r = cr.run.Caller.exchange(ctx, Reply{Tool: remove.Tool, Args: remove.Request(params)})
		if r.OK() || strings.HasPrefix(r.Code(), "NOT_FOUND") || r.Budget || try == 2 {
			break
		}
	}
	gone := r.OK() || strings.HasPrefix(r.Code(), "NOT_FOUND")
	if !gone && r.Heard() { // adapters report a missing item in different ways
		_, gone = cr.run.Lister.Fate(op, t, cr.run.Maker.RunIDs())
	}
	if gone {
		cr.run.Keeper.Ledger.remove(op.Resource, t.Id)
		cr.run.Watcher.change(remove)
		cr.Cleaned = append(cr.Cleaned, jsonv.ObjectOf("operation", op.Name, "id", t.Id))
		_ = cr.run.Options.Journal(JournalEntry{Deleted: cr.run.Catalog.IDKey(remove), ID: t.Id})
		return
	}
	cr.RefusedDelete(remove, r)
	cr.leave(op, "id", t.Id, r.Brief())
}

// RefusedDelete records that the items of a resource stay, because a valid delete of
// one of the run's own items was refused. No more items of that kind are created.
func (cr *cleaner) RefusedDelete(op *catalog.Operation, r Reply) {
	blamed := r.of("NOT_FOUND", "VALIDATION_", "CONFLICT_", "RATE_LIMIT", "CONFIRMATION_", "TOKEN_")
	if r.Heard() && !r.OK() && !blamed && cr.stays[op.Resource] == "" {
		cr.stays[op.Resource] = op.Name + " was refused, so what is created would remain: " + r.Brief()
	}
}

// staying returns why no more items of a resource may be created, or "".
func (cr *cleaner) staying(create *catalog.Operation) string {
	for resource, why := range cr.stays {
		if catalog.SameResource(resource, create.Resource) {
			return why
		}
	}
	return ""
}
