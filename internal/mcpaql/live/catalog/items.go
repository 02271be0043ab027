package catalog

import (
	"slices"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lists"
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
