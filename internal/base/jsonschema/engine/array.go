package engine

import "mcptest/internal/base/jsonv"

// arrayRules are the keywords for arrays.
type arrayRules struct {
	least, most int // items; -1: no limit
	unique      bool

	first []*node // for the first items, one after another
	rest  *node   // for the items after those
	// noMore refuses items after the first: additionalItems is false.
	noMore bool

	contains             *node
	leastHits, mostHits  int // items that fit contains; -1: no limit
	containsIsEvaluation bool
}

func (c *compiler) arrayRules(n *node) *arrayRules {
	rules := &arrayRules{least: -1, most: -1, leastHits: -1, mostHits: -1}
	dialect := n.resource.dialect
	if dialect.has("validation") {
		rules.least, rules.most = count(n, "minItems"), count(n, "maxItems")
		rules.unique = n.value.Lookup("uniqueItems").Bool()
	}
	if !dialect.has("applicator") {
		return rules
	}
	if dialect.draft >= Draft2020 {
		rules.first, rules.rest = c.list(n, "prefixItems"), c.one(n, "items")
	} else {
		c.addOldItems(n, rules)
	}
	if dialect.draft < Draft6 {
		return rules
	}
	rules.contains = c.one(n, "contains")
	rules.containsIsEvaluation = dialect.draft >= Draft2020
	if dialect.draft >= Draft2019 && dialect.has("validation") && rules.contains != nil {
		rules.leastHits, rules.mostHits = count(n, "minContains"), count(n, "maxContains")
	}
	return rules
}

// addOldItems adds the rules of items, one schema or a list, and additionalItems.
func (c *compiler) addOldItems(n *node, rules *arrayRules) {
	items, ok := n.value.Get("items")
	if !ok {
		return
	}
	if items.Kind() != jsonv.KindArray {
		rules.rest = c.one(n, "items")
		return
	}
	rules.first = c.list(n, "items")
	more := n.value.Lookup("additionalItems")
	rules.noMore = more.Kind() == jsonv.KindBool && !more.Bool()
	if !rules.noMore {
		rules.rest = c.one(n, "additionalItems")
	}
}

func (r *arrayRules) check(e *evaluation, n *node, v jsonv.Value, seen *evaluated) bool {
	if v.Kind() != jsonv.KindArray {
		return true
	}
	ok := true
	if r.least >= 0 && v.Len() < r.least {
		ok = e.failSchema(n, "minItems", Failure{Limit: r.least, Count: v.Len()})
	}
	if r.most >= 0 && v.Len() > r.most {
		ok = e.failSchema(n, "maxItems", Failure{Limit: r.most, Count: v.Len()})
	}
	if r.unique {
		if i, j, found := duplicates(v); found {
			ok = e.failSchema(n, "uniqueItems", Failure{Pair: [2]int{i, j}})
		}
	}
	if e.goesOn(ok) {
		ok = r.checkItems(e, n, v, seen) && ok
	}
	if r.contains != nil && e.goesOn(ok) {
		ok = r.checkContains(e, n, v, seen) && ok
	}
	return ok
}

func (r *arrayRules) checkItems(e *evaluation, n *node, v jsonv.Value, seen *evaluated) bool {
	ok := true
	seen.upTo(len(r.first))
	if r.rest != nil || r.noMore {
		seen.everything()
	}
	more := v.Len() - len(r.first)
	if r.noMore && more > 0 {
		ok = e.failSchema(n, "additionalItems", Failure{Count: more})
	}
	for i, item := range v.Elems() {
		rule := r.rest
		if i < len(r.first) {
			rule = r.first[i]
		}
		if rule == nil {
			break
		}
		if ok = e.in(element(i), rule, item) && ok; !e.goesOn(ok) || e.err != nil {
			return false
		}
	}
	return ok
}

func (r *arrayRules) checkContains(e *evaluation, n *node, v jsonv.Value, seen *evaluated) bool {
	hits := 0
	quiet := e.quiet
	e.quiet = true
	for i, item := range v.Elems() {
		if e.in(element(i), r.contains, item) {
			hits++
			if r.containsIsEvaluation {
				seen.item(i)
			}
		}
	}
	e.quiet = quiet
	ok := true
	switch {
	case r.leastHits >= 0 && hits < r.leastHits:
		ok = e.failSchema(n, "minContains", Failure{Limit: r.leastHits, Count: hits})
	case r.leastHits < 0 && hits == 0:
		ok = e.failSchema(n, "contains", Failure{})
	}
	if r.mostHits >= 0 && hits > r.mostHits {
		ok = e.failSchema(n, "maxContains", Failure{Limit: r.mostHits, Count: hits})
	}
	return ok
}

// pairwiseUpTo is the number of items up to which each pair is compared.
const pairwiseUpTo = 16

// duplicates returns the first item that equals an earlier one, and that one before it.
func duplicates(v jsonv.Value) (earlier, later int, found bool) {
	if v.Len() <= pairwiseUpTo {
		for i := 1; i < v.Len(); i++ {
			for j := range i {
				if jsonv.Equal(v.At(j), v.At(i)) {
					return j, i, true
				}
			}
		}
		return 0, 0, false
	}
	hasher := jsonv.NewHasher()
	first := map[uint64]int{}
	for i, item := range v.Elems() {
		hash := hasher.Hash(item)
		if j, ok := first[hash]; ok && jsonv.Equal(v.At(j), item) {
			return j, i, true
		}
		first[hash] = i
	}
	return 0, 0, false
}
