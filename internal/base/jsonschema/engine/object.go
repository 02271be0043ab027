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

func (c *compiler) addObjects(n *node) *Error {
	rules := &objectRules{least: -1, most: -1}
	n.objects = rules
	dialect := n.resource.dialect
	if dialect.has("validation") {
		rules.least, rules.most = count(n, "minProperties"), count(n, "maxProperties")
		rules.required = texts(n.value.Lookup("required"))
	}
	if dialect.has("applicator") {
		if err := c.addProperties(n, rules); err != nil {
			return err
		}
	}
	c.addDependencies(n, rules)
	return nil
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

func (e *evaluation) checkObject(n *node, v jsonv.Value, seen *evaluated) bool {
	rules := n.objects
	ok := true
	if rules.least >= 0 || rules.most >= 0 {
		ok = e.checkSize(n, v)
	}
	if missing := missingFrom(v, rules.required); len(missing) > 0 {
		ok = e.failed(n, "required", Failure{Names: missing})
	}
	if e.goesOn(ok) {
		ok = e.checkDependencies(n, v, seen) && ok
	}
	if e.goesOn(ok) {
		ok = e.checkProperties(n, v, seen) && ok
	}
	if e.goesOn(ok) {
		ok = e.checkNames(n, v) && ok
	}
	return ok
}

func (e *evaluation) checkSize(n *node, v jsonv.Value) bool {
	rules := n.objects
	size := 0
	for range v.Effective {
		size++
	}
	ok := true
	if rules.least >= 0 && size < rules.least {
		ok = e.failed(n, "minProperties", Failure{Limit: rules.least, Count: size})
	}
	if rules.most >= 0 && size > rules.most {
		ok = e.failed(n, "maxProperties", Failure{Limit: rules.most, Count: size})
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

func (e *evaluation) checkDependencies(n *node, v jsonv.Value, seen *evaluated) bool {
	ok := true
	for _, d := range n.objects.dependencies {
		if _, there := v.Get(d.property); !there {
			continue
		}
		if d.node != nil {
			ok = e.applies(d.node, v, seen) && ok
		} else if missing := missingFrom(v, d.needs); len(missing) > 0 {
			ok = e.lacks(n, d, missing)
		}
		if !e.goesOn(ok) {
			return false
		}
	}
	return ok
}

// lacks adds the failure of a dependency.
func (e *evaluation) lacks(n *node, d dependency, missing []string) bool {
	return e.fail(Failure{
		Keyword: d.keyword, Place: n.place.with(d.keyword).with(d.property),
		Name: d.property, Names: missing,
	})
}

func (e *evaluation) checkProperties(n *node, v jsonv.Value, seen *evaluated) bool {
	rules := n.objects
	ok := true
	var refused []string
	for name, value := range v.Effective {
		known := false
		if rule := rules.property(name); rule != nil {
			known = true
			ok = e.in(member(name), rule, value) && ok
		}
		for _, p := range rules.patterns {
			if e.matches(p.re, name) {
				known = true
				ok = e.in(member(name), p.node, value) && ok
			}
		}
		if !known && rules.more != nil {
			known = true
			ok = e.in(member(name), rules.more, value) && ok
		}
		if !known && rules.noMore {
			refused = append(refused, name)
		}
		if known {
			seen.property(name)
		}
		if e.err != nil || e.quiet && (!ok || refused != nil) {
			return false
		}
	}
	if rules.noMore || rules.more != nil {
		seen.everything()
	}
	if len(refused) > 0 {
		ok = e.failed(n, "additionalProperties", Failure{Names: refused})
	}
	return ok
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
func (e *evaluation) checkNames(n *node, v jsonv.Value) bool {
	rule := n.objects.names
	if rule == nil {
		return true
	}
	ok := true
	for name := range v.Effective {
		fits, causes := e.apart(func() bool { return e.onName(rule, name) })
		if !fits {
			ok = e.failed(n, "propertyNames", Failure{Name: name, Causes: causes})
		}
		if e.err != nil || !e.goesOn(ok) {
			return false
		}
	}
	return ok
}
