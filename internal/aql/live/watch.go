package live

import (
	"fmt"
	"slices"

	"mcptest/internal/aql/evidence"
	"mcptest/internal/jsonv"
)

// watch looks for harm to the data of others while a run goes on: the run ends
// with the first harm, so that there is no more of it.
type watcher struct{ run *collector }

// whyHarm is why a run sends nothing more.
const whyHarm = "the run was ended: data changed that it did not create"

// harm notes what a list shows otherwise, and ends the run.
func (w *watcher) harm(op *liveOp, says string) {
	w.run.changed = append(w.run.changed, jsonv.Object(evidence.TextMember("operation", op.name), evidence.TextMember("says", says)))
	w.run.dead = whyHarm
}

// reads looks whether lists lost anything since they were read last, while
// nothing was called but operations declared READ.
func (w *watcher) reads() {
	for _, op := range w.run.ops {
		first, known := w.run.first[op.name]
		if !known || w.run.dead != "" || keepsRecord().MatchString(op.name) {
			continue
		}
		before, now := w.run.shown[op.name], w.relist(op, first)
		w.run.shown[op.name] = now
		if before == nil {
			before = newListing(op)
			for i, item := range items(first.data(), listDepth) {
				before.enter(jsonv.Object().String(), w.run.itemKeys(op), item, i)
			}
		}
		if !before.lostMore(now) || now.partial != "" || !w.run.tape.Pause(w.run.ctx, w.run.o.Spread) {
			continue
		}
		// A list that changes while nothing else is called, such as a queue,
		// changes by itself.
		if later := w.relist(op, first); len(now.lost(later))+len(later.lost(now)) == 0 {
			for _, key := range before.lost(later) {
				w.harm(op, fmt.Sprintf("%s no longer shows %s, and only operations declared READ were called", op.name, shownItem(itemID(w.run.itemKeys(op), before.items[key]), key)))
			}
		}
	}
}

// relist reads a list once more.
func (w *watcher) relist(op *liveOp, first reply) *listing {
	l := newListing(op)
	w.run.readList(l, jsonv.Object(), first.args.Lookup("params"))
	return l
}

// lost lists what a later look at the same list does not show any more.
func (l *listing) lost(later *listing) (keys []string) {
	for _, key := range sortedKeys(l.items) {
		if _, there := later.items[key]; !there && len(l.ids) > 0 {
			keys = append(keys, key)
		}
	}
	return keys
}

// lostMore says that a later look shows less: a list of the newest entries
// loses one for each that is added.
func (l *listing) lostMore(later *listing) bool {
	return len(l.lost(later)) > len(later.lost(l))
}

// change compares the lists of a resource with what they showed before
// the run wrote anything, after the first change of each operation.
func (w *watcher) change(op *liveOp) {
	if w.run.watched[op.name] || w.run.cleaning {
		return
	}
	w.run.watched[op.name] = true
	_, found := w.differences(op.resource, w.certain)
	for _, d := range found {
		w.harm(d.list.op, d.says)
	}
}

// certain keeps the differences that are harm even while things of the run are
// there, which change counts, places and lists of the newest: entries of
// others that show the run's mark, and more of them gone than the run added.
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
		hit := carries(d.item, w.run.mine()) && !w.ours(d)
		return d.id.IsAbsent() || !gone && !hit
	})
}

// ours says that a list shows something of the run. What was there before is
// not the run's own when it shows the mark: a change of the run has hit it.
func (w *watcher) ours(d difference) bool {
	return !d.item.IsAbsent() && (w.run.ledger.made(d.list.op.resource, d.id) || carries(d.item, w.run.mine()) && !w.run.census.knows(d.list.op.resource, d.id))
}

// adopt enters what lists show with the run's mark though its create failed;
// false when there is nothing of the kind.
func (w *watcher) adopt(found []difference) bool {
	n := 0
	for _, d := range found {
		if create := w.run.creator(d.list.op); create != nil && !d.item.IsAbsent() && carries(d.item, w.run.mine()) && !w.run.ledger.made(create.resource, d.id) {
			n += w.addMarked(create)
		}
	}
	return n > 0
}

// differences compares the lists of a resource, of every one for "", with what
// they showed before the run wrote anything. Where one counts they are read
// again, to see what changes by itself.
func (w *watcher) differences(resource string, counts func([]difference) []difference) (*census, []difference) {
	after := w.run.takeCensus(resource)
	found := counts(w.run.census.compare(after, w.run.itemKeys))
	if len(found) == 0 || !w.run.tape.Pause(w.run.ctx, controlTime) {
		return after, found
	}
	again := w.run.takeCensus(resource)
	after.learn(again)
	for _, l := range after.lists {
		if old := w.run.census.of(l.op); old != nil {
			old.moving = old.moving || l.moving
			for path := range l.volatile {
				old.volatile[path] = true
			}
		}
	}
	return again, counts(w.run.census.compare(again, w.run.itemKeys))
}

// addMarked enters what a list shows with the run's mark, and counts it.
func (w *watcher) addMarked(op *liveOp) (found int) {
	for _, t := range w.run.marked(op, w.run.mine()) {
		if !w.run.knownBefore(op, t.id) && w.run.ledger.add(op.resource, t) {
			found++
		}
	}
	return found
}
