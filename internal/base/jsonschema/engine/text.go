package engine

import "mcptest/internal/base/jsonv"

// textRules are the keywords for strings.
type textRules struct {
	least, most int // characters; -1: no limit
	pattern     matcher
}

func (c *compiler) textRules(n *node) (*textRules, *Error) {
	rules := &textRules{least: count(n, "minLength"), most: count(n, "maxLength")}
	if pattern := n.value.Lookup("pattern"); pattern.Kind() == jsonv.KindString {
		re, err := c.patterns.compile(maskSurrogates(pattern.Text()))
		if err != nil {
			return nil, badPattern(n.place.with("pattern"), pattern.Text(), err)
		}
		rules.pattern = re
	}
	return rules, nil
}

func (r *textRules) check(e *evaluation, n *node, v jsonv.Value, _ *evaluated) bool {
	if v.Kind() != jsonv.KindString {
		return true
	}
	ok := true
	if r.least >= 0 || r.most >= 0 {
		length := v.Len()
		if r.least >= 0 && length < r.least {
			ok = e.failSchema(n, "minLength", Failure{Limit: r.least, Count: length})
		}
		if r.most >= 0 && length > r.most {
			ok = e.failSchema(n, "maxLength", Failure{Limit: r.most, Count: length})
		}
	}
	if r.pattern != nil && !e.matches(r.pattern, v.Text()) {
		ok = e.failSchema(n, "pattern", Failure{})
	}
	return ok
}
