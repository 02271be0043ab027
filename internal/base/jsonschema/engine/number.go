package engine

import "mcptest/internal/base/jsonv"

// numberRules are the bounds of numbers; absent ones do not apply.
type numberRules struct {
	least, most, above, below, step jsonv.Value
}

func numberRulesOf(n *node) *numberRules {
	number := func(keyword string) jsonv.Value {
		if v := n.value.Lookup(keyword); v.Kind() == jsonv.KindNumber {
			return v
		}
		return jsonv.Value{}
	}
	rules := &numberRules{
		least: number("minimum"), most: number("maximum"),
		above: number("exclusiveMinimum"), below: number("exclusiveMaximum"),
		step: number("multipleOf"),
	}
	// In draft 4 the exclusive keywords change the meaning of the others.
	if n.value.Lookup("exclusiveMinimum").Bool() {
		rules.least, rules.above = jsonv.Value{}, rules.least
	}
	if n.value.Lookup("exclusiveMaximum").Bool() {
		rules.most, rules.below = jsonv.Value{}, rules.most
	}
	return rules
}

func (r *numberRules) check(e *evaluation, n *node, v jsonv.Value, _ *evaluated) bool {
	if v.Kind() != jsonv.KindNumber {
		return true
	}
	ok := true
	refuse := func(keyword string, limit jsonv.Value, wrong bool) {
		if wrong {
			ok = e.failSchema(n, keyword, Failure{Rule: limit})
		}
	}
	if order, is := jsonv.Compare(v, r.least); is {
		refuse("minimum", r.least, order < 0)
	}
	if order, is := jsonv.Compare(v, r.most); is {
		refuse("maximum", r.most, order > 0)
	}
	if order, is := jsonv.Compare(v, r.above); is {
		refuse("exclusiveMinimum", r.above, order <= 0)
	}
	if order, is := jsonv.Compare(v, r.below); is {
		refuse("exclusiveMaximum", r.below, order >= 0)
	}
	if !r.step.IsAbsent() {
		refuse("multipleOf", r.step, !jsonv.IsMultiple(v, r.step))
	}
	return ok
}
