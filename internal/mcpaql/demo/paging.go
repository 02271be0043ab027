package demo

import (
	"encoding/base64"
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
)

// pageByCursor answers a request for a page of a list by cursors (PG 2).
func (a *Adapter) pageByCursor(all []jsonv.Value, params jsonv.Value) (jsonv.Value, *failure) {
	if !a.is("cursors-mixed") {
		if no := checkPaging(params); no != nil {
			return jsonv.Value{}, no
		}
	}
	from, to := 0, len(all)
	for _, name := range []string{"after", "before"} {
		cursor, given := params.Get(name)
		if !given || a.is("cursor-ignored") {
			continue
		}
		at := findIndex(all, cursor.Text())
		switch {
		case at < 0:
			no := refuse("VALIDATION_INVALID_VALUE", "The parameter '%s' wants a cursor from a pageInfo.", name)
			return jsonv.Value{}, no.addParam(name)
		case name == "after":
			from = at + 1
		default:
			to = at
		}
	}
	if n, ok := params.Lookup("first").Int64(); ok {
		to = min(to, from+int(min(n, 100)))
	}
	if n, ok := params.Lookup("last").Int64(); ok {
		from = max(from, to-int(min(n, 100)))
	}
	out := jsonv.ObjectOf("items", jsonv.Array(all[from:max(from, to)]...))
	if a.is("page-info") {
		return out, nil
	}
	return out.With("pageInfo", a.describePage(all, from, max(from, to))), nil
}

// checkPaging refuses parameters of pages that contradict each other.
func checkPaging(params jsonv.Value) *failure {
	has := func(name string) bool {
		_, ok := params.Get(name)
		return ok
	}
	for _, pair := range [][2]string{{"first", "last"}, {"first", "before"}, {"last", "after"}} {
		if has(pair[0]) && has(pair[1]) {
			no := refuse("VALIDATION_INVALID_TYPE", "The parameters '%s' and '%s' don't go together: "+
				"page forward with first and after, or backward with last and before.", pair[0], pair[1])
			return no.addParam("pagination")
		}
	}
	for _, pair := range [][2]string{{"after", "first"}, {"before", "last"}} {
		cursor, size := pair[0], pair[1]
		if has(cursor) && !has(size) {
			no := refuse("VALIDATION_MISSING_PARAM", "The parameter '%s' requires '%s'.", cursor, size)
			return no.addParam(size)
		}
	}
	return nil
}

// describePage describes what surrounds a page.
func (a *Adapter) describePage(all []jsonv.Value, from, to int) jsonv.Value {
	info := jsonv.ObjectOf("hasNextPage", to < len(all) || a.is("page-flags"), "hasPreviousPage", from > 0)
	if from < to {
		info = info.With("startCursor", jsonv.String(makeCursor(all[from])))
		info = info.With("endCursor", jsonv.String(makeCursor(all[to-1])))
	}
	return info
}

func makeCursor(item jsonv.Value) string {
	return base64.RawURLEncoding.EncodeToString([]byte(item.Lookup("id").Text()))
}

func findIndex(all []jsonv.Value, cursor string) int {
	id, err := base64.RawURLEncoding.DecodeString(cursor)
	return slices.IndexFunc(all, func(v jsonv.Value) bool {
		return err == nil && strings.EqualFold(v.Lookup("id").Text(), string(id))
	})
}
