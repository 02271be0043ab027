package guard

import (
	"fmt"
	"math"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/live/catalog"
	"mcptest/internal/mcpaql/live/change"
)

// lister reads the lists of resources, page by page.
type lister struct {
	values
	steady *steadiness
	params func(*catalog.Operation) (params jsonv.Value, why string) // builds what an operation requires
	First  map[string]Reply                                          // the answers of the lists before anything else was called
	timing bool                                                      // the lists are read to learn what changes by itself
}

// DetermineFate determines the state of an item that a journal names: an adapter may have
// reused its identifier since. gone is true if an answer reports that the item no
// longer exists, so that nothing has to be removed.
func (l *lister) DetermineFate(create *catalog.Operation, t CreatedThing, runs []string) (ours, gone bool) {
	if get := l.Catalog.FindGetter(create); get != nil && l.Gate.ExplainBarred(get) == "" {
		r := l.Caller.Call(get, l.BuildNaming(get, t))
		ours = r.IsOK() && (catalog.Carries(r.Data(), runs) || catalog.Carries(t.ID, runs))
		return ours, strings.HasPrefix(r.Code(), "NOT_FOUND")
	}
	item, whole := l.findListed(create, t)
	return catalog.Carries(item, runs), whole && item.IsAbsent()
}

// findListed returns an item from its resource's list, absent if it is not there. whole
// reports whether the complete list was read.
func (l *lister) findListed(create *catalog.Operation, t CreatedThing) (found jsonv.Value, whole bool) {
	remove, keys := l.Gate.FindRemover(create), l.Catalog.ListIDKeys(create)
	whole = l.visitItems(create, t.With, keys, func(_, item jsonv.Value) {
		if remove != nil && jsonv.Equal(change.FindID(keys, item), t.ID) {
			found = item
		}
	})
	return found, whole
}

// FindMarked reads a resource's list, every kind and every page, and returns the items
// that carry the marker of one of the runs.
func (l *lister) FindMarked(create *catalog.Operation, runs []string) (found []CreatedThing) {
	if l.Gate.FindRemover(create) == nil {
		return nil
	}
	if l.Catalog.HasAtMostOne(create) {
		r := l.Caller.Call(l.Catalog.FindExact("get", "READ", create.Resource), jsonv.Object())
		if r.IsOK() && catalog.Carries(r.Data(), runs) {
			found = append(found, CreatedThing{})
		}
		return found
	}
	keys := l.Catalog.ListIDKeys(create)
	l.visitItems(create, jsonv.Value{}, keys, func(kind, item jsonv.Value) {
		if !catalog.Carries(item, runs) {
			return
		}
		with := kind
		for name := range kind.Members() {
			if v, ok := item.Get(name); ok {
				with = with.With(name, v)
			}
		}
		found = append(found, CreatedThing{ID: change.FindID(keys, item), With: with})
	})
	return found
}

// findNewIDs lists the identifiers that a resource's list shows now but did not show
// before the run, and that the run does not know. certain reports whether there can be
// no other: the complete list was read, both times, and each item has an identifier.
func (l *lister) findNewIDs(op *catalog.Operation) (ids []jsonv.Value, certain bool) {
	keys := l.Catalog.ListItemKeys(op)
	named, unnamed := 0, 0
	whole := l.visitItems(op, jsonv.Value{}, keys, func(_, item jsonv.Value) {
		id := change.FindID(keys, item)
		if id.IsAbsent() {
			unnamed++
			return
		}
		named++
		if !l.Gate.Census.Knows(op.Resource, id) && !l.Ledger.hasMade(op.Resource, id) {
			ids = append(ids, id)
		}
	})
	return ids, whole && named > 0 && unnamed == 0 && l.Gate.Census.ReadsAll(op.Resource)
}

// visitItems reads a resource's list page by page: every kind, or that of an item with
// the given other parameters. It returns true if that was the complete list.
func (l *lister) visitItems(
	create *catalog.Operation, with jsonv.Value, keys []string, visit func(kind, item jsonv.Value),
) (whole bool) {
	list := l.Catalog.FindPartner("list", "READ", create.Resource)
	if list == nil || l.Gate.ExplainBarred(list) != "" {
		return false
	}
	params, why := l.params(list)
	if why != "" {
		return false
	}
	whole = true
	kinds := l.Maker.ListKinds(create, l.Gate.FindRemover(create))
	if with.Len() > 0 {
		kinds = []jsonv.Value{with}
	}
	for _, kind := range kinds {
		thing := CreatedThing{With: kind}
		all := l.VisitPages(list, thing.AddNaming(list, params), func(r Reply) bool {
			for _, item := range catalog.FindNamedItems(r.Data(), keys) {
				visit(kind, item)
			}
			return true
		})
		whole = whole && all
		if list.FindParam(findFirstKey(kind)) == nil {
			break
		}
	}
	return whole
}

// maxPages bounds how many pages of a list are read.
const maxPages = 200

// pageSize is how many entries are requested per page.
const pageSize = 100

