package guard

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/evidence"
	"mcptest/internal/mcpaql/live/catalog"
	"mcptest/internal/mcpaql/reference"
)

// census holds the content of the adapter's lists before a run wrote anything. It is
// read twice when the run begins, and again before its first call that is not a read.
// Differences between the readings change by themselves, but for harm, see
// watcher.Reads.
type census struct {
	lists   []*listing
	settled bool // the second reading is done
}

// listing is the content of one list.
type listing struct {
	op       *catalog.Operation
	items    map[string]jsonv.Value // by kind and identifier
	ids      map[string]bool        // identifiers, of both readings
	partial  string                 // why it was not read completely
	volatile map[string]bool        // paths in items that change by themselves
	Moving   bool                   // items come and go by themselves
}

// maxCensusPages bounds how many pages of a list are read.
const maxCensusPages = 50

// difference is a change in a list.
type difference struct {
	list   *listing
	id     jsonv.Value
	before jsonv.Value // absent when it was not there
	item   jsonv.Value // absent when it is gone
	says   string
}

func (d difference) added() bool { return d.before.IsAbsent() }

// reads reports whether all items of a resource are known from its lists.
func (s *census) reads(resource string) bool {
	return slices.ContainsFunc(s.lists, func(l *listing) bool {
		return l.op.Verb == "list" && l.partial == "" && catalog.SameResource(l.op.Resource, resource)
	})
}

// knows reports whether a list contained an identifier of a resource.
func (s *census) knows(resource string, id jsonv.Value) bool {
	return slices.ContainsFunc(s.lists, func(l *listing) bool { return l.ids[id.String()] && catalog.SameResource(l.op.Resource, resource) })
}

// resembles reports whether an identifier that others own contains the given one or
// differs from it only in case: an adapter may confuse the two.
func (s *census) resembles(resource string, id jsonv.Value, keys func(*catalog.Operation) []string) bool {
	mine := strings.ToLower(reference.Text(id))
	for _, l := range s.lists {
		for _, item := range l.items {
			if own := itemID(keys(l.op), item); catalog.SameResource(l.op.Resource, resource) && strings.Contains(strings.ToLower(reference.Text(own)), mine) {
				return true
			}
		}
	}
	return false
}

// TakeCensus reads the lists that answered when the run began, every kind and every
// page; only those of the given resource unless it is "".
func (w *watcher) TakeCensus(resource string) *census {
	s := &census{}
	for _, op := range w.run.Catalog.Operations {
		first, known := w.run.Builder.First[op.Name]
		if !known || !first.OK() || resource != "" && !catalog.SameResource(op.Resource, resource) {
			continue
		}
		s.lists = append(s.lists, w.read(op))
	}
	return s
}

// read reads a list, every kind and every page.
func (w *watcher) read(op *catalog.Operation) *listing {
	l := &listing{op: op, items: map[string]jsonv.Value{}, ids: map[string]bool{}, volatile: map[string]bool{}}
	kinds := []jsonv.Value{jsonv.Object()}
	if create := w.run.Catalog.Creator(op); create != nil {
		kinds = w.run.Maker.Kinds(create, w.run.Gate.Remover(create))
	}
	for i, kind := range kinds {
		if thing := (CreatedThing{With: kind}); i == 0 || op.Param(firstKey(kind)) != nil {
			w.readList(l, kind, thing.Naming(op, w.run.Builder.First[op.Name].Args.Lookup("params")))
		}
	}
	return l
}

func firstKey(v jsonv.Value) string {
	for k := range v.Members() {
		return k
	}
	return ""
}

