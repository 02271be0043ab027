package jsonschema

import (
	"iter"

	"mcptest/internal/base/jsonv"
)

// walkChildren yields the elements or members of a value with their pointer
// tokens; of duplicate keys only the last.
func walkChildren(v jsonv.Value) iter.Seq2[string, jsonv.Value] {
	if v.Kind() == jsonv.KindObject {
		return v.Effective
	}
	return v.Children()
}

// measureDepth returns the nesting depth of arrays and objects.
func measureDepth(v jsonv.Value) int {
	if v.Kind() != jsonv.KindArray && v.Kind() != jsonv.KindObject {
		return 0
	}
	deepest := 0
	for _, e := range walkChildren(v) {
		deepest = max(deepest, measureDepth(e))
	}
	return 1 + deepest
}
