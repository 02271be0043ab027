package engine

import "mcptest/internal/base/jsonv"

// checkReferences evaluates the references that depend on the schemas around.
func (e *evaluation) checkReferences(n *node, v jsonv.Value, seen *evaluated) bool {
	ok := true
	if n.refs == nil {
		return true
	}
	if to := n.refs.recursive; to != nil {
		ok = e.applies(e.recursiveTarget(to), v, seen)
	}
	if to := n.refs.dynamic; to != nil && e.goesOn(ok) {
		ok = e.applies(e.dynamicTarget(to, n.refs.name), v, seen) && ok
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
