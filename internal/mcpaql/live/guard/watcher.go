package guard

import (
	"fmt"
	"slices"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/evidence"
	"mcptest/internal/mcpaql/live/catalog"
)

// watcher checks for harm to the data of others during a run: the run ends
// with the first harm, so that there is no more of it.
type watcher struct {
	run       *Run
	Census    *census
	latest    *census         // the last reading of the lists while only READ operations were called
	calls     int             // how many calls had been sent then
	timing    bool            // the lists are read to learn what changes by itself
	watched   map[string]bool // operations whose first change was followed by a comparison of the lists
	Changed   []jsonv.Value   // data of others that differs at the end of the run
	Unchecked []string        // data of others that was not compared, with the reason
}

// whyHarm is the reason why a run sends nothing more.
const whyHarm = "the run was ended: data changed that it did not create"

// harm records the change in a list and ends the run.
func (w *watcher) harm(d difference) {
	w.note(d)
	w.run.Caller.Dead = whyHarm
}

// note records a difference as harm, with the state before.
func (w *watcher) note(d difference) {
	v := jsonv.Object(evidence.TextMember("operation", d.list.op.Name), evidence.TextMember("says", d.says))
	if !d.before.IsAbsent() {
		before := w.run.Caller.Redact(d.before)
		v = v.With("before", before)
		if d.item.IsAbsent() {
			v = v.With("says", jsonv.String(d.says+": it was "+display.Truncate(before.String(), maxShownState)))
		} else {
			v = v.With("after", w.run.Caller.Redact(d.item)).With("says", jsonv.String(d.says+": "+w.states(d)))
		}
	}
	w.Changed = append(w.Changed, v)
}

// maxShownState is how much of the state before a change the report shows.
const maxShownState = 300

// states describes the changed members of an item before and after.
func (w *watcher) states(d difference) string {
	changed := d.list.changed(w.run.Caller.Redact(d.before), w.run.Caller.Redact(d.item))
	return evidence.Several(evidence.Each(changed, func(ch jsonv.Change) string {
		return fmt.Sprintf("%s was %s, and is %s", ch.Path, display.Truncate(ch.Want.String(), maxShownState), evidence.Brief(ch.Got))
	}))
}

// Begin reads the lists twice, before any other READ operation is called: what differs
// changes by itself.
func (w *watcher) Begin() {
	w.timing = true
	w.Census = w.TakeCensus("")
	if len(w.Census.lists) > 0 && w.run.Caller.Tape.Pause(w.run.Caller.Ctx, w.run.Options.Spread) {
		w.Census.learn(w.recount())
	} else {
		clear(w.run.Steady.known)
	}
	w.timing = false
}

// recount reads the lists of the census once more, and calls nothing else.
func (w *watcher) recount() *census {
	s := &census{lists: evidence.Each(w.Census.lists, func(l *listing) *listing { return w.read(l.op) })}
	w.latest, w.calls = s, w.run.Caller.Calls
	return s
}

// Reads checks whether the lists changed since Begin, while only operations declared
// READ were called with what others own. It returns the latest content of the lists, which
// are read again only if something was called since.
func (w *watcher) Reads() *census {
	if w.latest != nil && w.calls == w.run.Caller.Calls {
		return w.latest
	}
	now := w.recount()
	if len(w.readHarm(now)) == 0 || !w.run.Caller.Tape.Pause(w.run.Caller.Ctx, w.run.Options.Spread) {
		return now
	}
	// A list that changes while nothing else is called, such as a queue, changes by
	// itself.
	later := w.recount()
	now.learn(later)
	for _, d := range w.readHarm(later) {
		if l := now.Of(d.list.op); l != nil && !(d.item.IsAbsent() && l.Moving) {
			if d.says = d.says + ", and only operations declared READ were called"; !d.item.IsAbsent() && len(l.hurt(d.before, d.item)) == 0 {
				continue
			}
			w.harm(d)
		}
	}
	return later
}

// effects reports items of the run that operations declared READ changed between two
// censuses.
func (w *watcher) effects(before, after *census) {
	var again *census
	for _, d := range before.compare(after, w.run.Catalog.ItemKeys) {
		if d.before.IsAbsent() || d.item.IsAbsent() || !w.run.Keeper.Ledger.made(d.list.op.Resource, d.id) {
			continue
		}
		if again == nil {
			again = w.recount()
			after.learn(again)
		}
		if l := after.Of(d.list.op); len(l.changed(d.before, d.item)) > 0 {
			w.run.Rows.Fail("consistency.effects", Reply{}, "%s, and only operations declared READ were called", d.says)
		}
	}
}

// readHarm keeps the differences that are harm after calls that only read: items that
// are gone, more than were added, since a list of the newest entries loses one for each
// that is added, and items whose texts changed.
func (w *watcher) readHarm(now *census) []difference {
	found := w.Census.compare(now, w.run.Catalog.ItemKeys)
	lost := balance(found, difference.added)
	return slices.DeleteFunc(found, func(d difference) bool {
		gone := d.item.IsAbsent() && lost[d.list] > 0
		seen := !d.id.IsAbsent() || !w.Census.settled // later it shows what the run made
		hurt := !d.item.IsAbsent() && seen && len(d.list.hurt(d.before, d.item)) > 0
		return w.Record(d.list.op) || !gone && !hurt
	})
}

