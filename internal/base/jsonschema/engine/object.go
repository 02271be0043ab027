package engine

import (
	"slices"

	"mcptest/internal/base/jsonv"
)

// objectRules are the keywords for objects.
type objectRules struct {
	least, most int // properties; -1: no limit
	required    []string

	properties []named
	byName     map[string]*node // instead of the list, if it is long
	patterns   []patternRule
	more       *node // for all other properties
	// noMore refuses other properties: additionalProperties is false.
	noMore bool
	names  *node

	dependencies []dependency
}

// patternRule is a schema for properties whose names match.
type patternRule struct {
	re   matcher
	node *node
}

// dependency is what an object with a property needs: other properties, or to fit a
// schema.
type dependency struct {
	keyword, property string
	needs             []string
	node              *node
}

// listedUpTo is the number of properties that are searched one by one.
const listedUpTo = 8

func (c *compiler) objectRules(n *node) (*objectRules, *Error) {
	rules := &objectRules{least: -1, most: -1}
	dialect := n.resource.dialect
	if dialect.has("validation") {
		rules.least, rules.most = count(n, "minProperties"), count(n, "maxProperties")
		rules.required = texts(n.value.Lookup("required"))
	}
	if dialect.has("applicator") {
		if err := c.addProperties(n, rules); err != nil {
			return nil, err
		}
	}
	c.addDependencies(n, rules)
	return rules, nil
}

func (c *compiler) addProperties(n *node, rules *objectRules) *Error {
	rules.properties = c.members(n, "properties")
	if len(rules.properties) > listedUpTo {
		rules.byName = make(map[string]*node, len(rules.properties))
		for _, p := range rules.properties {
			rules.byName[p.name] = p.node
		}
	}
	for _, p := range c.members(n, "patternProperties") {
		re, err := c.patterns.compile(maskSurrogates(p.name))
		if err != nil {
			return badPattern(n.place.with("patternProperties").with(p.name), p.name, err)
		}
		rules.patterns = append(rules.patterns, patternRule{re, p.node})
	}
	more, given := n.value.Get("additionalProperties")
	rules.noMore = given && more.Kind() == jsonv.KindBool && !more.Bool()
	if given && !rules.noMore {
		rules.more = c.one(n, "additionalProperties")
	}
	if n.draft() >= Draft6 {
		rules.names = c.one(n, "propertyNames")
	}
	return nil
}

func (c *compiler) addDependencies(n *node, rules *objectRules) {
	dialect := n.resource.dialect
	add := func(keyword string) {
		for property, needs := range n.value.Lookup(keyword).Effective {
			d := dependency{keyword: keyword, property: property}
			if needs.Kind() == jsonv.KindArray {
				d.needs = texts(needs)
			} else if keyword != "dependentRequired" {
				d.node = c.child(n, needs, keyword, property)
			}
			rules.dependencies = append(rules.dependencies, d)
		}
	}
	if dialect.has("applicator") {
		add("dependencies")
	}
	if dialect.draft >= Draft2019 && dialect.has("applicator") {
		add("dependentSchemas")
	}
	if dialect.draft >= Draft2019 && dialect.has("validation") {
		add("dependentRequired")
	}
}

// texts returns the texts in a list.
func texts(list jsonv.Value) []string {
	var out []string
	for _, v := range list.Elems() {
		if v.Kind() == jsonv.KindString {
			out = append(out, v.Text())
		}
	}
	return out
}

func (r *objectRules) check(e *evaluation, n *node, v jsonv.Value, seen *evaluated) bool {
	if v.Kind() != jsonv.KindObject {
		return true
	}
	ok := true
	if r.least >= 0 || r.most >= 0 {
		ok = r.checkSize(e, n, v)
	}
	if missing := missingFrom(v, r.required); len(missing) > 0 {
		ok = e.failSchema(n, "required", Failure{Names: missing})
	}
	if e.goesOn(ok) {
		ok = r.checkDependencies(e, n, v, seen) && ok
	}
	if e.goesOn(ok) {
		ok = r.checkProperties(e, n, v, seen) && ok
	}
	if e.goesOn(ok) {
		ok = r.checkNames(e, n, v) && ok
	}
	return ok
}

