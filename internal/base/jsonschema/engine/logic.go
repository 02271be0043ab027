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

func (r *logicRules) check(e *evaluation, n *node, v jsonv.Value, seen *evaluated) bool {
	ok := r.checkNot(e, n, v, seen)
	if e.goesOn(ok) {
		ok = r.checkAll(e, n, v, seen) && ok
	}
	if e.goesOn(ok) {
		ok = r.checkAny(e, n, v, seen) && ok
	}
	if e.goesOn(ok) {
		ok = r.checkOne(e, n, v, seen) && ok
	}
	if e.goesOn(ok) {
		ok = r.checkCondition(e, n, v, seen) && ok
	}
	return ok
}

func (r *logicRules) checkNot(e *evaluation, n *node, v jsonv.Value, seen *evaluated) bool {
	if r.not != nil && e.fits(r.not, v, seen) {
		return e.failSchema(n, "not", Failure{})
	}
	return true
}

func (r *logicRules) checkAll(e *evaluation, n *node, v jsonv.Value, seen *evaluated) bool {
	ok := true
	for _, sub := range r.all {
		if ok = e.applies(sub, v, seen) && ok; !e.goesOn(ok) {
			return false
		}
	}
	return ok
}

// checkAny ends at the first schema that fits, unless it matters what the others evaluate.
func (r *logicRules) checkAny(e *evaluation, n *node, v jsonv.Value, seen *evaluated) bool {
	if len(r.any) == 0 {
		return true
	}
	held, fits := e.held, false
	var alternatives [][]Failure
	for _, sub := range r.any {
		ok, failures := e.alternative(sub, v, seen)
		fits = fits || ok
		if ok && seen == nil {
			break
		}
		alternatives = append(alternatives, failures)
	}
	if fits {
		e.held = held
		return true
	}
	return e.failSchema(n, "anyOf", Failure{Alternatives: alternatives})
}

func (r *logicRules) checkOne(e *evaluation, n *node, v jsonv.Value, seen *evaluated) bool {
	if len(r.one) == 0 {
		return true
	}
	held, first := e.held, -1
	var alternatives [][]Failure
	for i, sub := range r.one {
		if first >= 0 {
			if e.fits(sub, v, seen) {
				return e.failSchema(n, "oneOf", Failure{Pair: [2]int{first, i}})
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
	return e.failSchema(n, "oneOf", Failure{Alternatives: alternatives})
}

func (r *logicRules) checkCondition(e *evaluation, n *node, v jsonv.Value, seen *evaluated) bool {
	if r.condition == nil {
		return true
	}
	branch := r.other
	if e.fits(r.condition, v, seen) {
		branch = r.then
	}
	return branch == nil || e.applies(branch, v, seen)
}
