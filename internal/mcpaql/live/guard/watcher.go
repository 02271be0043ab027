package guard

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lists"
	"mcptest/internal/mcpaql/evidence"
	"mcptest/internal/mcpaql/live/catalog"
	"mcptest/internal/mcpaql/live/change"
)

// watcher checks for harm to the data of others during a run: the run ends
// with the first harm, so that there is no more of it.
type watcher struct {
	values
	lister  *lister
	steady  *steadiness
	latest  *change.Census  // the last reading of the lists while only READ operations were called
	calls   int             // how many calls had been sent then
	watched map[string]bool // operations whose first change was followed by a comparison of the lists
	Changed []jsonv.Value   // data of others that differs at the end of the run
}

// whyHarm is the reason why a run sends nothing more.
const whyHarm = "the run was ended: data changed that it did not create"

// endByHarm records the change in a list and ends the run.
func (w *watcher) endByHarm(d change.Difference) {
	w.noteHarm(d)
	w.Caller.Dead = whyHarm
}

// noteHarm records a difference as harm, with the state before.
func (w *watcher) noteHarm(d change.Difference) {
	says, before, after := d.Says, w.Caller.Redact(d.Before), w.Caller.Redact(d.Item)
	switch {
	case before.IsAbsent():
		after = before
	case after.IsAbsent():
		says += ": it was " + display.Truncate(before.String(), maxShownState)
	default:
		says += ": " + w.describeStates(d)
	}
	harm := jsonv.ObjectOf("operation", d.List.Op.Name, "says", says, "before", before, "after", after)
	w.Changed = append(w.Changed, harm)
}

// maxShownState is how much of the state before a change the report shows.
const maxShownState = 300

// describeStates describes the changed members of an item before and after.
func (w *watcher) describeStates(d change.Difference) string {
	changed := d.List.FindChanges(w.Caller.Redact(d.Before), w.Caller.Redact(d.Item))
	return evidence.JoinFirst(lists.Map(changed, func(ch jsonv.Change) string {
		before := display.Truncate(ch.Want.String(), maxShownState)
		return fmt.Sprintf("%s was %s, and is %s", ch.Path, before, evidence.FormatBrief(ch.Got))
	}))
}

// Begin reads the lists twice, before any other READ operation is called: what differs
// changes by itself.
func (w *watcher) Begin() {
	w.lister.timing = true
	w.Gate.Census = w.lister.TakeCensus("")
	if len(w.Gate.Census.Lists) > 0 && w.Caller.Tape.Pause(w.Caller.Ctx, w.Options.Spread) {
		w.Gate.Census.Learn(w.recount())
	} else {
		clear(w.steady.known)
	}
	w.lister.timing = false
}

// recount reads the lists of the census once more, and calls nothing else.
func (w *watcher) recount() *change.Census {
	s := &change.Census{Lists: lists.Map(w.Gate.Census.Lists, func(l *change.Listing) *change.Listing {
		return w.lister.readListing(l.Op)
	})}
	w.latest, w.calls = s, w.Caller.Calls
	return s
}

// CheckReads checks whether the lists changed since Begin, while only operations declared
// READ were called with what others own. It returns the latest content of the lists, which
// are read again only if something was called since.
func (w *watcher) CheckReads() *change.Census {
	if w.latest != nil && w.calls == w.Caller.Calls {
		return w.latest
	}
	now := w.recount()
	if len(w.findReadHarm(now)) == 0 || !w.Caller.Tape.Pause(w.Caller.Ctx, w.Options.Spread) {
		return now
	}
	// A list that changes while nothing else is called, such as a queue, changes by
	// itself.
	later := w.recount()
	now.Learn(later)
	for _, d := range w.findReadHarm(later) {
		if lasts(d, now.FindListing(d.List.Op)) {
			d.Says += ", and only operations declared READ were called"
			w.endByHarm(d)
		}
	}
	return later
}

// lasts reports whether a difference is harm although its list, which may be nil, was read twice.
func lasts(d change.Difference, l *change.Listing) bool {
	switch {
	case l == nil:
		return false
	case d.Item.IsAbsent():
		return !l.Moving
	}
	return len(l.FindLostTexts(d.Before, d.Item)) > 0
}

