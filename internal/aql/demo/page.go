package demo

import (
	"encoding/base64"
	"strings"

	"mcptest/internal/jsonv"
)

// byCursor answers a request for a page of a list by cursors (PG 2).
func (a *Adapter) byCursor(all []jsonv.Value, params jsonv.Value) (jsonv.Value, *failure) {
	has := func(name string) bool { _, ok := params.Get(name); return ok }
	for _, pair := range [][2]string{{"first", "last"}, {"first", "before"}, {"last", "after"}} {
		if has(pair[0]) && has(pair[1]) && !a.is("cursors-mixed") {
			return jsonv.Value{}, refuse("VALIDATION_INVALID_TYPE", "The parameters '%s' and '%s' don't go together: page forward with first and after, or backward with last and before.", pair[0], pair[1]).
				with("param_name", jsonv.String("pagination"))
		}
	}
	for _, pair := range [][2]string{{"after", "first"}, {"before", "last"}} {
		if has(pair[0]) && !has(pair[1]) && !a.is("cursors-mixed") {
			return jsonv.Value{}, refuse("VALIDATION_MISSING_PARAM", "The parameter '%s' requires '%s'.", pair[0], pair[1]).with("param_name", jsonv.String(pair[1]))
		}
	}
	from, to := 0, len(all)
	for _, name := range []string{"after", "before"} {
		if !has(name) || a.is("cursor-ignored") {
			continue
		}
		at := indexOf(all, params.Lookup(name).Text())
		switch {
		case at < 0:
			return jsonv.Value{}, refuse("VALIDATION_INVALID_VALUE", "The parameter '%s' wants a cursor from a pageInfo.", name).with("param_name", jsonv.String(name))
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
	out := jsonv.Object(member("items", jsonv.Array(all[from:max(from, to)]...)))
	if a.is("page-info") {
		return out, nil
	}
	return out.With("pageInfo", a.pageInfo(all, from, max(from, to))), nil
}

// pageInfo describes what surrounds a page.
func (a *Adapter) pageInfo(all []jsonv.Value, from, to int) jsonv.Value {
	info := jsonv.Object(member("hasNextPage", jsonv.Bool(to < len(all))), member("hasPreviousPage", jsonv.Bool(from > 0)))
	if a.is("page-flags") {
		info = info.With("hasNextPage", jsonv.Bool(true))
	}
	if from < to {
		info = info.With("startCursor", jsonv.String(cursorOf(all[from]))).With("endCursor", jsonv.String(cursorOf(all[to-1])))
	}
	return info
}

func cursorOf(item jsonv.Value) string {
	return base64.RawURLEncoding.EncodeToString([]byte(item.Lookup("id").Text()))
}

func indexOf(all []jsonv.Value, cursor string) int {
	id, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil {
		return -1
	}
	for i, v := range all {
		if strings.EqualFold(v.Lookup("id").Text(), string(id)) {
			return i
		}
	}
	return -1
}
