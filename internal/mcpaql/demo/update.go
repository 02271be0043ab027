package demo

import (
	"mcptest/internal/base/jsonv"
)

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
		if a.is("update-shallow") {
			changed = a.replace(changed, name, v)
		} else {
			changed = a.mergeDeep(changed, name, v)
		}
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

// mergeDeep merges an object into the old value of a member; other values replace it.
func (a *Adapter) mergeDeep(into jsonv.Value, name string, v jsonv.Value) jsonv.Value {
	old := into.Lookup(name)
	if v.Kind() != jsonv.KindObject || old.Kind() != jsonv.KindObject {
		return a.replace(into, name, v)
	}
	for k, e := range v.Members() {
		old = a.mergeDeep(old, k, e)
	}
	return into.With(name, old)
}

// replace replaces the old value of a member; null removes it.
func (a *Adapter) replace(into jsonv.Value, name string, v jsonv.Value) jsonv.Value {
	old := into.Lookup(name)
	switch {
	case v.Kind() == jsonv.KindNull && !a.is("update-keeps-null"):
		return into.Without(name)
	case v.Kind() == jsonv.KindArray && old.Kind() == jsonv.KindArray && a.is("update-appends"):
		return into.With(name, jsonv.Array(append(old.List(), v.List()...)...))
	}
	return into.With(name, v)
}
