package catalog

import (
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lists"
	"mcptest/internal/mcpaql/evidence"
)

// Sample returns the object that an answer describes: the first of a list, or the
// data itself.
func Sample(data jsonv.Value) jsonv.Value {
	if list := FindItems(data, ListDepth); len(list) > 0 {
		return list[0]
	}
	return data
}

// ListScalarKeys returns the keys whose values are texts, numbers or booleans.
func ListScalarKeys(v jsonv.Value) (keys []string) {
	for k, e := range v.Members() {
		if kind := e.Kind(); kind == jsonv.KindString || kind == jsonv.KindNumber || kind == jsonv.KindBool {
			keys = append(keys, k)
		}
	}
	return keys
}

// FindItems returns the first list of objects in an answer's data, searching a few levels
// deep; nil if there is none.
func FindItems(data jsonv.Value, depth int) []jsonv.Value {
	for _, list := range findObjectLists(data, depth) {
		return list
	}
	return nil
}

// FindNamedItems returns the objects of all lists in an answer's data whose entries have one
// of the keys: the list may be in groups, or have counts in front of it. If none has, it
// returns the first list.
func FindNamedItems(data jsonv.Value, keys []string) (out []jsonv.Value) {
	for _, list := range findObjectLists(data, ListDepth) {
		if slices.ContainsFunc(keys, func(key string) bool { return !list[0].Lookup(key).IsAbsent() }) {
			out = append(out, list...)
		}
	}
	if out == nil {
		return FindItems(data, ListDepth)
	}
	return out
}

// FindNames returns what identifies the entries of an answer without a list of objects: the
// texts and numbers of a list, or the keys of an object of objects.
func FindNames(data jsonv.Value, depth int) (out []jsonv.Value) {
	keyed := data.Len() > 0
	for _, m := range data.Members() {
		keyed = keyed && m.Kind() == jsonv.KindObject && m.Len() > 0
		if depth > 0 && len(out) == 0 {
			out = FindNames(m, depth-1)
		}
	}
	if len(out) == 0 && keyed {
		out = lists.Map(data.Keys(), jsonv.String)
	}
	other := func(e jsonv.Value) bool { return e.Kind() != jsonv.KindString && e.Kind() != jsonv.KindNumber }
	return append(out, slices.DeleteFunc(data.List(), other)...)
}

// findObjectLists returns the lists of objects in an answer's data, without the empty ones.
func findObjectLists(data jsonv.Value, depth int) (out [][]jsonv.Value) {
	var list []jsonv.Value
	for _, e := range data.Elems() {
		if node := e.Lookup("node"); node.Kind() == jsonv.KindObject {
			e = node
		}
		if e.Kind() == jsonv.KindObject {
			list = append(list, e)
		}
	}
	if len(list) > 0 {
		out = append(out, list)
	}
	for _, m := range data.Members() {
		if depth > 0 {
			out = append(out, findObjectLists(m, depth-1)...)
		}
	}
	return out
}

// ListDepth is how deep an answer is searched for a list.
const ListDepth = 3

// Some resources are of several kinds, distinguished by a parameter that each of
// their operations requires (element_type), and some exist at most once and
// have no identifier.

// maxKinds limits the kinds of one resource that are created.
const maxKinds = 8

// ListKinds returns the values of the discriminators to test, each an object; one empty
// object for a resource without discriminators.
func (mk *Maker) ListKinds(create, remove *Operation) []jsonv.Value {
	names := mk.catalog.FindDiscriminators(create, remove)
	if len(names) == 0 {
		return []jsonv.Value{jsonv.Object()}
	}
	rest := jsonv.Object()
	for _, name := range names[1:] {
		if v, err := mk.MakeValue(create, *create.FindParam(name), name); err == nil {
			rest = rest.With(name, v)
		}
	}
	list := mk.catalog.findEnum(*create.FindParam(names[0]))
	return lists.Map(list[:min(len(list), maxKinds)], func(v jsonv.Value) jsonv.Value {
		return rest.With(names[0], v)
	})
}

// IsCommonKind reports whether an item is of the kind that requests use by default.
func (mk *Maker) IsCommonKind(op *Operation, with jsonv.Value) bool {
	for name, v := range with.Members() {
		p := op.FindParam(name)
		if p == nil {
			continue
		}
		if own, err := mk.MakeValue(op, *p, name); err != nil || !jsonv.Equal(own, v) {
			return false
		}
	}
	return true
}

// RunIDs returns the id of this run, as a list of run ids.
func (mk *Maker) RunIDs() []string { return []string{mk.runID} }

// Carries reports whether a text begins with the mark of a run. Case and separators
// are ignored: patterns of names allow few of them, and adapters change both.
func Carries(item jsonv.Value, runs []string) bool {
	plain := strings.NewReplacer("_", "", "-", "", " ", "")
	hit := false
	evidence.VisitTexts(item, func(s string) {
		for _, run := range runs {
			mark := plain.Replace(MakeMarker(run))
			begin := plain.Replace(s[:min(len(s), 2*len(mark))])
			hit = hit || run != "" && len(begin) >= len(mark) && strings.EqualFold(begin[:len(mark)], mark)
		}
	})
	return hit
}

// MakeMarker returns the prefix of the names that a run gives to its items.
func MakeMarker(runID string) string {
	if runID == "" {
		return MarkerPrefix
	}
	return MarkerPrefix + runID + "_"
}

// MarkerPrefix begins the names of everything that a live run creates.
const MarkerPrefix = "zz_conf_"

// CanMark reports whether an item that an operation creates can carry the run's mark
// in one of its text parameters.
func (mk *Maker) CanMark(op *Operation) bool {
	return Carries(mk.AddMark(op, jsonv.Object(), ""), mk.RunIDs())
}

// AddMark adds to the parameters of a create one that carries the run's mark, unless
// they have one. without names a parameter that must not be added.
func (mk *Maker) AddMark(op *Operation, params jsonv.Value, without string) jsonv.Value {
	if !op.Creates() || Carries(params, mk.RunIDs()) {
		return params
	}
	for _, p := range op.Params {
		if _, given := params.Get(p.Name); given || p.Name == without {
			continue
		}
		if v, err := mk.MakeValue(op, p, p.Name); err == nil && Carries(v, mk.RunIDs()) {
			return params.With(p.Name, v)
		}
	}
	return params
}
