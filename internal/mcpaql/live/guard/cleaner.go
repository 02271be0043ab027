package guard

import (
	"context"
	"slices"
	"strings"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/live/catalog"
	"mcptest/internal/mcpaql/live/change"
)

// The items that a run created are identified by their identifiers, and are removed
// when the run ends.

// cleanUpTime is the time limit of the clean-up after a run was ended.
const cleanUpTime = 30 * time.Second

// cleaner removes the items that the run created.
type cleaner struct {
	values
	lister    *lister
	watcher   *watcher
	keeper    *keeper
	executor  *executor
	steady    *steadiness
	Cleaned   []jsonv.Value
	Unchecked []string // data of others that was not compared, with the reason
}

// CleanUp removes the items that the run created, latest first. It works after the
// run's own context ended.
func (cr *cleaner) CleanUp() {
	defer cr.beginCleaning()()
	cr.removeOwn()
}

// Finish cleans up for the last time, and then checks that nothing else has changed.
func (cr *cleaner) Finish() {
	defer cr.beginCleaning()()
	if hasTime := cr.removeOwn(); hasTime {
		cr.checkOthers()
	}
}

// beginCleaning gives the caller a context that outlives the run's own, and lifts the
// limits of the run. The function that it returns restores both.
func (cr *cleaner) beginCleaning() (end func()) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(cr.Caller.Ctx), cleanUpTime)
	own, before := cr.Caller.Ctx, cr.Caller.Cleaning
	cr.Caller.Ctx, cr.Caller.Cleaning = cr.Caller.Tape.BindContext(ctx), true
	return func() {
		cr.Caller.Ctx, cr.Caller.Cleaning = own, before
		cancel()
	}
}

// removeOwn ends what the run started and removes what it created. It waits until the
// lists show that, and returns false if there is no time for it.
func (cr *cleaner) removeOwn() bool {
	cr.executor.endExecutions()
	doubtful := cr.Ledger.doubtful
	cr.Ledger.doubtful = nil
	for _, decide := range doubtful {
		decide()
	}
	cr.findLost()
	for _, t := range slices.Backward(slices.Clone(cr.Ledger.things)) {
		for _, op := range slices.Backward(cr.Catalog.Operations) {
			if op.Category == "CREATE" && op.Resource == t.resource {
				cr.RemoveOne(cr.Caller.Ctx, op, cr.Gate.FindRemover(op), t)
				break
			}
		}
	}
	cr.Ledger.things = nil
	return cr.Caller.Tape.Pause(cr.Caller.Ctx, cr.steady.Lag)
}

// findLost searches for items whose create was never answered, by the run's marker.
// An adapter may still be working on them, so it searches more than once.
func (cr *cleaner) findLost() {
	lost := map[*catalog.Operation]int{}
	for _, op := range cr.Ledger.lost {
		lost[op]++
	}
	cr.Ledger.lost = nil
	for _, op := range cr.Catalog.Operations {
		if lost[op] == 0 || cr.Gate.FindRemover(op) == nil {
			continue
		}
		found, waited := 0, time.Duration(0)
		for _, d := range []time.Duration{0, 200 * time.Millisecond, time.Second, 3 * time.Second} {
			waited += d
			if found >= lost[op] || cr.Caller.Dead != "" || !cr.Caller.Tape.Pause(cr.Caller.Ctx, d) {
				break
			}
			if n := cr.watcher.addMarked(op); n > 0 {
				found += n
				cr.steady.Lag = max(cr.steady.Lag, waited)
			}
		}
	}
}

// RemoveOne removes one item, or records why it is left behind.
func (cr *cleaner) RemoveOne(ctx context.Context, op, remove *catalog.Operation, t CreatedThing) {
	if remove == nil {
		_, why := cr.Gate.findRemoval(op)
		cr.Ledger.leave(op, "id", t.ID, why)
		return
	}
	params := cr.Maker.Complete(remove, t.AddNaming(remove, jsonv.Object()))
	var r Reply
	for try := range 3 {
		r = cr.Caller.exchange(ctx, Reply{Tool: remove.Tool, Args: remove.Request(params)})
		if r.IsOK() || strings.HasPrefix(r.Code(), "NOT_FOUND") || r.Number == 0 || try == 2 {
			break
		}
	}
	gone := r.IsOK() || strings.HasPrefix(r.Code(), "NOT_FOUND")
	if !gone && r.WasHeard() { // adapters report a missing item in different ways
		_, gone = cr.lister.DetermineFate(op, t, cr.Maker.RunIDs())
	}
	if gone {
		cr.Ledger.remove(op.Resource, t.ID)
		cr.watcher.checkChange(remove)
		cr.Cleaned = append(cr.Cleaned, jsonv.ObjectOf("operation", op.Name, "id", t.ID))
		_ = cr.Options.Journal(JournalEntry{Deleted: cr.Catalog.FindIDKey(remove), ID: t.ID})
		return
	}
	cr.Ledger.NoteRefusedDelete(remove, r)
	cr.Ledger.leave(op, "id", t.ID, r.FormatBrief())
}

