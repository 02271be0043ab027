package guard

import (
	"fmt"
	"slices"

	"mcptest/internal/aql/evidence"
	"mcptest/internal/aql/live/catalog"
	"mcptest/internal/jsonv"
)

// watcher checks for harm to the data of others during a run: the run ends
// with the first harm, so that there is no more of it.
type watcher struct {
	run       *Run
	Census    *census
	shown     map[string]*listing // the latest content of the lists before the first change
	watched   map[string]bool     // operations whose first change was followed by a comparison of the lists
	Changed   []jsonv.Value       // data of others that differs at the end of the run
	Unchecked []string            // data of others that was not compared, with the reason
}

// whyHarm is the reason why a run sends nothing more.
const whyHarm = "the run was ended: data changed that it did not create"

// harm records the change in a list and ends the run.
func (w *watcher) harm(op *catalog.Operation, says string) {
	w.Changed = append(w.Changed, jsonv.Object(evidence.TextMember("operation", op.Name), evidence.TextMember("says", says)))
	w.run.Caller.Dead = whyHarm
}

// Reads checks whether lists lost anything since they were last read, while only
// operations declared READ were called.
func (w *watcher) Reads() {
	for _, op := range w.run.Catalog.Operations {
		first, known := w.run.Builder.First[op.Name]
		if !known || w.run.Caller.Dead != "" || KeepsRecord().MatchString(op.Name) {
			continue
		}
		before, now := w.shown[op.Name], w.relist(op, first)
		w.shown[op.Name] = now
		if before == nil {
			before = newListing(op)
			for i, item := range catalog.Items(first.Data(), catalog.ListDepth) {
				before.enter(jsonv.Object().String(), w.run.Catalog.ItemKeys(op), item, i)
			}
		}
		if !before.lostMore(now) || now.partial != "" || !w.run.Caller.Tape.Pause(w.run.Caller.Ctx, w.run.Options.Spread) {
			continue
		}
		// A list that changes while nothing else is called, such as a queue,
		// changes by itself.
		if later := w.relist(op, first); len(now.lost(later))+len(later.lost(now)) == 0 {
			for _, key := range before.lost(later) {
				w.harm(op, fmt.Sprintf("%s no longer shows %s, and only operations declared READ were called", op.Name, shownItem(itemID(w.run.Catalog.ItemKeys(op), before.items[key]), key)))
			}
		}
	}
}

// relist reads a list once more.
func (w *watcher) relist(op *catalog.Operation, first Reply) *listing {
	l := newListing(op)
	w.readList(l, jsonv.Object(), first.Args.Lookup("params"))
	return l
}

// lost lists the keys that a later listing of the same list lacks.
func (l *listing) lost(later *listing) (keys []string) {
	for _, key := range SortedKeys(l.items) {
		if _, there := later.items[key]; !there && len(l.ids) > 0 {
			keys = append(keys, key)
		}
	}
	return keys
}

// lostMore reports whether a later listing shows less: a list of the newest entries
// loses one for each that is added.
func (l *listing) lostMore(later *listing) bool {
	return len(l.lost(later)) > len(later.lost(l))
}

// change compares the lists of a resource with their content before the run wrote
// anything, after the first change of each operation.
func (w *watcher) change(op *catalog.Operation) {
	if w.watched[op.Name] || w.run.Cleaner.Cleaning {
		return
	}
	w.watched[op.Name] = true
	_, found := w.differences(op.Resource, w.certain)
	for _, d := range found {
		w.harm(d.list.op, d.says)
	}
}

// certain keeps the differences that are harm even while items of the run exist,
// which affect counts, positions and lists of the newest: entries of others that show
// the run's mark, and more removed entries than the run added.
func (w *watcher) certain(found []difference) []difference {
	balance := map[*listing]int{}
	for _, d := range found {
		switch {
		case d.item.IsAbsent():
			balance[d.list]++
		case w.ours(d):
			balance[d.list]--
		}
	}
	return slices.DeleteFunc(found, func(d difference) bool {
		gone := d.item.IsAbsent() && balance[d.list] > 0
		hit := catalog.Carries(d.item, w.run.Maker.RunIDs()) && !w.ours(d)
		return d.id.IsAbsent() || !gone && !hit
	})
}

// ours reports whether a difference is an item of the run. An item that existed
// before the run is not its own even if it shows the mark: a change of the run has
// hit it.
func (w *watcher) ours(d difference) bool {
	return !d.item.IsAbsent() && (w.run.Keeper.Ledger.made(d.list.op.Resource, d.id) || catalog.Carries(d.item, w.run.Maker.RunIDs()) && !w.Census.knows(d.list.op.Resource, d.id))
}

// adopt records listed items with the run's mark whose create failed. It returns
// false if there are none.
func (w *watcher) adopt(found []difference) bool {
	n := 0
	for _, d := range found {
		if create := w.run.Catalog.Creator(d.list.op); create != nil && !d.item.IsAbsent() && catalog.Carries(d.item, w.run.Maker.RunIDs()) && !w.run.Keeper.Ledger.made(create.Resource, d.id) {
			n += w.addMarked(create)
		}
	}
	return n > 0
}

// differences compares the lists of a resource, or all lists for "", with their
// content before the run wrote anything. If a difference counts, the lists are read
// again to find what changes by itself.
func (w *watcher) differences(resource string, counts func([]difference) []difference) (*census, []difference) {
	after := w.TakeCensus(resource)
	found := counts(w.Census.compare(after, w.run.Catalog.ItemKeys))
	if len(found) == 0 || !w.run.Caller.Tape.Pause(w.run.Caller.Ctx, controlTime) {
		return after, found
	}
	again := w.TakeCensus(resource)
	after.learn(again)
	for _, l := range after.lists {
		if old := w.Census.Of(l.op); old != nil {
			old.Moving = old.Moving || l.Moving
			for path := range l.volatile {
				old.volatile[path] = true
			}
		}
	}
	return again, counts(w.Census.compare(again, w.run.Catalog.ItemKeys))
}

// addMarked records the listed items with the run's mark, and counts them.
func (w *watcher) addMarked(op *catalog.Operation) (found int) {
	for _, t := range w.run.Lister.Marked(op, w.run.Maker.RunIDs()) {
		if !w.run.Keeper.knownBefore(op, t.Id) && w.run.Keeper.Ledger.Add(op.Resource, t) {
			found++
		}
	}
	return found
}

// KeepsRecord matches the names of operations that report past events: showing the
// run's own calls is not an effect of those calls.
var KeepsRecord = evidence.Pattern(`(?i)(^|_)(logs?|audit|histor(y|ies)|events?|activit(y|ies)|metrics?|stats?|statistics|status|health|usage|time|clock|uptime|recent)(_|$)`)
