package change

import (
	"fmt"
	"slices"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/evidence"
	"mcptest/internal/mcpaql/live/catalog"
	"mcptest/internal/mcpaql/reference"
)

// Census holds the content of the adapter's lists before a run wrote anything. It is
// read twice when the run begins, and again before its first call that is not a read.
// Differences between the readings change by themselves, but for harm, see
// watcher.Reads.
type Census struct {
	Lists   []*Listing
	Settled bool // the second reading is done
}

// Listing is the content of one list.
type Listing struct {
	Op       *catalog.Operation
	Items    map[string]jsonv.Value // by kind and identifier
	IDs      map[string]bool        // identifiers, of both readings
	Partial  string                 // why it was not read completely
	Volatile map[string]bool        // paths in items that change by themselves
	Moving   bool                   // items come and go by themselves
}

// Difference is a change in a list.
type Difference struct {
	List   *Listing
	ID     jsonv.Value
	Before jsonv.Value // absent when it was not there
	Item   jsonv.Value // absent when it is gone
	Says   string
}

// Added reports whether an item was not there before.
func (d Difference) Added() bool { return d.Before.IsAbsent() }

// Reads reports whether all items of a resource are known from its lists.
func (s *Census) Reads(resource string) bool {
	return slices.ContainsFunc(s.Lists, func(l *Listing) bool {
		return l.Op.Verb == "list" && l.Partial == "" && catalog.SameResource(l.Op.Resource, resource)
	})
}

// Knows reports whether a list contained an identifier of a resource.
func (s *Census) Knows(resource string, id jsonv.Value) bool {
	return slices.ContainsFunc(s.Lists, func(l *Listing) bool { return l.IDs[id.String()] && catalog.SameResource(l.Op.Resource, resource) })
}

// Resembles reports whether an identifier that others own contains the given one or
// differs from it only in case: an adapter may confuse the two.
func (s *Census) Resembles(resource string, id jsonv.Value, keys func(*catalog.Operation) []string) bool {
	mine := strings.ToLower(reference.Text(id))
	for _, l := range s.Lists {
		for _, item := range l.Items {
			if own := ItemID(keys(l.Op), item); catalog.SameResource(l.Op.Resource, resource) && strings.Contains(strings.ToLower(reference.Text(own)), mine) {
				return true
			}
		}
	}
	return false
}

// ItsAnswer describes an answer that lists nothing.
const ItsAnswer = " its response"

// Unreadable is the reason why the content of a list is unknown.
const Unreadable = "it could not be read"

// Enter adds an item under its identifier, or under its position if it has none.
func (l *Listing) Enter(kind string, keys []string, item jsonv.Value, place int) {
	id := ItemID(keys, item)
	if id.IsAbsent() {
		l.Items[fmt.Sprintf("%s entry %d", kind, place)] = item
		return
	}
	l.Items[kind+" "+id.String()] = item
	for _, key := range keys {
		if v := item.Lookup(key); !v.IsAbsent() {
			l.IDs[v.String()] = true
		}
	}
}

// ItemID returns the identifier of an item, absent if it has none.
func ItemID(keys []string, item jsonv.Value) jsonv.Value {
	for _, key := range keys {
		if v := item.Lookup(key); v.Kind() == jsonv.KindString || v.Kind() == jsonv.KindNumber {
			return v
		}
	}
	return jsonv.Value{}
}

// Of returns the listing of an operation; nil when there is none.
func (s *Census) Of(op *catalog.Operation) *Listing {
	i := slices.IndexFunc(s.Lists, func(l *Listing) bool { return l.Op == op })
	if i < 0 {
		return nil
	}
	return s.Lists[i]
}

// Learn records the differences between two readings with no write between them.
func (s *Census) Learn(again *Census) {
	for _, l := range s.Lists {
		now := again.Of(l.Op)
		if now == nil {
			continue
		}
		for key, item := range l.Items {
			other, there := now.Items[key]
			l.Moving = l.Moving || !there
			for _, ch := range jsonv.Diff(WithoutVolatile(item), WithoutVolatile(other)) {
				l.Volatile[ch.Path] = l.Volatile[ch.Path] || there
			}
		}
		l.Moving = l.Moving || len(now.Items) != len(l.Items)
	}
}

// Compare lists the differences between the lists now and before.
func (s *Census) Compare(after *Census, keys func(*catalog.Operation) []string) (out []Difference) {
	for _, l := range s.Lists {
		now, named := after.Of(l.Op), keys(l.Op)
		if now == nil || now.Partial == Unreadable {
			continue
		}
		whole := l.Partial == "" && now.Partial == "" && !l.Moving
		for _, key := range evidence.SortedKeys(l.Items) {
			item, there := now.Items[key]
			id := ItemID(named, l.Items[key])
			switch changed := l.Changed(l.Items[key], item); {
			case there && len(changed) > 0:
				out = append(out, Difference{l, id, l.Items[key], item, fmt.Sprintf("%s shows %s with another %s", l.Op.Name, ShownItem(id, key), evidence.Several(evidence.Each(changed, func(ch jsonv.Change) string { return ch.Path })))})
			case !there && whole && !strings.HasSuffix(key, ItsAnswer):
				out = append(out, Difference{l, id, l.Items[key], jsonv.Value{}, fmt.Sprintf("%s no longer shows %s", l.Op.Name, ShownItem(id, key))})
			}
		}
		for _, key := range evidence.SortedKeys(now.Items) {
			if _, there := l.Items[key]; !there && whole && !strings.HasSuffix(key, ItsAnswer) {
				id := ItemID(named, now.Items[key])
				out = append(out, Difference{l, id, jsonv.Value{}, now.Items[key], fmt.Sprintf("%s shows %s, which was not there before", l.Op.Name, ShownItem(id, key))})
			}
		}
	}
	return out
}

// ShownItem names an item in a message: by its identifier, or else by its place in the
// list, which the key ends with.
func ShownItem(id jsonv.Value, key string) string {
	if id.IsAbsent() {
		_, rest, _ := strings.Cut(key, " ")
		return rest
	}
	return display.Truncate(reference.Text(id), 60)
}

// Changed lists the members of an item that differ, except those that change by
// themselves.
func (l *Listing) Changed(before, now jsonv.Value) []jsonv.Change {
	return slices.DeleteFunc(jsonv.Diff(WithoutVolatile(before), WithoutVolatile(now)), func(ch jsonv.Change) bool { return l.Volatile[ch.Path] })
}

// Balance counts how many more items each list lost than it got; got says which of the
// items that it shows count.
func Balance(found []Difference, got func(Difference) bool) map[*Listing]int {
	lost := map[*Listing]int{}
	for _, d := range found {
		switch {
		case d.Item.IsAbsent():
			lost[d.List]++
		case got(d):
			lost[d.List]--
		}
	}
	return lost
}

// Hurt lists the texts of an item that a later state lacks, except times, numbers, and
// what changes by itself.
func (l *Listing) Hurt(before, now jsonv.Value) (out []jsonv.Change) {
	if before.IsAbsent() {
		return nil
	}
	for _, ch := range l.Changed(before, now) {
		text := ch.Kind == jsonv.Removed || ch.Want.Kind() == jsonv.KindString && !sameText(ch, digitRuns) && !sameText(ch, clockText)
		if text && !DateName().MatchString(ch.Path) {
			out = append(out, ch)
		}
	}
	return out
}
