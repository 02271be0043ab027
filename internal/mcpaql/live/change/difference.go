package change

import (
	"fmt"
	"slices"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lists"
	"mcptest/internal/mcpaql/evidence"
	"mcptest/internal/mcpaql/live/catalog"
	"mcptest/internal/mcpaql/reference"
)

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

// DateName matches the names of members that hold dates.
var DateName = evidence.Pattern(`(_at|_date|timestamp|[a-z](At|Date|Timestamp))$`)
