package demo

import "mcptest/internal/base/jsonv"

// update changes one item (D 4.5): nested objects are merged, lists
// replaced, null removes.
func (a *Adapter) update(r *resource, i int, params jsonv.Value) (jsonv.Value, *failure) {
	input := pick(a.is("update-flat"), params.Without(r.key()).Without(r.Kind), params.Lookup("input"))
	item := a.items[r.Name][i]
	changed := item
	if a.is("update-replaces") {
		changed = jsonv.Object()
		for _, f := range a.library.Assigned {
			changed = changed.With(f.Name, item.Lookup(f.Name))
		}
	}
	for name, v := range input.Members() {
		f := r.field(name)
		switch {
		case f == nil && a.is("update-unknown-field"):
			continue
		case f == nil:
			return jsonv.Value{}, refuse("VALIDATION_UNKNOWN_FIELD", "A %s has no field '%s'.", r.Name, name).with("unknown_fields", jsonv.Array(jsonv.String(name)))
		case f.AppendOnly && a.is("append-only-vague"):
			return jsonv.Value{}, refuse("VALIDATION_READ_ONLY_FIELD", "The field '%s' is not taken.", name).with("param_name", jsonv.String(name))
		case f.AppendOnly && !a.is("append-only-open"):
			return jsonv.Value{}, refuse("VALIDATION_READ_ONLY_FIELD", "The field '%s' is append-only: an update can't change it.", name).with("param_name", jsonv.String(name))
		case r.ByName && name == "name" || name == r.Kind && r.Kind != "":
			return jsonv.Value{}, refuse("VALIDATION_UNKNOWN_FIELD", "The field '%s' names the %s and can't be changed.", name, r.Name).with("unknown_fields", jsonv.Array(jsonv.String(name)))
		case f.ReadOnly && a.is("read-only-silent"):
			continue
		case f.ReadOnly && !a.is("read-only-open"):
			return jsonv.Value{}, refuse("VALIDATION_READ_ONLY_FIELD", "The field '%s' is read-only: the adapter assigns it.", name).with("param_name", jsonv.String(name))
		}
		if v.Kind() != jsonv.KindNull {
			if no := a.checkValue(*f, name, v); no != nil {
				return jsonv.Value{}, no
			}
		} else if f.Required {
			return jsonv.Value{}, refuse("VALIDATION_MISSING_PARAM", "The field '%s' can't be removed.", name).with("param_name", jsonv.String(name))
		}
		changed = a.merge(changed, name, v, !a.is("update-shallow"))
	}
	a.next++
	changed = changed.With("updated_at", jsonv.String(a.clock()))
	a.items[r.Name][i] = changed
	return a.saved(changed)
}

func (a *Adapter) merge(into jsonv.Value, name string, v jsonv.Value, deep bool) jsonv.Value {
	switch old := into.Lookup(name); {
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