// reportEffects reports items of the run that operations declared READ changed between two
// censuses.
func (w *watcher) reportEffects(before, after *change.Census) {
	var again *change.Census
	for _, d := range before.Compare(after, w.Catalog.ListItemKeys) {
		if d.Before.IsAbsent() || d.Item.IsAbsent() || !w.Ledger.hasMade(d.List.Op.Resource, d.ID) {
			continue
		}
		if again == nil {
			again = w.recount()
			after.Learn(again)
		}
		if l := after.FindListing(d.List.Op); len(l.FindChanges(d.Before, d.Item)) > 0 {
			w.Rows.Fail("consistency.effects", Reply{}, "%s, and only operations declared READ were called", d.Says)
		}
	}
}

// findReadHarm returns the differences that are harm although only READ operations were called:
// items whose texts changed, and items that are gone. A list of the newest entries drops one
// for each that is added, so only further losses count.
func (w *watcher) findReadHarm(now *change.Census) []change.Difference {
	found := w.Gate.Census.Compare(now, w.Catalog.ListItemKeys)
	lost := change.CountLosses(found, change.Difference.IsAdded)
	var harm []change.Difference
	for _, d := range found {
		if w.IsRecord(d.List.Op) {
			continue
		}
		isGone := d.Item.IsAbsent() && lost[d.List] > 0
		isKnown := !d.ID.IsAbsent() || !w.Gate.Census.Settled // later it shows what the run made
		isHurt := !d.Item.IsAbsent() && isKnown && len(d.List.FindLostTexts(d.Before, d.Item)) > 0
		if isGone || isHurt {
			harm = append(harm, d)
		}
	}
	return harm
}

// checkChange compares the lists of a resource, or all after an EXECUTE, with their content
// before the run wrote anything, after the first change of each operation and after each
// delete.
func (w *watcher) checkChange(op *catalog.Operation) {
	deletes := op.Category == "DELETE"
	if !deletes && (w.watched[op.Name] || w.Caller.Cleaning) || w.Caller.Dead != "" {
		return
	}
	w.watched[op.Name] = true
	resource := op.Resource
	if op.Category == "EXECUTE" {
		resource = ""
	}
	now, found := w.compareLists(resource, w.findCertainHarm)
	for _, d := range found {
		w.endByHarm(d)
	}
	if deletes && len(found) == 0 {
		w.checkVanished(op, now)
	}
}

// checkVanished ends the run if an item of the run is gone that it did not delete: the next
// delete could take something of others.
func (w *watcher) checkVanished(remove *catalog.Operation, now *change.Census) {
	create := w.Catalog.FindCreator(remove)
	list := w.Catalog.FindPartner("list", "READ", remove.Resource)
	l := now.FindListing(list)
	if create == nil || l == nil || l.Partial != "" || w.Catalog.HasAtMostOne(create) {
		return
	}
	things := w.Ledger.ListThings(create.Resource)
	missing := slices.DeleteFunc(things, func(t CreatedThing) bool {
		return t.ID.IsAbsent() || l.IDs[t.ID.String()] || w.Ledger.deleting[t.ID.String()]
	})
	if len(missing) == 0 || !w.Caller.Tape.Pause(w.Caller.Ctx, controlTime) {
		return
	}
	for _, t := range missing {
		if _, gone := w.lister.DetermineFate(create, t, w.Maker.RunIDs()); gone {
			w.endByHarm(change.Difference{
				List: l,
				ID:   t.ID,
				Says: fmt.Sprintf("%s took %s with it, which this run had created and not deleted", remove.Name, change.ShowItem(t.ID, "")),
			})
			return
		}
	}
}

// findCertainHarm returns the differences that are harm even while items of the run exist, which
// shift counts and positions: an entry of others with the run's mark, or more lost entries
// than the run added.
func (w *watcher) findCertainHarm(found []change.Difference) []change.Difference {
	lost := change.CountLosses(found, w.isOurs)
	var harm []change.Difference
	for _, d := range found {
		if d.ID.IsAbsent() {
			continue
		}
		isGone := d.Item.IsAbsent() && (lost[d.List] > 0 || w.isRemoved(d))
		isMarked := catalog.Carries(d.Item, w.Maker.RunIDs()) && !w.isOurs(d)
		if isGone || isMarked {
			harm = append(harm, d)
		}
	}
	return harm
}

