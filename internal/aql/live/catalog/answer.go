package catalog

import (
	"mcptest/internal/jsonv"
)

// Sample returns the object that an answer describes: the first of a list, or the
// data itself.
func Sample(data jsonv.Value) jsonv.Value {
	if list := Items(data, ListDepth); len(list) > 0 {
		return list[0]
	}
	return data
}

// ScalarKeys returns the keys whose values are texts, numbers or booleans.
func ScalarKeys(v jsonv.Value) (keys []string) {
	for k, e := range v.Members() {
		if kind := e.Kind(); kind == jsonv.KindString || kind == jsonv.KindNumber || kind == jsonv.KindBool {
			keys = append(keys, k)
		}
	}
	return keys
}

// Items returns the list of objects in an answer's data, searching a few levels deep;
// nil if there is none.
func Items(data jsonv.Value, depth int) []jsonv.Value {
	switch data.Kind() {
	case jsonv.KindArray:
		var out []jsonv.Value
		for _, e := range data.Elems() {
			if node := e.Lookup("node"); node.Kind() == jsonv.KindObject {
				e = node
			}
			if e.Kind() == jsonv.KindObject {
				out = append(out, e)
			}
		}
		return out
	case jsonv.KindObject:
		if depth == 0 {
			return nil
		}
		for _, m := range data.Members() {
			if list := Items(m, depth-1); len(list) > 0 {
				return list
			}
		}
	}
	return nil
}

// ListDepth is how deep an answer is searched for a list.
const ListDepth = 3