// checkOthers compares the lists with their content before the run wrote anything.
// Differences in items that the run does not own are reported first.
func (cr *cleaner) checkOthers() {
	if !cr.Gate.Census.Settled {
		return
	}
	all := func(found []change.Difference) []change.Difference { return found }
	after, found := cr.watcher.compareLists("", all)
	if cr.watcher.adopt(found) {
		cr.CleanUp()
		after, found = cr.watcher.compareLists("", all)
	}
	cr.reportDifferences(found)
	cr.noteUncompared(after)
}

// reportDifferences reports each difference at the end of the run as harm, unless the
// run itself explains it.
func (cr *cleaner) reportDifferences(found []change.Difference) {
	gone := change.CountLosses(found, change.Difference.IsAdded)
	for _, d := range found {
		switch {
		case cr.watcher.isOurs(d):
			cr.addStillListed(d, "the run made it, and the list still shows it")
		case d.Before.IsAbsent() && cr.belongs(d.Item):
			cr.addStillListed(d, "it belongs to something that the run made, and the list still shows it")
		case d.Before.IsAbsent() && cr.hasLeftUnfound(d.List.Op):
			cr.addStillListed(d, "a create of the run may have made it, and it does not carry the run's mark")
		case cr.mayCountRun(d, gone[d.List]):
			cr.Unchecked = append(cr.Unchecked, d.Says+", which may count what this run did")
		default:
			cr.watcher.noteHarm(d)
		}
	}
}

// noteUncompared notes the lists whose content before and after could not be compared
// completely.
func (cr *cleaner) noteUncompared(after *change.Census) {
	for _, l := range cr.Gate.Census.Lists {
		now := after.FindListing(l.Op)
		switch {
		case now == nil || now.Partial == change.Unreadable:
			cr.Unchecked = append(cr.Unchecked, l.Op.Name+" could not be read afterwards")
		case l.Partial != "" || now.Partial != "":
			cr.Unchecked = append(cr.Unchecked, l.Op.Name+" was compared partly: "+l.Partial+now.Partial)
		case l.Moving:
			cr.Unchecked = append(cr.Unchecked, l.Op.Name+" changes by itself: added and removed entries were not compared")
		}
	}
}

// mayCountRun reports whether a difference may be due to what the run did: in a record
// of past events, which grows, or, if something was left behind, in the numbers and times
// of any item. gone is how many more items the list lost than it got.
func (cr *cleaner) mayCountRun(d change.Difference, gone int) bool {
	record := cr.watcher.IsRecord(d.List.Op)
	switch {
	case d.Before.IsAbsent():
		return record
	case d.Item.IsAbsent():
		return record && gone <= 0
	}
	if record && d.ID.IsAbsent() {
		return true
	}
	left := record || len(cr.Ledger.Leftovers) > 0
	return left && len(d.List.FindLostTexts(d.Before, d.Item)) == 0
}

// belongs reports whether a member of an item names something that the run made.
func (cr *cleaner) belongs(item jsonv.Value) bool {
	for name, v := range item.Members() {
		if of := catalog.ParseStem(name); of != "" && cr.Ledger.hasMade(of, v) {
			return true
		}
	}
	return false
}

// addStillListed reports an item of the run that a list shows at the end of the run.
func (cr *cleaner) addStillListed(d change.Difference, reason string) {
	isIt := func(v jsonv.Value) bool {
		return jsonv.Equal(v.Lookup("id"), d.ID)
	}
	if !slices.ContainsFunc(cr.Ledger.Leftovers, isIt) {
		cr.Ledger.leave(d.List.Op, "id", d.ID, reason)
	}
}

// hasLeftUnfound reports whether the run left something of a list's resource behind that it
// could not identify.
func (cr *cleaner) hasLeftUnfound(list *catalog.Operation) bool {
	return slices.ContainsFunc(cr.Ledger.Leftovers, func(v jsonv.Value) bool {
		op := cr.Catalog.FindOperation(v.Lookup("operation").Text())
		return op != nil && catalog.IsSameResource(op.Resource, list.Resource) && !v.Lookup("call").IsAbsent()
	})
}