// isRemoved reports whether an item that a list no longer shows does not exist any more,
// while another one that it shows can be read.
func (w *watcher) isRemoved(d change.Difference) bool {
	get := w.Catalog.FindPartner("get", "READ", d.List.Op.Resource)
	needsMore := func(p catalog.Parameter) bool {
		return p.Required && !get.IsIdentifier(p)
	}
	if get == nil || get.FindIDParam() == nil || w.Gate.Skipped[get.Name] != "" {
		return false
	}
	if slices.ContainsFunc(get.Params, needsMore) {
		return false
	}
	read := func(id jsonv.Value) Reply {
		return w.Caller.Call(get, w.lister.BuildNaming(get, CreatedThing{ID: id}))
	}
	if !strings.HasPrefix(read(d.ID).Code(), "NOT_FOUND") {
		return false
	}
	for _, key := range evidence.ListKeys(d.List.Items) {
		id := change.FindID(w.Catalog.ListItemKeys(d.List.Op), d.List.Items[key])
		r := read(id)
		if !jsonv.Equal(id, d.ID) && r.IsOK() {
			return true
		}
	}
	return false
}

// isOurs reports whether a difference is an item of the run. An item that existed
// before the run is not its own even if it shows the mark: a change of the run has
// hit it.
func (w *watcher) isOurs(d change.Difference) bool {
	resource := d.List.Op.Resource
	switch {
	case d.Item.IsAbsent():
		return false
	case w.Ledger.hasMade(resource, d.ID):
		return true
	}
	return catalog.Carries(d.Item, w.Maker.RunIDs()) && !w.Gate.Census.Knows(resource, d.ID)
}

// adopt records listed items with the run's mark whose create failed. It returns
// false if there are none.
func (w *watcher) adopt(found []change.Difference) bool {
	n := 0
	for _, d := range found {
		create := w.Catalog.FindCreator(d.List.Op)
		if create == nil || d.Item.IsAbsent() || !catalog.Carries(d.Item, w.Maker.RunIDs()) {
			continue
		}
		if !w.Ledger.hasMade(create.Resource, d.ID) {
			n += w.addMarked(create)
		}
	}
	return n > 0
}

// compareLists compares the lists of a resource, or all lists for "", with their
// content before the run wrote anything. If a difference counts, the lists are read
// again to find what changes by itself.
func (w *watcher) compareLists(
	resource string, counts func([]change.Difference) []change.Difference,
) (*change.Census, []change.Difference) {
	after := w.lister.TakeCensus(resource)
	found := counts(w.Gate.Census.Compare(after, w.Catalog.ListItemKeys))
	if len(found) == 0 || !w.Caller.Tape.Pause(w.Caller.Ctx, controlTime) {
		return after, found
	}
	again := w.lister.TakeCensus(resource)
	after.Learn(again)
	for _, l := range after.Lists {
		if old := w.Gate.Census.FindListing(l.Op); old != nil {
			old.Moving = old.Moving || l.Moving
			for path := range l.Volatile {
				old.Volatile[path] = true
			}
		}
	}
	return again, counts(w.Gate.Census.Compare(again, w.Catalog.ListItemKeys))
}

// addMarked records the listed items with the run's mark, and counts them.
func (w *watcher) addMarked(op *catalog.Operation) (found int) {
	for _, t := range w.lister.FindMarked(op, w.Maker.RunIDs()) {
		if !w.Gate.Census.Knows(op.Resource, t.ID) && w.Ledger.Add(op.Resource, t) {
			found++
		}
	}
	return found
}

// IsRecord reports whether an operation reports past events: showing the run's own calls
// is not an effect of those calls. An operation whose resource can be created, such as the
// events of a calendar, lists data.
func (w *watcher) IsRecord(op *catalog.Operation) bool {
	return keepsRecord().MatchString(op.Name) && w.Catalog.FindCreator(op) == nil
}

var keepsRecord = evidence.Pattern(`(?i)(^|_)(logs?|audit|trail|histor(y|ies)|events?|activit(y|ies)|metrics?|stats?|statistics|status|health|usage|time|clock|uptime|recent)(_|$)`)

// settle takes another census before the first call that is not a read: numbers and
// times that the calls until then changed are not harm.
func (w *watcher) settle() {
	if w.Gate.Census.Settled || len(w.Gate.Census.Lists) == 0 {
		return
	}
	w.Gate.Census.Settled, w.latest = true, nil // an effect may show only now
	w.CheckReads()
	now := w.lister.TakeCensus("")
	now.Settled = true
	w.Gate.Census.Learn(now)
	for _, l := range now.Lists {
		if old := w.Gate.Census.FindListing(l.Op); old != nil {
			l.Volatile, l.Moving = old.Volatile, old.Moving
			maps.Copy(l.IDs, old.IDs)
		}
	}
	w.Gate.Census = now
}
