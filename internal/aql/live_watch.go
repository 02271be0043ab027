package aql

import (
	"fmt"
	"slices"

	"mcptest/internal/jsonv"
)

// watch looks for harm to the data of others while a run goes on: the run ends
// with the first harm, so that there is no more of it.
type watch struct{ c *collector }

// whyHarm is why a run sends nothing more.
const whyHarm = "the run was ended: data changed that it did not create"

// harm notes what a list shows otherwise, and ends the run.
func (w watch) harm(op *liveOp, says string) {
	w.c.changed = append(w.c.changed, jsonv.Object(textMember("operation", op.name), textMember("says", says)))
	w.c.dead = whyHarm
}

// reads looks whether lists lost anything since they were read last, while
// nothing was called but operations declared READ.
func (w watch) reads() {
	for _, op := range w.c.ops {
		first, known := w.c.first[op.name]
		if !known || w.c.dead != "" || keepsRecord().MatchString(op.name) {
			continue
		}
		before, now := w.c.shown[op.name], w.relist(op, first)
		w.c.shown[op.name] = now
		if before == nil {
			before = newListing(op)
			for i, item := range items(first.data(), listDepth) {
				before.enter(jsonv.Object().String(), w.c.itemKeys(op), item, i)
			}
		}
		if !before.lostMore(now) || now.partial != "" || !w.c.tape.pause(w.c.ctx, w.c.o.Spread) {
			continue
		}
		// A list that changes while nothing else is called, such as a queue,
		// changes by itself.
		if later := w.relist(op, first); len(now.lost(later))+len(later.lost(now)) == 0 {
			for _, key := range before.lost(later) {
				w.harm(op, fmt.Sprintf("%s no longer shows %s, and only operations declared READ were called", op.name, shownItem(itemID(w.c.itemKeys(op), before.items[key]), key)))
			}
		}
	}
}

// relist reads a list once more.
func (w watch) relist(op *liveOp, first reply) *listing {
	l := newListing(op)
	w.c.readList(l, jsonv.Object(), first.args.Lookup("params"))
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
func (w watch) change(op *liveOp) {
	if w.c.watched[op.name] || w.c.cleaning {
		return
	}
	w.c.watched[op.name] = true
	_, found := w.differences(op.resource, w.certain)
	for _, d := range found {
		w.harm(d.list.op, d.says)
	}
}

// certain keeps the differences that are harm even while things of the run are
// there, which change counts, places and lists of the newest: entries of
// others that show the run's mark, and more of them gone than the run added.
func (w watch) certain(found []difference) []difference {
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
		hit := carries(d.item, w.c.mine()) && !w.ours(d)
		return d.id.IsAbsent() || !gone && !hit
	})
}

// ours says that a list shows something of the run. What was there before is
// not the run's own when it shows the mark: a change of the run has hit it.
func (w watch) ours(d difference) bool {
	return !d.item.IsAbsent() && (w.c.ledger.made(d.list.op.resource, d.id) || carries(d.item, w.c.mine()) && !w.c.census.knows(d.list.op.resource, d.id))
}

// adopt enters what lists show with the run's mark though its create failed;
// false when there is nothing of the kind.
func (w watch) adopt(found []difference) bool {
	n := 0
	for _, d := range found {
		if create := w.c.creator(d.list.op); create != nil && !d.item.IsAbsent() && carries(d.item, w.c.mine()) && !w.c.ledger.made(create.resource, d.id) {
			n += w.addMarked(create)
		}
	}
	return n > 0
}

// differences compares the lists of a resource, of every one for "", with what
// they showed before the run wrote anything. Where one counts they are read
// again, to see what changes by itself.
func (w watch) differences(resource string, counts func([]difference) []difference) (*census, []difference) {
	after := w.c.takeCensus(resource)
	found := counts(w.c.census.compare(after, w.c.itemKeys))
	if len(found) == 0 || !w.c.tape.pause(w.c.ctx, controlTime) {
		return after, found
	}
	again := w.c.takeCensus(resource)
	after.learn(again)
	for _, l := range after.lists {
		if old := w.c.census.of(l.op); old != nil {
			old.moving = old.moving || l.moving
			for path := range l.volatile {
				old.volatile[path] = true
			}
		}
	}
	return again, counts(w.c.census.compare(again, w.c.itemKeys))
}

// addMarked enters what a list shows with the run's mark, and counts it.
func (w watch) addMarked(op *liveOp) (found int) {
	for _, t := range w.c.marked(op, w.c.mine()) {
		if !w.c.knownBefore(op, t.id) && w.c.ledger.add(op.resource, t) {
			found++
		}
	}
	return found
}
