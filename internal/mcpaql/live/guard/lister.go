package guard

import (
	"math"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/live/catalog"
)

// lister reads the lists of resources, page by page.
type lister struct{ run *Run }

// Fate determines the state of an item that a journal names: an adapter may have
// reused its identifier since. gone is true if an answer reports that the item no
// longer exists, so that nothing has to be removed.
func (l *lister) Fate(create *catalog.Operation, t CreatedThing, runs []string) (ours, gone bool) {
	if get := l.run.Catalog.Getter(create); get != nil && l.run.Gate.Barred(get) == "" {
		r := l.run.Caller.Call(get, l.run.Builder.Naming(get, t))
		return r.OK() && (catalog.Carries(r.Data(), runs) || catalog.Carries(t.Id, runs)), strings.HasPrefix(r.Code(), "NOT_FOUND")
	}
	item, whole := l.listed(create, t)
	return catalog.Carries(item, runs), whole && item.IsAbsent()
}

// listed returns an item from its resource's list, absent if it is not there. whole
// reports whether the complete list was read.
func (l *lister) listed(create *catalog.Operation, t CreatedThing) (found jsonv.Value, whole bool) {
	remove, keys := l.run.Gate.Remover(create), l.run.Catalog.IDKeys(create)
	whole = l.everyPage(create, remove, t.With, func(_ jsonv.Value, r Reply) {
		for _, item := range catalog.NamedItems(r.Data(), keys) {
			if remove != nil && jsonv.Equal(itemID(keys, item), t.Id) {
				found = item
			}
		}
	})
	return found, whole
}

// Marked reads a resource's list, every kind and every page, and returns the items
// that carry the marker of one of the runs.
func (l *lister) Marked(create *catalog.Operation, runs []string) (found []CreatedThing) {
	remove := l.run.Gate.Remover(create)
	if remove == nil {
		return nil
	}
	if l.run.Catalog.AtMostOne(create) {
		if r := l.run.Caller.Call(l.run.Catalog.Exact("get", "READ", create.Resource), jsonv.Object()); r.OK() && catalog.Carries(r.Data(), runs) {
			found = append(found, CreatedThing{})
		}
		return found
	}
	keys := l.run.Catalog.IDKeys(create)
	l.everyPage(create, remove, jsonv.Value{}, func(kind jsonv.Value, r Reply) {
		for _, item := range catalog.NamedItems(r.Data(), keys) {
			if !catalog.Carries(item, runs) {
				continue
			}
			with := kind
			for name := range kind.Members() {
				if v, ok := item.Get(name); ok {
					with = with.With(name, v)
				}
			}
			found = append(found, CreatedThing{Id: itemID(keys, item), With: with})
		}
	})
	return found
}

// newOnes lists the identifiers that a resource's list shows now but did not show
// before the run, and that the run does not know. certain reports whether there can be
// no other: the complete list was read, both times, and each item has an identifier.
func (l *lister) newOnes(op *catalog.Operation) (ids []jsonv.Value, certain bool) {
	keys := l.run.Catalog.ItemKeys(op)
	named, unnamed := 0, 0
	whole := l.everyPage(op, l.run.Gate.Remover(op), jsonv.Value{}, func(_ jsonv.Value, r Reply) {
		for _, item := range catalog.NamedItems(r.Data(), keys) {
			id := itemID(keys, item)
			if id.IsAbsent() {
				unnamed++
				continue
			}
			if named++; !l.run.Watcher.Census.knows(op.Resource, id) && !l.run.Keeper.Ledger.made(op.Resource, id) {
				ids = append(ids, id)
			}
		}
	})
	return ids, whole && named > 0 && unnamed == 0 && l.run.Watcher.Census.reads(op.Resource)
}

// everyPage reads a resource's list page by page: every kind, or that of an item with
// the given other parameters. It returns true if that was the complete list.
func (l *lister) everyPage(create, remove *catalog.Operation, with jsonv.Value, visit func(kind jsonv.Value, r Reply)) (whole bool) {
	list := l.run.Catalog.Partner("list", "READ", create.Resource)
	if list == nil || l.run.Gate.Barred(list) != "" {
		return false
	}
	params, why := l.run.Builder.Params(list)
	if why != "" {
		return false
	}
	whole = true
	kinds := l.run.Maker.Kinds(create, remove)
	if with.Len() > 0 {
		kinds = []jsonv.Value{with}
	}
	for _, kind := range kinds {
		thing := CreatedThing{With: kind}
		all := l.Pages(list, thing.Naming(list, params), func(r Reply) bool {
			visit(kind, r)
			return true
		})
		whole = whole && all
		if list.Param(firstKey(kind)) == nil {
			break
		}
	}
	return whole
}

// maxPages bounds how many pages of a list are read.
const maxPages = 200

// pageSize is how many entries are requested per page.
const pageSize = 100

// Pages reads a list page by page, in the way that its operation documents, until
// visit returns false. It returns true if it reached the end.
func (l *lister) Pages(list *catalog.Operation, params jsonv.Value, visit func(r Reply) bool) bool {
	size, sizeName := 0, ""
	for _, name := range []string{"first", "limit", "page_size", "per_page"} {
		if p := list.Param(name); p != nil && sizeName == "" {
			_, high := catalog.Bounds(*p)
			size, sizeName = int(math.Max(1, math.Min(high, pageSize))), name
			params = params.With(name, jsonv.Int(int64(size)))
		}
	}
	seen := map[string]bool{}
	for n := range maxPages {
		r := l.run.Caller.Call(list, params)
		if !r.OK() || !visit(r) {
			return false
		}
		got := len(catalog.NamedItems(r.Data(), l.run.Catalog.ItemKeys(list)))
		info := r.Data().Lookup("pageInfo")
		switch cursor := info.Lookup("endCursor").Text(); {
		case list.Param("after") != nil && info.Lookup("hasNextPage").Bool() && cursor != "" && !seen[cursor]:
			seen[cursor] = true
			params = params.With("after", jsonv.String(cursor))
		case size == 0 || got < size:
			return true
		case list.Param("offset") != nil:
			params = params.With("offset", jsonv.Int(int64((n+1)*size)))
		case list.Param("page") != nil:
			params = params.With("page", jsonv.Int(int64(n+2)))
		default:
			return true
		}
	}
	return false
}
