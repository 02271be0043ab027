package demo

import (
	"strconv"

	"mcptest/internal/jsonv"
)

// The limits of a request (D 4.7.5).
const (
	maxString   = 1 << 20
	maxElements = 10_000
	maxDepth    = 32
)

// tooLarge returns the limit that a request exceeds, or "".
func tooLarge(v jsonv.Value, depth int) string {
	switch {
	case len(v.Text()) > maxString && v.Kind() == jsonv.KindString:
		return "max_string_length is " + strconv.Itoa(maxString)
	case v.Kind() == jsonv.KindArray && v.Len() > maxElements:
		return "max_array_elements is " + strconv.Itoa(maxElements)
	case (v.Kind() == jsonv.KindArray || v.Kind() == jsonv.KindObject) && depth > maxDepth:
		return "max_nesting_depth is " + strconv.Itoa(maxDepth)
	}
	for _, e := range v.Elems() {
		if why := tooLarge(e, depth+1); why != "" {
			return why
		}
	}
	for _, e := range v.Members() {
		if why := tooLarge(e, depth+1); why != "" {
			return why
		}
	}
	return ""
}
