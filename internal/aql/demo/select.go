package demo

import (
	"strings"

	"mcptest/internal/jsonv"
)

// presetsOf returns the fields that the presets of a resource contain (FS 3.1).
func presetsOf(r *resource) map[string][]string {
	var minimal, standard, full []string
	for i, f := range r.fields {
		full = append(full, f.name)
		if f.required && !strings.HasSuffix(f.name, "_at") {
			minimal = append(minimal, f.name)
		}
		if f.required || i < 5 {
			standard = append(standard, f.name)
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
		preset, known := presetsOf(r)[fields.Text()]
		if !known || a.is("preset-refused") {
			return jsonv.Value{}, refuse("VALIDATION_INVALID_VALUE", "The parameter 'fields' wants minimal, standard, full or a list of names, got '%s'.", fields.Text()).with("param_name", jsonv.String("fields"))
		}
		if names = preset; a.is("preset-smaller") && fields.Text() == "standard" {
			names = names[1:]
		}
	}
	names = append(names, fields.Texts()...)
	out := jsonv.Object()
	for _, name := range names {
		head, rest, nested := strings.Cut(name, ".")
		if r.field(head) == nil {
			return jsonv.Value{}, refuse("VALIDATION_INVALID_VALUE", "The parameter 'fields' names '%s', which no %s has.", name, r.name).with("param_name", jsonv.String("fields"))
		}
		switch v, ok := item.Get(head); {
		case !ok:
		case !nested:
			out = out.With(head, v)
		case a.is("path-flat"):
			out = out.With(name, v.Lookup(rest))
		default:
			out = out.With(head, along(out.Lookup(head), v, rest))
		}
	}
	return out, nil
}

// along adds the value at a path of an object to a part of that object.
func along(part, whole jsonv.Value, path string) jsonv.Value {
	if part.Kind() != jsonv.KindObject {
		part = jsonv.Object()
	}
	head, rest, nested := strings.Cut(path, ".")
	v, ok := whole.Get(head)
	switch {
	case !ok:
		return part
	case nested:
		v = along(part.Lookup(head), v, rest)
	}
	return part.With(head, v)
}
