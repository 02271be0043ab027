package change

import (
	"fmt"
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
		out = append(out, l.compareItems(now, named)...)
		out = append(out, l.findAdded(now, named)...)
	}
	return out
}

// compareItems lists the items of the earlier reading that are different or gone.
func (l *Listing) compareItems(now *Listing, idKeys []string) (out []Difference) {
	for _, key := range evidence.ListKeys(l.Items) {
		item, there := now.Items[key]
		id := FindID(idKeys, l.Items[key])
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
		case !there && l.isComparable(now, key):
			out = append(out, Difference{
				List:   l,
				ID:     id,
				Before: l.Items[key],
				Says:   fmt.Sprintf("%s no longer shows %s", l.Op.Name, ShowItem(id, key)),
			})
		}
	}
	return out
}

// findAdded lists the items that only the later reading has.
func (l *Listing) findAdded(now *Listing, idKeys []string) (out []Difference) {
	for _, key := range evidence.ListKeys(now.Items) {
		if _, there := l.Items[key]; there || !l.isComparable(now, key) {
			continue
		}
		id := FindID(idKeys, now.Items[key])
		out = append(out, Difference{
			List: l,
			ID:   id,
			Item: now.Items[key],
			Says: fmt.Sprintf("%s shows %s, which was not there before", l.Op.Name, ShowItem(id, key)),
		})
	}
	return out
}

// isComparable reports whether it means something that only one of two readings has an
// item: both are complete, and items do not come and go by themselves.
func (l *Listing) isComparable(now *Listing, key string) bool {
	isWhole := l.Partial == "" && now.Partial == ""
	return isWhole && !l.Moving && !strings.HasSuffix(key, ItsAnswer)
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
	var found []jsonv.Change
	for _, ch := range jsonv.Diff(DropVolatile(before), DropVolatile(now)) {
		if !l.Volatile[ch.Path] {
			found = append(found, ch)
		}
	}
	return found
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
	var lost []jsonv.Change
	for _, ch := range l.FindChanges(before, now) {
		isOtherText := ch.Want.Kind() == jsonv.KindString && !isSameText(ch, digitRuns) && !isSameText(ch, clockText)
		if (ch.Kind == jsonv.Removed || isOtherText) && !DateName().MatchString(ch.Path) {
			lost = append(lost, ch)
		}
	}
	return lost
}

// DateName matches the names of members that hold dates.
var DateName = evidence.Pattern(`(_at|_date|timestamp|[a-z](At|Date|Timestamp))$`)
