package jsonschema

import (
	"iter"

	"mcptest/internal/base/jsonv"
)

// children yields the elements or members of a value with their pointer
// tokens; of duplicate keys only the last.
func children(v jsonv.Value) iter.Seq2[string, jsonv.Value] {
	if v.Kind() == jsonv.KindObject {
		return v.Effective
	}
	return v.Children()
}

// depthOf returns the nesting depth of arrays and objects.
func depthOf(v jsonv.Value) int {
	if v.Kind() != jsonv.KindArray && v.Kind() != jsonv.KindObject {
		return 0
	}
	deepest := 0
	for _, e := range children(v) {
		deepest = max(deepest, depthOf(e))
	}
	return 1 + deepest
}
