package engine

import "mcptest/internal/base/jsonv"

// logicRules are the keywords that combine schemas.
type logicRules struct {
	all, any, one []*node
	not           *node
	condition     *node
	then, other   *node
}

func (c *compiler) logicRules(n *node) *logicRules {
	rules := &logicRules{
		all: c.list(n, "allOf"), any: c.list(n, "anyOf"), one: c.list(n, "oneOf"),
		not: c.one(n, "not"),
	}
	if n.draft() < Draft7 {
		return rules
	}
	if rules.condition = c.one(n, "if"); rules.condition != nil {
		rules.then, rules.other = c.one(n, "then"), c.one(n, "else")
	}
	return rules
}

func (e *evaluation) checkLogic(n *node, v jsonv.Value, seen *evaluated) bool {
	if n.logic == nil {
		return true
	}
	ok := e.checkNot(n, v, seen)
	if e.goesOn(ok) {
		ok = e.checkAll(n, v, seen) && ok
	}
	if e.goesOn(ok) {
		ok = e.checkAny(n, v, seen) && ok
	}
	if e.goesOn(ok) {
		ok = e.checkOne(n, v, seen) && ok
	}
	if e.goesOn(ok) {
		ok = e.checkCondition(n, v, seen) && ok
	}
	return ok
}

func (e *evaluation) checkNot(n *node, v jsonv.Value, seen *evaluated) bool {
	if n.logic.not != nil && e.fits(n.logic.not, v, seen) {
		return e.failed(n, "not", Failure{})
	}
	return true
}

func (e *evaluation) checkAll(n *node, v jsonv.Value, seen *evaluated) bool {
	ok := true
	for _, sub := range n.logic.all {
		if ok = e.applies(sub, v, seen) && ok; !e.goesOn(ok) {
			return false
		}
	}
	return ok
}

// checkAny ends at the first schema that fits, unless it matters what the others evaluate.
func (e *evaluation) checkAny(n *node, v jsonv.Value, seen *evaluated) bool {
	if len(n.logic.any) == 0 {
		return true
	}
	held, fits := e.held, false
	var alternatives [][]Failure
	for _, sub := range n.logic.any {
		ok, failures := e.alternative(sub, v, seen)
		if fits = fits || ok; ok && seen == nil {
			break
		}
		alternatives = append(alternatives, failures)
	}
	if fits {
		e.held = held
		return true
	}
	return e.failed(n, "anyOf", Failure{Alternatives: alternatives})
}

func (e *evaluation) checkOne(n *node, v jsonv.Value, seen *evaluated) bool {
	if len(n.logic.one) == 0 {
		return true
	}
	held, first := e.held, -1
	var alternatives [][]Failure
	for i, sub := range n.logic.one {
		if first >= 0 {
			if e.fits(sub, v, seen) {
				return e.failed(n, "oneOf", Failure{Pair: [2]int{first, i}})
			}
			continue
		}
		ok, failures := e.alternative(sub, v, seen)
		if ok {
			first = i
		}
		alternatives = append(alternatives, failures)
	}
	if first >= 0 {
		e.held = held
		return true
	}
	return e.failed(n, "oneOf", Failure{Alternatives: alternatives})
}

func (e *evaluation) checkCondition(n *node, v jsonv.Value, seen *evaluated) bool {
	if n.logic.condition == nil {
		return true
	}
	branch := n.logic.other
	if e.fits(n.logic.condition, v, seen) {
		branch = n.logic.then
	}
	return branch == nil || e.applies(branch, v, seen)
}