// balance counts how many more items each list lost than it got; got says which of the
// items that it shows count.
func balance(found []difference, got func(difference) bool) map[*listing]int {
	lost := map[*listing]int{}
	for _, d := range found {
		switch {
		case d.item.IsAbsent():
			lost[d.list]++
		case got(d):
			lost[d.list]--
		}
	}
	return lost
}

// hurt lists the texts of an item that a later state lacks, except times, numbers, and
// what changes by itself.
func (l *listing) hurt(before, now jsonv.Value) (out []jsonv.Change) {
	if before.IsAbsent() {
		return nil
	}
	for _, ch := range l.changed(before, now) {
		text := ch.Kind == jsonv.Removed || ch.Want.Kind() == jsonv.KindString && !sameText(ch, digitRuns) && !sameText(ch, clockText)
		if text && !DateName().MatchString(ch.Path) {
			out = append(out, ch)
		}
	}
	return out
}

// change compares the lists of a resource, or all after an EXECUTE, with their content
// before the run wrote anything, after the first change of each operation and after each
// delete.
func (w *watcher) change(op *catalog.Operation) {
	deletes := op.Category == "DELETE"
	if !deletes && (w.watched[op.Name] || w.run.Cleaner.Cleaning) || w.run.Caller.Dead != "" {
		return
	}
	w.watched[op.Name] = true
	resource := op.Resource
	if op.Category == "EXECUTE" {
		resource = ""
	}
	now, found := w.differences(resource, w.certain)
	for _, d := range found {
		w.harm(d)
	}
	if deletes && len(found) == 0 {
		w.vanished(op, now)
	}
}

// vanished ends the run if an item of the run is gone that it did not delete: the next
// delete could take something of others.
func (w *watcher) vanished(remove *catalog.Operation, now *census) {
	create := w.run.Catalog.Creator(remove)
	list := w.run.Catalog.Partner("list", "READ", remove.Resource)
	l := now.Of(list)
	if create == nil || l == nil || l.partial != "" || w.run.Catalog.AtMostOne(create) {
		return
	}
	things := slices.Clone(w.run.Keeper.Ledger.Things[create.Resource])
	missing := slices.DeleteFunc(things, func(t CreatedThing) bool {
		return t.Id.IsAbsent() || l.ids[t.Id.String()] || w.run.Keeper.deleting[t.Id.String()]
	})
	if len(missing) == 0 || !w.run.Caller.Tape.Pause(w.run.Caller.Ctx, controlTime) {
		return
	}
	for _, t := range missing {
		if _, gone := w.run.Lister.Fate(create, t, w.run.Maker.RunIDs()); gone {
			w.harm(difference{list: l, id: t.Id, says: fmt.Sprintf("%s took %s with it, which this run had created and not deleted", remove.Name, shownItem(t.Id, ""))})
			return
		}
	}
}

// certain keeps the differences that are harm even while items of the run exist,
// which affect counts, positions and lists of the newest: entries of others that show
// the run's mark, and more removed entries than the run added.
func (w *watcher) certain(found []difference) []difference {
	lost := balance(found, w.ours)
	return slices.DeleteFunc(found, func(d difference) bool {
		gone := d.item.IsAbsent() && (lost[d.list] > 0 || w.removed(d))
		hit := catalog.Carries(d.item, w.run.Maker.RunIDs()) && !w.ours(d)
		return d.id.IsAbsent() || !gone && !hit
	})
}

// removed reports whether an item that a list no longer shows does not exist any more,
// while another one that it shows can be read.
func (w *watcher) removed(d difference) bool {
	get := w.run.Catalog.Partner("get", "READ", d.list.op.Resource)
	if get == nil || get.IDParam() == nil || w.run.Skipped[get.Name] != "" || slices.ContainsFunc(get.Params, func(p catalog.Parameter) bool { return p.Required && !get.IsIdentifier(p) }) {
		return false
	}
	read := func(id jsonv.Value) Reply {
		return w.run.Caller.Call(get, w.run.Builder.Naming(get, CreatedThing{Id: id}))
	}
	if !strings.HasPrefix(read(d.id).Code(), "NOT_FOUND") {
		return false
	}
	for _, key := range SortedKeys(d.list.items) {
		id := itemID(w.run.Catalog.ItemKeys(d.list.op), d.list.items[key])
		if r := read(id); !jsonv.Equal(id, d.id) && r.OK() {
			return true
		}
	}
	return false
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
		if !w.knownBefore(op, t.Id) && w.run.Keeper.Ledger.Add(op.Resource, t) {
			found++
		}
	}
	return found
}

// Record reports whether an operation reports past events: showing the run's own calls
// is not an effect of those calls. What can be created is data, as the events of a calendar.
func (w *watcher) Record(op *catalog.Operation) bool {
	return keepsRecord().MatchString(op.Name) && w.run.Catalog.Creator(op) == nil
}

var keepsRecord = evidence.Pattern(`(?i)(^|_)(logs?|audit|trail|histor(y|ies)|events?|activit(y|ies)|metrics?|stats?|statistics|status|health|usage|time|clock|uptime|recent)(_|$)`)

// knownBefore reports whether a list contained an identifier before the run created
// anything.
func (w *watcher) knownBefore(op *catalog.Operation, id jsonv.Value) bool {
	return !id.IsAbsent() && w.Census.knows(op.Resource, id)
}
