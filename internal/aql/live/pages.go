package live

import (
	"math"
	"strconv"

	"mcptest/internal/jsonv"
)

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
