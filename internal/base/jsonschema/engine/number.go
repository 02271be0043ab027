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

func (e *evaluation) checkNumber(n *node, v jsonv.Value) bool {
	rules := n.numbers
	ok := true
	refuse := func(keyword string, limit jsonv.Value, wrong bool) {
		if wrong {
			ok = e.failed(n, keyword, Failure{Rule: limit})
		}
	}
	if order, is := jsonv.Compare(v, rules.least); is {
		refuse("minimum", rules.least, order < 0)
	}
	if order, is := jsonv.Compare(v, rules.most); is {
		refuse("maximum", rules.most, order > 0)
	}
	if order, is := jsonv.Compare(v, rules.above); is {
		refuse("exclusiveMinimum", rules.above, order <= 0)
	}
	if order, is := jsonv.Compare(v, rules.below); is {
		refuse("exclusiveMaximum", rules.below, order >= 0)
	}
	if !rules.step.IsAbsent() {
		refuse("multipleOf", rules.step, !jsonv.IsMultiple(v, rules.step))
	}
	return ok
}
