package catalog

import (
	"mcptest/internal/jsonv"
)

// Some resources are of several kinds, distinguished by a parameter that each of
// their operations requires (element_type), and some exist at most once and
// have no identifier.

// maxKinds limits the kinds of one resource that are created.
const maxKinds = 8

// Kinds returns the values of the discriminators to test, each an object; one empty
// object for a resource without discriminators.
func (mk *Maker) Kinds(create, remove *Operation) []jsonv.Value {
	names := mk.catalog.Discriminators(create, remove)
	if len(names) == 0 {
		return []jsonv.Value{jsonv.Object()}
	}
	rest := jsonv.Object()
	for _, name := range names[1:] {
		if v, err := mk.Value(create, *create.Param(name), name); err == nil {
			rest = rest.With(name, v)
		}
	}
	var out []jsonv.Value
	for _, v := range mk.catalog.enumOf(*create.Param(names[0])) {
		if len(out) < maxKinds {
			out = append(out, rest.With(names[0], v))
		}
	}
	return out
}

// Common reports whether an item is of the kind that requests use by default.
func (mk *Maker) Common(op *Operation, with jsonv.Value) bool {
	for name, v := range with.Members() {
		p := op.Param(name)
		if p == nil {
			continue
		}
		if own, err := mk.Value(op, *p, name); err != nil || !jsonv.Equal(own, v) {
			return false
		}
	}
	return true
}
