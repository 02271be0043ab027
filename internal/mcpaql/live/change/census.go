package change

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lists"
	"mcptest/internal/mcpaql/evidence"
	"mcptest/internal/mcpaql/live/catalog"
	"mcptest/internal/mcpaql/reference"
)

// Census holds the content of the adapter's lists before a run wrote anything. It is
// read twice when the run begins, and again before its first call that is not a read.
// What differs between the readings changes by itself, unless it is harm, which
// watcher.CheckReads decides.
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

// IsAdded reports whether an item was not there before.
func (d Difference) IsAdded() bool { return d.Before.IsAbsent() }

// ReadsAll reports whether all items of a resource are known from its lists.
func (s *Census) ReadsAll(resource string) bool {
	return slices.ContainsFunc(s.Lists, func(l *Listing) bool {
		return l.Op.Verb == "list" && l.Partial == "" && catalog.IsSameResource(l.Op.Resource, resource)
	})
}

// Knows reports whether a list contained an identifier of a resource.
func (s *Census) Knows(resource string, id jsonv.Value) bool {
	return slices.ContainsFunc(s.Lists, func(l *Listing) bool {
		return l.IDs[id.String()] && catalog.IsSameResource(l.Op.Resource, resource)
	})
}

// HasSimilar reports whether an identifier that others own contains the given one or
// differs from it only in case: an adapter may confuse the two.
func (s *Census) HasSimilar(resource string, id jsonv.Value, keys func(*catalog.Operation) []string) bool {
	mine := strings.ToLower(reference.FormatText(id))
	for _, l := range s.Lists {
		for _, item := range l.Items {
			own := FindID(keys(l.Op), item)
			if catalog.IsSameResource(l.Op.Resource, resource) && strings.Contains(strings.ToLower(reference.FormatText(own)), mine) {
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
	id := FindID(keys, item)
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

// FindID returns the identifier of an item, absent if it has none.
func FindID(keys []string, item jsonv.Value) jsonv.Value {
	for _, key := range keys {
		if v := item.Lookup(key); v.Kind() == jsonv.KindString || v.Kind() == jsonv.KindNumber {
			return v
		}
	}
	return jsonv.Value{}
}

// FindListing returns the listing of an operation; nil when there is none.
func (s *Census) FindListing(op *catalog.Operation) *Listing {
	return lists.First(s.Lists, func(l *Listing) bool { return l.Op == op })
}

// Learn records the differences between two readings with no write between them.
func (s *Census) Learn(again *Census) {
	for _, l := range s.Lists {
		now := again.FindListing(l.Op)
		if now == nil {
			continue
		}
		for key, item := range l.Items {
			other, there := now.Items[key]
			l.Moving = l.Moving || !there
			for _, ch := range jsonv.Diff(DropVolatile(item), DropVolatile(other)) {
				l.Volatile[ch.Path] = l.Volatile[ch.Path] || there
			}
		}
		l.Moving = l.Moving || len(now.Items) != len(l.Items)
	}
}

// Compare lists the differences between the lists now and before.
func (s *Census) Compare(after *Census, keys func(*catalog.Operation) []string) (out []Difference) {
	for _, l := range s.Lists {
		now, named := after.FindListing(l.Op), keys(l.Op)
		if now == nil || now.Partial == Unreadable {
			continue
		}
		whole := l.Partial == "" && now.Partial == "" && !l.Moving
		for _, key := range evidence.ListKeys(l.Items) {
			item, there := now.Items[key]
			id := FindID(named, l.Items[key])
			changed := l.FindChanges(l.Items[key], item)
			switch {
			case there && len(changed) > 0:
				paths := evidence.JoinFirst(lists.Map(changed, func(ch jsonv.Change) string { return ch.Path }))
				out = append(out, Difference{
					List:   l,
					ID:     id,
					Before: l.Items[key],
					Item:   item,
					Says:   fmt.Sprintf("%s shows %s with another %s", l.Op.Name, ShowItem(id, key), paths),
				})
			case !there && whole && !strings.HasSuffix(key, ItsAnswer):
				out = append(out, Difference{
					List:   l,
					ID:     id,
					Before: l.Items[key],
					Says:   fmt.Sprintf("%s no longer shows %s", l.Op.Name, ShowItem(id, key)),
				})
			}
		}
		for _, key := range evidence.ListKeys(now.Items) {
			if _, there := l.Items[key]; !there && whole && !strings.HasSuffix(key, ItsAnswer) {
				id := FindID(named, now.Items[key])
				out = append(out, Difference{
					List: l,
					ID:   id,
					Item: now.Items[key],
					Says: fmt.Sprintf("%s shows %s, which was not there before", l.Op.Name, ShowItem(id, key)),
				})
			}
		}
	}
	return out
}

// ShowItem names an item in a message: by its identifier, or else by its place in the
// list, which the key ends with.
func ShowItem(id jsonv.Value, key string) string {
	if id.IsAbsent() {
		_, rest, _ := strings.Cut(key, " ")
		return rest
	}
	return display.Truncate(reference.FormatText(id), 60)
}

// FindChanges lists the members of an item that differ, except those that change by
// themselves.
func (l *Listing) FindChanges(before, now jsonv.Value) []jsonv.Change {
	return slices.DeleteFunc(jsonv.Diff(DropVolatile(before), DropVolatile(now)), func(ch jsonv.Change) bool {
		return l.Volatile[ch.Path]
	})
}

// CountLosses counts how many more items each list lost than it got. got reports whether an
// item that the list now shows counts as added.
func CountLosses(found []Difference, got func(Difference) bool) map[*Listing]int {
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

// FindLostTexts lists the texts of an item that a later state lacks, except times, numbers, and
// what changes by itself.
func (l *Listing) FindLostTexts(before, now jsonv.Value) []jsonv.Change {
	if before.IsAbsent() {
		return nil
	}
	return slices.DeleteFunc(l.FindChanges(before, now), func(ch jsonv.Change) bool {
		text := ch.Kind == jsonv.Removed || ch.Want.Kind() == jsonv.KindString && !isSameText(ch, digitRuns) && !isSameText(ch, clockText)
		return !text || DateName().MatchString(ch.Path)
	})
}

// VolatileKey matches keys whose values differ from call to call.
var VolatileKey = evidence.Pattern(`(?i)^(_meta|request_?id|(start|end|next)_?cursor|etag|heap_?total|rss|memory_?usage)$|timestamp|duration|elapsed`)

// Mask holds the paths that differ by themselves between answers of an operation:
// whole values, or (false) only the digits of a text.
type Mask map[string]bool

// anyIndex represents every index of a list: what differs in one item may
// differ in the next.
var anyIndex = evidence.Pattern(`\[\d+\]`)

// digitRuns matches numbers and durations: 59s is followed by 1m 0s.
var digitRuns = evidence.Pattern(`(\d+([.,]\d+)*(ms|[dhms])?\b ?)+|\d+`)

// clockText matches a date or a time inside a text, which comparisons ignore.
var clockText = evidence.Pattern(`\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?|\b\d{1,2}:\d\d(:\d\d(\.\d+)?)?( ?[AaPp][Mm]\b)?`)

// Learn records the differences between two answers to the same request.
func (m Mask) Learn(a, b jsonv.Value) {
	for _, ch := range jsonv.Diff(DropVolatile(a), DropVolatile(b)) {
		path := anyIndex().ReplaceAllString(ch.Path, "[]")
		switch {
		case ch.Kind != jsonv.Changed && strings.HasSuffix(path, "[]"):
			m[strings.TrimSuffix(path, "[]")] = true // a list that grows
		case ch.Kind == jsonv.Changed && isSameText(ch, digitRuns):
			if !m[path] {
				m[path] = false // only the digits of the text change
			}
		default:
			m[path] = true
		}
	}
}

// hides reports whether a difference is to be ignored.
func (m Mask) hides(ch jsonv.Change) bool {
	if ch.Kind == jsonv.Changed && isSameText(ch, clockText) {
		return true
	}
	path := anyIndex().ReplaceAllString(ch.Path, "[]")
	if whole, known := m[path]; known && !whole && ch.Kind == jsonv.Changed && isSameText(ch, digitRuns) {
		return true
	}
	for known, whole := range m {
		rest, under := strings.CutPrefix(path, known)
		if whole && under && (rest == "" || rest[0] == '.' || rest[0] == '[') {
			return true
		}
	}
	return false
}

// isSameText reports whether two texts differ only in what a pattern matches.
func isSameText(ch jsonv.Change, but func() *regexp.Regexp) bool {
	without := func(v jsonv.Value) string { return but().ReplaceAllString(v.Text(), "0") }
	return ch.Want.Kind() == jsonv.KindString && ch.Got.Kind() == jsonv.KindString && without(ch.Want) == without(ch.Got)
}

// IsAlike reports whether two answers are equal, ignoring parts that change by
// themselves.
func (m Mask) IsAlike(a, b jsonv.Value) bool {
	_, differs := m.FindDifference(a, b)
	return !differs
}

// FindDifference returns the first path at which two answers differ, ignoring parts that
// change by themselves.
func (m Mask) FindDifference(a, b jsonv.Value) (path string, differs bool) {
	for _, ch := range jsonv.Diff(DropVolatile(a), DropVolatile(b)) {
		if !m.hides(ch) {
			return ch.Path, true
		}
	}
	return "", false
}

// DropVolatile returns a value without its volatile members.
func DropVolatile(v jsonv.Value) jsonv.Value {
	return v.Map(func(k string, e jsonv.Value) (string, jsonv.Value) {
		if VolatileKey().MatchString(k) {
			return k, jsonv.Value{}
		}
		return k, DropVolatile(e)
	})
}

// DateName matches the names of members that hold dates.
var DateName = evidence.Pattern(`(_at|_date|timestamp|[a-z](At|Date|Timestamp))$`)
