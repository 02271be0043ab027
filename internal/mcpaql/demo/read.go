package demo

import (
	"encoding/base64"
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

// update changes one item (D 4.5): nested objects are merged, lists
// replaced, null removes.
func (a *Adapter) update(r *resource, i int, params jsonv.Value) (jsonv.Value, *failure) {
	input := params.Lookup("input")
	if a.is("update-flat") {
		input = params.Without(r.key()).Without(r.Kind)
	}
	item := a.items[r.Name][i]
	changed := item
	if a.is("update-replaces") {
		changed = jsonv.Object()
		for _, f := range a.library.Assigned {
			changed = changed.With(f.Name, item.Lookup(f.Name))
		}
	}
	for name, v := range input.Members() {
		ignored, no := a.checkField(r, name)
		if no != nil {
			return jsonv.Value{}, no
		}
		if ignored {
			continue
		}
		f := r.findField(name)
		if v.Kind() != jsonv.KindNull {
			no = a.checkValue(f, name, v)
		} else if f.Required {
			no = refuse("VALIDATION_MISSING_PARAM", "The field '%s' can't be removed.", name).addParam(name)
		}
		if no != nil {
			return jsonv.Value{}, no
		}
		changed = a.merge(changed, name, v, !a.is("update-shallow"))
	}
	a.next++
	changed = changed.With("updated_at", jsonv.String(a.readClock()))
	a.items[r.Name][i] = changed
	return a.saveAnswer(changed)
}

// checkField refuses a field that an update can't change, or says that it is ignored.
func (a *Adapter) checkField(r *resource, name string) (ignored bool, no *failure) {
	f := r.findField(name)
	isName := r.ByName && name == "name" || name == r.Kind && r.Kind != ""
	switch {
	case f.Name == "" && a.is("update-unknown-field"):
		return true, nil
	case f.Name == "":
		no = refuse("VALIDATION_UNKNOWN_FIELD", "A %s has no field '%s'.", r.Name, name)
		return false, no.addUnknown(name)
	case f.AppendOnly && a.is("append-only-vague"):
		return false, refuse("VALIDATION_READ_ONLY_FIELD", "The field '%s' is not taken.", name).addParam(name)
	case f.AppendOnly && !a.is("append-only-open"):
		no = refuse("VALIDATION_READ_ONLY_FIELD", "The field '%s' is append-only: an update can't change it.", name)
		return false, no.addParam(name)
	case isName:
		no = refuse("VALIDATION_UNKNOWN_FIELD", "The field '%s' names the %s and can't be changed.", name, r.Name)
		return false, no.addUnknown(name)
	case f.ReadOnly && a.is("read-only-silent"):
		return true, nil
	case f.ReadOnly && !a.is("read-only-open"):
		no = refuse("VALIDATION_READ_ONLY_FIELD", "The field '%s' is read-only: the adapter assigns it.", name)
		return false, no.addParam(name)
	}
	return false, nil
}

func (a *Adapter) merge(into jsonv.Value, name string, v jsonv.Value, deep bool) jsonv.Value {
	old := into.Lookup(name)
	switch {
	case v.Kind() == jsonv.KindNull && !a.is("update-keeps-null"):
		return into.Without(name)
	case v.Kind() == jsonv.KindObject && old.Kind() == jsonv.KindObject && deep:
		for k, e := range v.Members() {
			old = a.merge(old, k, e, true)
		}
		return into.With(name, old)
	case v.Kind() == jsonv.KindArray && old.Kind() == jsonv.KindArray && a.is("update-appends"):
		return into.With(name, jsonv.Array(append(old.List(), v.List()...)...))
	}
	return into.With(name, v)
}