func (r *objectRules) checkSize(e *evaluation, n *node, v jsonv.Value) bool {
	size := 0
	for range v.Effective {
		size++
	}
	ok := true
	if r.least >= 0 && size < r.least {
		ok = e.failSchema(n, "minProperties", Failure{Limit: r.least, Count: size})
	}
	if r.most >= 0 && size > r.most {
		ok = e.failSchema(n, "maxProperties", Failure{Limit: r.most, Count: size})
	}
	return ok
}

func missingFrom(v jsonv.Value, names []string) []string {
	var missing []string
	for _, name := range names {
		if _, ok := v.Get(name); !ok {
			missing = append(missing, name)
		}
	}
	return missing
}

func (r *objectRules) checkDependencies(e *evaluation, n *node, v jsonv.Value, seen *evaluated) bool {
	ok := true
	for _, d := range r.dependencies {
		if _, there := v.Get(d.property); !there {
			continue
		}
		if d.node != nil {
			ok = e.applies(d.node, v, seen) && ok
		} else if missing := missingFrom(v, d.needs); len(missing) > 0 {
			ok = e.fail(d.failure(n, missing))
		}
		if !e.goesOn(ok) {
			return false
		}
	}
	return ok
}

// failure is that of an object that lacks properties.
func (d dependency) failure(n *node, missing []string) Failure {
	return Failure{
		Keyword: d.keyword, Place: n.place.with(d.keyword).with(d.property),
		Name: d.property, Names: missing,
	}
}

func (r *objectRules) checkProperties(e *evaluation, n *node, v jsonv.Value, seen *evaluated) bool {
	ok := true
	var refused []string
	for name, value := range v.Effective {
		known, fits := r.checkProperty(e, name, value)
		ok = fits && ok
		if known {
			seen.property(name)
		} else if r.noMore {
			refused = append(refused, name)
		}
		if e.err != nil || !e.goesOn(ok && refused == nil) {
			return false
		}
	}
	if r.noMore || r.more != nil {
		seen.everything()
	}
	if len(refused) > 0 {
		ok = e.failSchema(n, "additionalProperties", Failure{Names: refused})
	}
	return ok
}

// checkProperty evaluates the schemas for one property; known is whether there are any.
func (r *objectRules) checkProperty(e *evaluation, name string, value jsonv.Value) (known, ok bool) {
	ok = true
	if rule := r.property(name); rule != nil {
		known = true
		ok = e.in(member(name), rule, value)
	}
	for _, p := range r.patterns {
		if e.matches(p.re, name) {
			known = true
			ok = e.in(member(name), p.node, value) && ok
		}
	}
	if !known && r.more != nil {
		known = true
		ok = e.in(member(name), r.more, value)
	}
	return known, ok
}

func (r *objectRules) property(name string) *node {
	if r.byName != nil {
		return r.byName[name]
	}
	i := slices.IndexFunc(r.properties, func(p named) bool { return p.name == name })
	if i < 0 {
		return nil
	}
	return r.properties[i].node
}

// checkNames evaluates propertyNames. What fails in a name is a cause of one failure.
func (r *objectRules) checkNames(e *evaluation, n *node, v jsonv.Value) bool {
	rule := r.names
	if rule == nil {
		return true
	}
	ok := true
	for name := range v.Effective {
		fits, causes := e.apart(func() bool { return e.onName(rule, name) })
		if !fits {
			ok = e.failSchema(n, "propertyNames", Failure{Name: name, Causes: causes})
		}
		if e.err != nil || !e.goesOn(ok) {
			return false
		}
	}
	return ok
}
