package catalog

import (
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lists"
)

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
