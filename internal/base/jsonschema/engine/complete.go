package engine

import "mcptest/internal/base/jsonv"

// compile compiles the document at a URI and all that it refers to.
func (c *compiler) compile(uri string) (*node, error) {
	root, err := c.target(uri, "", nil)
	if err != nil {
		return nil, err
	}
	for len(c.queue) > 0 {
		n := c.queue[0]
		c.queue = c.queue[1:]
		if err := c.complete(n); err != nil {
			return nil, err
		}
	}
	return root, nil
}

// Groups of keywords, each with the rules of one file.
const (
	inValues = 1 << iota
	inNumbers
	inTexts
	inArrays
	inObjects
	inLogic
	inReferences
	inUnevaluated
)

// groupOf returns the group of a keyword, 0 for an annotation or an unknown one.
func groupOf(keyword string) int {
	switch keyword {
	case "type", "const", "enum", "format":
		return inValues
	case "multipleOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum":
		return inNumbers
	case "minLength", "maxLength", "pattern":
		return inTexts
	case "items", "prefixItems", "additionalItems", "contains", "minItems", "maxItems", "uniqueItems":
		return inArrays
	case "properties", "patternProperties", "additionalProperties", "propertyNames", "required", "minProperties",
		"maxProperties", "dependencies", "dependentRequired", "dependentSchemas":
		return inObjects
	case "allOf", "anyOf", "oneOf", "not", "if":
		return inLogic
	case "$ref", "$recursiveRef", "$dynamicRef":
		return inReferences
	case "unevaluatedItems", "unevaluatedProperties":
		return inUnevaluated
	}
	return 0
}

// complete gives a node its rules.
func (c *compiler) complete(n *node) *Error {
	c.enter(n)
	switch n.value.Kind() {
	case jsonv.KindBool:
		n.fixed = never
		if n.value.Bool() {
			n.fixed = always
		}
		return nil
	case jsonv.KindObject:
	default:
		return nil
	}
	groups := 0
	for keyword := range n.value.Effective {
		groups |= groupOf(keyword)
	}
	if groups == 0 {
		n.fixed = always
		return nil
	}
	return c.addRules(n, groups)
}

// addRules adds the groups of keywords that the node has, in the order of evaluation.
func (c *compiler) addRules(n *node, groups int) *Error {
	add := func(r rule) { n.others = append(n.others, r) }
	var later *dynamicReferences
	if groups&inReferences != 0 {
		ref, others, err := c.references(n)
		if err != nil {
			return err
		}
		if ref != nil {
			add(staticReference{ref})
		}
		if ref != nil && n.draft().refStandsAlone() {
			return nil
		}
		later = others
	}
	if groups&inValues != 0 {
		n.values = c.valueRules(n)
	}
	if err := c.addKinds(n, groups); err != nil {
		return err
	}
	if later != nil {
		add(later)
	}
	dialect := n.resource.dialect
	if groups&inLogic != 0 && dialect.has("applicator") {
		add(c.logicRules(n))
	}
	if groups&inUnevaluated != 0 && dialect.hasUnevaluated() {
		add(&unevaluatedRules{items: c.one(n, "unevaluatedItems"), properties: c.one(n, "unevaluatedProperties")})
		n.marks = true
	}
	return nil
}

// addKinds adds the groups for values of one kind.
func (c *compiler) addKinds(n *node, groups int) *Error {
	validates := n.resource.dialect.has("validation")
	if validates && groups&inNumbers != 0 {
		n.others = append(n.others, numberRulesOf(n))
	}
	if validates && groups&inTexts != 0 {
		rules, err := c.textRules(n)
		if err != nil {
			return err
		}
		n.others = append(n.others, rules)
	}
	if groups&inArrays != 0 {
		n.others = append(n.others, c.arrayRules(n))
	}
	if groups&inObjects != 0 {
		rules, err := c.objectRules(n)
		if err != nil {
			return err
		}
		n.others = append(n.others, rules)
	}
	return nil
}
