package engine

import "mcptest/internal/base/jsonv"

// unevaluatedRules are the schemas for what no other keyword evaluated.
type unevaluatedRules struct {
	items, properties *node
}

func (r *unevaluatedRules) check(e *evaluation, _ *node, v jsonv.Value, seen *evaluated) bool {
	ok := true
	if rule := r.properties; rule != nil && v.Kind() == jsonv.KindObject {
		for name, value := range v.Effective {
			if seen.all || seen.properties[name] {
				continue
			}
			if ok = e.in(member(name), rule, value) && ok; !e.goesOn(ok) {
				return false
			}
		}
		seen.everything()
	}
	if rule := r.items; rule != nil && v.Kind() == jsonv.KindArray {
		for i, value := range v.Elems() {
			if seen.all || i < seen.first || seen.items[i] {
				continue
			}
			if ok = e.in(element(i), rule, value) && ok; !e.goesOn(ok) {
				return false
			}
		}
		seen.everything()
	}
	return ok
}