// readList adds the pages of a list to a listing.
func (w *watcher) readList(l *listing, kind, params jsonv.Value) {
	n, got, total, keys := 0, 0, int64(0), w.run.Catalog.ItemKeys(l.op)
	whole := w.run.Lister.Pages(l.op, params, func(r Reply) bool {
		list := catalog.NamedItems(r.Data(), keys)
		if first := w.run.Builder.First[l.op.Name]; w.timing && n == 0 && jsonv.Equal(first.Args, r.Args) {
			w.run.Steady.maskOf(l.op).Learn(first.Envelope, r.Envelope)
			w.run.Steady.known[l.op.Name] = true
		}
		if list == nil && n == 0 {
			l.items[kind.String()+itsAnswer] = r.Data()
			for _, name := range catalog.Names(r.Data(), catalog.ListDepth) {
				l.enter(kind.String(), []string{"id"}, jsonv.ObjectOf("id", name), 0)
			}
		}
		for _, item := range list {
			got++
			l.enter(kind.String(), keys, item, got)
		}
		total, _ = r.Data().Lookup("total").Int64()
		n++
		return n < maxCensusPages
	})
	switch {
	case n == 0:
		l.partial = unreadable
	case n == maxCensusPages:
		l.partial = fmt.Sprintf("it has more than %d pages", maxCensusPages)
	case !whole:
		l.partial = fmt.Sprintf("page %d could not be read", n+1)
	case int64(got) < total:
		l.partial = fmt.Sprintf("it showed %d of %d", got, total)
	}
}

// itsAnswer describes an answer that lists nothing.
const itsAnswer = " its response"

// unreadable is the reason why the content of a list is unknown.
const unreadable = "it could not be read"

// enter adds an item under its identifier, or under its position if it has none.
func (l *listing) enter(kind string, keys []string, item jsonv.Value, place int) {
	id := itemID(keys, item)
	if id.IsAbsent() {
		l.items[fmt.Sprintf("%s entry %d", kind, place)] = item
		return
	}
	l.items[kind+" "+id.String()] = item
	for _, key := range keys {
		if v := item.Lookup(key); !v.IsAbsent() {
			l.ids[v.String()] = true
		}
	}
}

// itemID returns the identifier of an item, absent if it has none.
func itemID(keys []string, item jsonv.Value) jsonv.Value {
	for _, key := range keys {
		if v := item.Lookup(key); v.Kind() == jsonv.KindString || v.Kind() == jsonv.KindNumber {
			return v
		}
	}
	return jsonv.Value{}
}

// settle takes another census before the first call that is not a read: numbers and
// times that the calls until then changed are no harm.
func (w *watcher) settle() {
	if w.Census.settled || len(w.Census.lists) == 0 {
		return
	}
	w.Census.settled, w.latest = true, nil // an effect may show only now
	w.Reads()
	now := w.TakeCensus("")
	now.settled = true
	w.Census.learn(now)
	for _, l := range now.lists {
		if old := w.Census.Of(l.op); old != nil {
			l.volatile, l.Moving = old.volatile, old.Moving
			maps.Copy(l.ids, old.ids)
		}
	}
	w.Census = now
}

// Of returns the listing of an operation; nil when there is none.
func (s *census) Of(op *catalog.Operation) *listing {
	i := slices.IndexFunc(s.lists, func(l *listing) bool { return l.op == op })
	if i < 0 {
		return nil
	}
	return s.lists[i]
}

// learn records the differences between two readings with no write between them.
func (s *census) learn(again *census) {
	for _, l := range s.lists {
		now := again.Of(l.op)
		if now == nil {
			continue
		}
		for key, item := range l.items {
			other, there := now.items[key]
			l.Moving = l.Moving || !there
			for _, ch := range jsonv.Diff(WithoutVolatile(item), WithoutVolatile(other)) {
				l.volatile[ch.Path] = l.volatile[ch.Path] || there
			}
		}
		l.Moving = l.Moving || len(now.items) != len(l.items)
	}
}

// compare lists the differences between the lists now and before.
func (s *census) compare(after *census, keys func(*catalog.Operation) []string) (out []difference) {
	for _, l := range s.lists {
		now, named := after.Of(l.op), keys(l.op)
		if now == nil || now.partial == unreadable {
			continue
		}
		whole := l.partial == "" && now.partial == "" && !l.Moving
		for _, key := range SortedKeys(l.items) {
			item, there := now.items[key]
			id := itemID(named, l.items[key])
			switch changed := l.changed(l.items[key], item); {
			case there && len(changed) > 0:
				out = append(out, difference{l, id, l.items[key], item, fmt.Sprintf("%s shows %s with another %s", l.op.Name, shownItem(id, key), evidence.Several(evidence.Each(changed, func(ch jsonv.Change) string { return ch.Path })))})
			case !there && whole && !strings.HasSuffix(key, itsAnswer):
				out = append(out, difference{l, id, l.items[key], jsonv.Value{}, fmt.Sprintf("%s no longer shows %s", l.op.Name, shownItem(id, key))})
			}
		}
		for _, key := range SortedKeys(now.items) {
			if _, there := l.items[key]; !there && whole && !strings.HasSuffix(key, itsAnswer) {
				id := itemID(named, now.items[key])
				out = append(out, difference{l, id, jsonv.Value{}, now.items[key], fmt.Sprintf("%s shows %s, which was not there before", l.op.Name, shownItem(id, key))})
			}
		}
	}
	return out
}

