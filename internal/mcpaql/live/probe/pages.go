package probe

import (
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/evidence"
	"mcptest/internal/mcpaql/live/catalog"
	"mcptest/internal/mcpaql/live/change"
	"mcptest/internal/mcpaql/live/guard"
)

// featureProbe tests field selection, batches, field presets and pagination.
type featureProbe struct{ run *guard.Run }

// testPagination tests the first operation that pages by cursors and has more than one
// item.
func (pr featureProbe) testPagination() {
	t := pr.run.Rows.Tests["pagination"]
	t.NotApplicable = "no operation pages by cursors"
	for _, op := range pr.run.Catalog.Operations {
		if op.Category != "READ" || !op.PagesByCursor() || pr.run.Gate.Skipped[op.Name] != "" {
			continue
		}
		t.NotApplicable, t.Incomplete = "", "there were not two items to page through"
		base := pr.run.Base[op.Name]
		if base.IsOK() && len(catalog.FindItems(base.Data(), catalog.ListDepth)) > 1 {
			pr.testPages(op)
			return
		}
	}
}

func (pr featureProbe) testPages(op *catalog.Operation) {
	ask := func(pairs ...any) guard.Reply {
		return pr.run.Caller.Call(op, evidence.Merge(pr.run.Builder.RebuildParams(op), jsonv.ObjectOf(pairs...)))
	}
	one := ask("first", 1)
	if !one.IsOK() {
		return
	}
	pr.run.Rows.Count("pagination")
	info := one.Data().Lookup("pageInfo")
	pr.checkPageInfo(op, one, neighbors{next: true})
	cursor := info.Lookup("endCursor").Text()
	if cursor == "" {
		return
	}
	two := ask("first", 1, "after", cursor)
	a, b := catalog.FindItems(one.Data(), catalog.ListDepth), catalog.FindItems(two.Data(), catalog.ListDepth)
	switch {
	case !two.WasSent():
		return
	case !two.IsOK():
		pr.run.Rows.Fail("pagination.next", two, "%s refuses its own cursor: %s", op.Name, two.FormatBrief())
	case len(b) != 1 || len(a) == 1 && jsonv.Equal(a[0], b[0]):
		pr.run.Rows.Fail("pagination.next", two,
			"%s after a cursor does not return the one item that follows", op.Name)
	default:
		hasNext := two.Data().Lookup("pageInfo", "hasNextPage").Bool()
		pr.checkPageInfo(op, two, neighbors{next: hasNext, previous: true})
	}
	large := ask("first", 100)
	// No page may follow one that holds everything.
	n := len(catalog.FindItems(large.Data(), catalog.ListDepth))
	if large.IsOK() && n > 0 && n < 100 {
		pr.checkPageInfo(op, large, neighbors{})
	}
	pr.compareOrder(op, large, ask)
	pr.testCombinations(op, cursor, ask)
}

// testCombinations sends parameters of paging that exclude each other or lack a partner.
func (pr featureProbe) testCombinations(op *catalog.Operation, cursor string, ask func(pairs ...any) guard.Reply) {
	mixed := [][]any{{"after", cursor}}
	if op.FindParam("last") != nil {
		mixed = append(mixed, []any{"first", 1, "last", 1}, []any{"last", 1, "after", cursor})
	}
	if op.FindParam("before") != nil {
		mixed = append(mixed, []any{"before", cursor}, []any{"first", 1, "before", cursor})
	}
	for _, pairs := range mixed {
		names := strings.Join(jsonv.ObjectOf(pairs...).Keys(), " and ")
		r := ask(pairs...)
		switch {
		case !r.WasSent():
		case r.IsOK():
			pr.run.Rows.Fail("pagination.combinations", r,
				"%s accepts %s without the required parameters, or with parameters that exclude each other", op.Name, names)
		default:
			pr.run.AddErrorTest(op.Name+" with "+names, r)
		}
	}
}

// maxFollowed bounds how many items the pages are followed for.
const maxFollowed = 6

// compareOrder compares the items of small pages with one large page.
func (pr featureProbe) compareOrder(op *catalog.Operation, large guard.Reply, ask func(pairs ...any) guard.Reply) {
	all := catalog.FindItems(large.Data(), catalog.ListDepth)
	same := func(a, b jsonv.Value) bool { return jsonv.Equal(change.DropVolatile(a), change.DropVolatile(b)) }
	for _, size := range []int{1, 2} {
		page, n := ask("first", size), 0
		itemsOf := func(r guard.Reply) []jsonv.Value { return catalog.FindItems(r.Data(), catalog.ListDepth) }
		for items := itemsOf(page); len(items) > 0 && n < min(len(all), maxFollowed); items = itemsOf(page) {
			for _, item := range items {
				at := slices.IndexFunc(all, func(v jsonv.Value) bool { return same(v, item) })
				switch {
				case at < 0 || n >= len(all):
					return // the list changes
				case same(all[n], item):
					n++
					continue
				case slices.EqualFunc(all, catalog.FindItems(ask("first", 100).Data(), catalog.ListDepth), same):
					does := "repeats"
					if at > n {
						does = "skips"
					}
					pr.run.Rows.Fail("pagination.order", page, "%s with pages of %d %s an item", op.Name, size, does)
				}
				return
			}
			cursor := page.Data().Lookup("pageInfo", "endCursor").Text()
			if cursor == "" {
				break
			}
			page = ask("first", size, "after", cursor)
		}
	}
}

// neighbors says which pages there are next to one.
type neighbors struct{ next, previous bool }

// checkPageInfo compares pageInfo with the required members (PG 3.2).
func (pr featureProbe) checkPageInfo(op *catalog.Operation, r guard.Reply, want neighbors) {
	info := r.Data().Lookup("pageInfo")
	if info.Kind() != jsonv.KindObject {
		pr.run.Rows.Fail("pagination.info", r, "%s returns a page without pageInfo", op.Name)
		return
	}
	for _, f := range []struct {
		name string
		want bool
	}{{"hasNextPage", want.next}, {"hasPreviousPage", want.previous}} {
		v := info.Lookup(f.name)
		switch {
		case v.Kind() != jsonv.KindBool:
			pr.run.Rows.Fail("pagination.info", r, "%s returns a pageInfo without %s", op.Name, f.name)
		case v.Bool() != f.want:
			pr.run.Rows.Fail("pagination.flags", r,
				"%s returns %s %v, expected %v", op.Name, f.name, v.Bool(), f.want)
		}
	}
	for _, name := range []string{"startCursor", "endCursor"} {
		if info.Lookup(name).Kind() != jsonv.KindString {
			pr.run.Rows.Fail("pagination.info", r, "%s returns items without %s", op.Name, name)
		}
	}
}
