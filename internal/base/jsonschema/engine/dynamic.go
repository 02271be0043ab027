package engine

import "mcptest/internal/base/jsonv"

// dynamicReferences are the references that depend on the schemas around.
type dynamicReferences struct {
	recursive *node
	dynamic   *node
	name      string // the anchor of the dynamic reference, "" if it has none
}

func (r *dynamicReferences) check(e *evaluation, _ *node, v jsonv.Value, seen *evaluated) bool {
	ok := true
	if r.recursive != nil {
		ok = e.applies(e.recursiveTarget(r.recursive), v, seen)
	}
	if r.dynamic != nil && e.goesOn(ok) {
		ok = e.applies(e.dynamicTarget(r.dynamic, r.name), v, seen) && ok
	}
	return ok
}

// recursiveTarget returns the target of a $recursiveRef: the outermost resource with
// $recursiveAnchor, if the first target has it.
func (e *evaluation) recursiveTarget(to *node) *node {
	if !to.value.Lookup("$recursiveAnchor").Bool() {
		return to
	}
	for _, s := range e.scopes {
		if root := s.node.resource.root; root.value.Lookup("$recursiveAnchor").Bool() {
			return root
		}
	}
	return to
}

// dynamicTarget returns the target of a $dynamicRef: the anchor of this name in the
// outermost resource that has it.
func (e *evaluation) dynamicTarget(to *node, name string) *node {
	if name == "" {
		return to
	}
	for _, s := range e.scopes {
		if outermost, ok := s.node.resource.dynamic[name]; ok {
			return outermost
		}
	}
	return to
}