func shownItem(id jsonv.Value, key string) string {
	if id.IsAbsent() {
		_, rest, _ := strings.Cut(key, " ")
		return rest
	}
	return display.Truncate(reference.Text(id), 60)
}

// changed lists the members of an item that differ, except those that change by
// themselves.
func (l *listing) changed(before, now jsonv.Value) []jsonv.Change {
	return slices.DeleteFunc(jsonv.Diff(WithoutVolatile(before), WithoutVolatile(now)), func(ch jsonv.Change) bool { return l.volatile[ch.Path] })
}

// controlTime is the delay after a difference until the lists are read once more: it
// is long enough for a clock that counts seconds to change.
const controlTime = 1100 * time.Millisecond

// checkOthers compares the lists with their content before the run wrote anything.
// Differences in items that the run does not own are reported first.
func (w *watcher) checkOthers() {
	if !w.Census.settled {
		return
	}
	all := func(found []difference) []difference { return found }
	after, found := w.differences("", all)
	if w.adopt(found) {
		w.run.Cleaner.CleanUp(false)
		after, found = w.differences("", all)
	}
	gone := balance(found, difference.added)
	for _, d := range found {
		switch {
		case w.ours(d):
			w.stillListed(d, "the run made it, and the list still shows it")
		case d.before.IsAbsent() && w.belongs(d.item):
			w.stillListed(d, "it belongs to something that the run made, and the list still shows it")
		case d.before.IsAbsent() && w.run.Cleaner.unfound(d.list.op):
			w.stillListed(d, "a create of the run may have made it, and it does not carry the run's mark")
		case w.maybeCounts(d, gone[d.list]):
			w.Unchecked = append(w.Unchecked, d.says+", which may count what this run did")
		default:
			w.note(d)
		}
	}
	for _, l := range w.Census.lists {
		switch now := after.Of(l.op); {
		case now == nil || now.partial == unreadable:
			w.Unchecked = append(w.Unchecked, l.op.Name+" could not be read afterwards")
		case l.partial != "" || now.partial != "":
			w.Unchecked = append(w.Unchecked, l.op.Name+" was compared partly: "+l.partial+now.partial)
		case l.Moving:
			w.Unchecked = append(w.Unchecked, l.op.Name+" changes by itself: added and removed entries were not compared")
		}
	}
}

// maybeCounts reports whether a difference may be due to what the run did: in a record
// of past events, which grows, or, if something was left behind, in the numbers and times
// of any item. gone is how many more items the list lost than it got.
func (w *watcher) maybeCounts(d difference, gone int) bool {
	record := w.Record(d.list.op)
	switch {
	case d.before.IsAbsent():
		return record
	case d.item.IsAbsent():
		return record && gone <= 0
	}
	return record && d.id.IsAbsent() || (record || len(w.run.Cleaner.Leftovers) > 0) && len(d.list.hurt(d.before, d.item)) == 0
}

// belongs reports whether a member of an item names something that the run made.
func (w *watcher) belongs(item jsonv.Value) bool {
	for name, v := range item.Members() {
		if of := catalog.Stem(name); of != "" && w.run.Keeper.Ledger.made(of, v) {
			return true
		}
	}
	return false
}

// stillListed reports an item of the run that a list shows at the end of the run.
func (w *watcher) stillListed(d difference, reason string) {
	if slices.ContainsFunc(w.run.Cleaner.Leftovers, func(v jsonv.Value) bool { return jsonv.Equal(v.Lookup("id"), d.id) }) {
		return
	}
	w.run.Cleaner.leave(d.list.op, "id", d.id, reason)
}
