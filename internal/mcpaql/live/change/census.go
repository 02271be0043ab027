package change

import (
	"fmt"
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lists"
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
			isSimilar := strings.Contains(strings.ToLower(reference.FormatText(own)), mine)
			if isSimilar && catalog.IsSameResource(l.Op.Resource, resource) {
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