// VisitPages reads a list page by page, in the way that its operation documents, until
// visit returns false. It returns true if it reached the end.
func (l *lister) VisitPages(list *catalog.Operation, params jsonv.Value, visit func(r Reply) bool) bool {
	size, sizeName := 0, ""
	for _, name := range []string{"first", "limit", "page_size", "per_page"} {
		if p := list.FindParam(name); p != nil && sizeName == "" {
			_, high := catalog.ReadBounds(*p)
			size, sizeName = int(math.Max(1, math.Min(high, pageSize))), name
			params = params.With(name, jsonv.Int(int64(size)))
		}
	}
	seen := map[string]bool{}
	for n := range maxPages {
		r := l.Caller.Call(list, params)
		if !r.IsOK() || !visit(r) {
			return false
		}
		got := len(catalog.FindNamedItems(r.Data(), l.Catalog.ListItemKeys(list)))
		info := r.Data().Lookup("pageInfo")
		cursor := info.Lookup("endCursor").Text()
		switch {
		case list.FindParam("after") != nil && info.Lookup("hasNextPage").Bool() && cursor != "" && !seen[cursor]:
			seen[cursor] = true
			params = params.With("after", jsonv.String(cursor))
		case size == 0 || got < size:
			return true
		case list.FindParam("offset") != nil:
			params = params.With("offset", jsonv.Int(int64((n+1)*size)))
		case list.FindParam("page") != nil:
			params = params.With("page", jsonv.Int(int64(n+2)))
		default:
			return true
		}
	}
	return false
}

// BuildNaming builds the required parameters of an operation for an item. It creates nothing.
func (l *lister) BuildNaming(op *catalog.Operation, t CreatedThing) jsonv.Value {
	before := l.Caller.Cleaning
	l.Caller.Cleaning = true
	params, _ := l.params(op)
	l.Caller.Cleaning = before
	return t.AddNaming(op, params)
}

// TakeCensus reads the lists that answered when the run began, every kind and every
// page; only those of the given resource unless it is "".
func (l *lister) TakeCensus(resource string) *change.Census {
	s := &change.Census{}
	for _, op := range l.Catalog.Operations {
		first, known := l.First[op.Name]
		if !known || !first.IsOK() || resource != "" && !catalog.IsSameResource(op.Resource, resource) {
			continue
		}
		s.Lists = append(s.Lists, l.readListing(op))
	}
	return s
}

// readListing reads a list, every kind and every page.
func (l *lister) readListing(op *catalog.Operation) *change.Listing {
	into := &change.Listing{
		Op:       op,
		Items:    map[string]jsonv.Value{},
		IDs:      map[string]bool{},
		Volatile: map[string]bool{},
	}
	kinds := []jsonv.Value{jsonv.Object()}
	if create := l.Catalog.FindCreator(op); create != nil {
		kinds = l.Maker.ListKinds(create, l.Gate.FindRemover(create))
	}
	for i, kind := range kinds {
		thing := (CreatedThing{With: kind})
		if i == 0 || op.FindParam(findFirstKey(kind)) != nil {
			l.readList(into, kind, thing.AddNaming(op, l.First[op.Name].Args.Lookup("params")))
		}
	}
	return into
}

// readList adds the pages of a list to a listing.
func (l *lister) readList(into *change.Listing, kind, params jsonv.Value) {
	n, got, total, keys := 0, 0, int64(0), l.Catalog.ListItemKeys(into.Op)
	whole := l.VisitPages(into.Op, params, func(r Reply) bool {
		list := catalog.FindNamedItems(r.Data(), keys)
		first := l.First[into.Op.Name]
		if l.timing && n == 0 && jsonv.Equal(first.Args, r.Args) {
			l.steady.getMask(into.Op).Learn(first.Envelope, r.Envelope)
			l.steady.known[into.Op.Name] = true
		}
		if list == nil && n == 0 {
			into.Items[kind.String()+change.ItsAnswer] = r.Data()
			for _, name := range catalog.FindNames(r.Data(), catalog.ListDepth) {
				into.Enter(kind.String(), []string{"id"}, jsonv.ObjectOf("id", name), 0)
			}
		}
		for _, item := range list {
			got++
			into.Enter(kind.String(), keys, item, got)
		}
		total, _ = r.Data().Lookup("total").Int64()
		n++
		return n < maxCensusPages
	})
	switch {
	case n == 0:
		into.Partial = change.Unreadable
	case n == maxCensusPages:
		into.Partial = fmt.Sprintf("it has more than %d pages", maxCensusPages)
	case !whole:
		into.Partial = fmt.Sprintf("page %d could not be read", n+1)
	case int64(got) < total:
		into.Partial = fmt.Sprintf("it showed %d of %d", got, total)
	}
}

// maxCensusPages bounds how many pages of a list are read.
const maxCensusPages = 50

// findFirstKey returns the first key of an object, "" if it has none.
func findFirstKey(v jsonv.Value) string {
	for key := range v.Members() {
		return key
	}
	return ""
}
