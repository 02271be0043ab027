package demo

import (
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
)

func (a *Adapter) list(op *operation, params jsonv.Value) (jsonv.Value, *failure) {
	if a.is("crashes-on-option") && op.Verb == "search" && !params.Lookup("limit").IsAbsent() {
		return jsonv.Value{}, &failure{code: "oops", message: "Something went wrong."}
	}
	limit := int64(20)
	if op.res.Name == "shelf" && a.is("controls-differ") {
		limit = 10
	}
	if op.Name == "list_books" && a.is("default-differs") {
		limit = 2
	}
	if given, ok := params.Lookup("limit").Int64(); ok {
		limit = given
	}
	offset := int64(0)
	if given, ok := params.Lookup("offset").Int64(); ok {
		offset = given
	}
	kind, text := op.res.Kind, strings.ToLower(params.Lookup("text").Text())
	var found []jsonv.Value
	for _, v := range a.items[op.res.Name] {
		isOther := kind != "" && !jsonv.Equal(v.Lookup(kind), params.Lookup(kind))
		if !isOther && strings.Contains(strings.ToLower(v.Lookup("title").Text()), text) {
			found = append(found, v)
		}
	}
	cursor := slices.ContainsFunc(a.library.Cursors, func(p param) bool { return !params.Lookup(p.Name).IsAbsent() })
	if op.Name == "list_books" && cursor {
		return a.pageByCursor(found, params)
	}
	from := min(max(int(offset), 0), len(found))
	to := from + min(max(int(limit), 0), len(found)-from)
	applied := jsonv.ObjectOf("limit", limit, "offset", offset)
	out := jsonv.ObjectOf("items", jsonv.Array(found[from:to]...), "total", len(found), "applied", applied)
	if op.Name == "list_books" && !a.is("page-info") {
		out = out.With("pageInfo", a.describePage(found, from, to))
	}
	return out, nil
}

// listPresets returns the fields that the presets of a resource contain (FS 3.1).
func listPresets(r *resource) map[string][]string {
	var minimal, standard, full []string
	for i, f := range r.Fields {
		full = append(full, f.Name)
		if f.Required && !strings.HasSuffix(f.Name, "_at") {
			minimal = append(minimal, f.Name)
		}
		if f.Required || i < 5 {
			standard = append(standard, f.Name)
		}
	}
	return map[string][]string{"minimal": minimal, "standard": standard, "full": full}
}

// selectFields returns a part of an item: the fields of a preset, or the listed ones,
// which may be paths (FS 2).
func (a *Adapter) selectFields(r *resource, item, fields jsonv.Value) (jsonv.Value, *failure) {
	if fields.IsAbsent() || a.is("fields-ignored") {
		return item, nil
	}
	var names []string
	if fields.Kind() == jsonv.KindString {
		preset, known := listPresets(r)[fields.Text()]
		if !known || a.is("preset-refused") {
			no := refuse("VALIDATION_INVALID_VALUE",
				"The parameter 'fields' wants minimal, standard, full or a list of names, got '%s'.", fields.Text())
			return jsonv.Value{}, no.addParam("fields")
		}
		names = preset
		if a.is("preset-smaller") && fields.Text() == "standard" {
			names = names[1:]
		}
	}
	names = append(names, fields.Texts()...)
	out := jsonv.Object()
	for _, name := range names {
		head, rest, nested := strings.Cut(name, ".")
		if r.findField(head).Name == "" {
			no := refuse("VALIDATION_INVALID_VALUE", "The parameter 'fields' names '%s', which no %s has.", name, r.Name)
			return jsonv.Value{}, no.addParam("fields")
		}
		v, ok := item.Get(head)
		switch {
		case !ok:
		case !nested:
			out = out.With(head, v)
		case a.is("path-flat"):
			out = out.With(name, v.Lookup(rest))
		default:
			out = out.With(head, addAtPath(out.Lookup(head), v, rest))
		}
	}
	return out, nil
}

// addAtPath adds the value at a path of an object to a part of that object.
func addAtPath(part, whole jsonv.Value, path string) jsonv.Value {
	if part.Kind() != jsonv.KindObject {
		part = jsonv.Object()
	}
	head, rest, nested := strings.Cut(path, ".")
	v, ok := whole.Get(head)
	switch {
	case !ok:
		return part
	case nested:
		v = addAtPath(part.Lookup(head), v, rest)
	}
	return part.With(head, v)
}
