package live

import (
	"math"
	"strconv"
	"strings"

	"mcptest/internal/jsonv"
)

// fate says what became of what a journal names: an adapter may have given the
// identifier to something else since. gone is true where an answer says that
// there is no such thing any more, so that nothing has to be removed.
func (l *lister) fate(create *liveOp, t createdThing, runs []string) (ours, gone bool) {
	get := l.run.catalog.partner("get", "READ", create.resource)
	if get != nil && get.idParam() != nil && l.run.gate.barred(get) == "" {
		r := l.run.caller.call(get, t.naming(get, l.run.builder.fresh(get)))
		return r.ok() && (carries(r.data(), runs) || carries(t.id, runs)), strings.HasPrefix(r.code(), "NOT_FOUND")
	}
	item, whole := l.listed(create, t)
	return carries(item, runs), whole && item.IsAbsent()
}

// listed finds a thing in its resource's list, absent when it is not there.
// whole says that all of the list was read.
func (l *lister) listed(create *liveOp, t createdThing) (found jsonv.Value, whole bool) {
	remove := l.run.gate.remover(create)
	whole = l.everyPage(create, remove, maxPages, func(_ jsonv.Value, r reply) {
		for _, item := range items(r.data(), listDepth) {
			if remove != nil && jsonv.Equal(l.itemID(create, remove, item), t.id) {
				found = item
			}
		}
	})
	return found, whole
}

func (l *lister) itemID(create, remove *liveOp, item jsonv.Value) jsonv.Value {
	for _, key := range []string{l.run.catalog.idKey(remove), "id", create.resource + "_id"} {
		if v, ok := item.Get(key); ok {
			return v
		}
	}
	return jsonv.Value{}
}

// marked reads a resource's list, of every kind and page by page, and returns
// what carries the marker of one of the runs.
func (l *lister) marked(create *liveOp, runs []string) (found []createdThing) {
	remove := l.run.gate.remover(create)
	if remove == nil {
		return nil
	}
	if l.run.catalog.atMostOne(create) {
		if r := l.run.caller.call(l.run.catalog.exact("get", "READ", create.resource), jsonv.Object()); r.ok() && carries(r.data(), runs) {
			found = append(found, createdThing{})
		}
		return found
	}
	l.everyPage(create, remove, maxPages, func(kind jsonv.Value, r reply) {
		for _, item := range items(r.data(), listDepth) {
			if !carries(item, runs) {
				continue
			}
			with := kind
			for name := range kind.Members() {
				if v, ok := item.Get(name); ok {
					with = with.With(name, v)
				}
			}
			found = append(found, createdThing{l.itemID(create, remove, item), with})
		}
	})
	return found
}

// newOnes lists the identifiers of a resource that its list shows, that it
// did not show before the run, and that the run does not know. whole says
// that all of the list was read, then and now.
func (l *lister) newOnes(op *liveOp) (ids []jsonv.Value, whole bool) {
	keys := l.run.catalog.itemKeys(op)
	whole = l.everyPage(op, l.run.gate.remover(op), maxPages, func(_ jsonv.Value, r reply) {
		for _, item := range items(r.data(), listDepth) {
			if id := itemID(keys, item); !id.IsAbsent() && !l.run.watcher.census.knows(op.resource, id) && !l.run.keeper.ledger.made(op.resource, id) {
				ids = append(ids, id)
			}
		}
	})
	return ids, whole && l.run.watcher.census.reads(op.resource)
}

// everyPage reads a resource's list, of every kind and page by page, up to a
// number of pages. It returns true when that was all of it.
func (l *lister) everyPage(create, remove *liveOp, limit int, visit func(kind jsonv.Value, r reply)) (whole bool) {
	list := l.run.catalog.partner("list", "READ", create.resource)
	if list == nil || l.run.gate.barred(list) != "" {
		return false
	}
	params, why := l.run.builder.params(list)
	if why != "" {
		return false
	}
	whole = true
	for _, kind := range l.run.maker.kinds(create, remove) {
		thing := createdThing{with: kind}
		n := 0
		all := l.pages(list, thing.naming(list, params), func(r reply) bool {
			visit(kind, r)
			n++
			return n < limit
		})
		whole = whole && all
		if thing.with.Len() == 0 || list.param(l.run.catalog.discriminators(create, remove)[0]) == nil {
			break
		}
	}
	return whole
}

// maxPages bounds how many pages of a list are read.
const maxPages = 200

// pageSize is what lists are asked for at once.
const pageSize = 100

// pages reads a list page by page, in whichever way its operation documents,
// until visit returns false. It returns true when it came to the end.
func (l *lister) pages(list *liveOp, params jsonv.Value, visit func(r reply) bool) bool {
	size, sizeName := 0, ""
	for _, name := range []string{"first", "limit", "page_size", "per_page"} {
		if p := list.param(name); p != nil && sizeName == "" {
			_, high := bounds(*p)
			size, sizeName = int(math.Max(1, math.Min(high, pageSize))), name
			params = params.With(name, jsonv.Int(int64(size)))
		}
	}
	seen := map[string]bool{}
	for n := range maxPages {
		r := l.run.caller.call(list, params)
		if !r.ok() || !visit(r) {
			return false
		}
		got := len(items(r.data(), listDepth))
		info := r.data().Lookup("pageInfo")
		cursor := info.Lookup("endCursor").Text()
		switch {
		case list.param("after") != nil && info.Lookup("hasNextPage").Bool() && cursor != "" && !seen[cursor]:
			seen[cursor] = true
			params = params.With("after", jsonv.String(cursor))
		case size == 0 || got < size:
			return true
		case list.param("offset") != nil:
			params = params.With("offset", jsonv.Int(int64((n+1)*size)))
		case list.param("page") != nil:
			params = params.With("page", jsonv.Int(int64(n+2)))
		default:
			return true
		}
	}
	return false
}

// locate finds the object in an answer that match accepts, and its dot path
// below a given one.
func locate(v jsonv.Value, path string, depth int, match func(jsonv.Value) bool) (at string, found jsonv.Value) {
	if depth == 0 {
		return "", jsonv.Value{}
	}
	if v.Kind() == jsonv.KindObject && match(v) {
		return path, v
	}
	for i, e := range v.Elems() {
		if at, found = locate(e, path+"."+strconv.Itoa(i), depth-1, match); at != "" {
			return at, found
		}
	}
	for k, e := range v.Members() {
		if at, found = locate(e, path+"."+k, depth-1, match); at != "" {
			return at, found
		}
	}
	return "", jsonv.Value{}
}

// lister reads the lists of resources, page by page.
type lister struct {
	run *collector
}
