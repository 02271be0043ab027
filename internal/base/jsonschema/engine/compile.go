package engine

import (
	"errors"

	"mcptest/internal/base/jsonv"
)

// Options configures the compilation of a schema.
type Options struct {
	Draft   Draft  // of documents without $schema; 0 means 2020-12
	BaseURI string // the URI of the schema, absolute

	AssertFormat bool // format is an assertion in 2019-09 and later too
	IgnoreFormat bool // format is an annotation in earlier drafts too, but for "regex"
	NoClock      bool // a match of a pattern may take any time

	// Load returns another document, by its URI without a fragment. ErrRefused means
	// that there are no others.
	Load func(uri string) (jsonv.Value, error)
}

// ErrRefused is the error of a Load that refuses every document.
var ErrRefused = errors.New("references to other documents are not followed")

// Schema is a compiled schema.
type Schema struct {
	root       *node
	backtracks bool // some pattern may take exponential time
}

// Draft returns the draft of the schema.
func (s *Schema) Draft() Draft { return s.root.resource.dialect.draft }

// Compile prepares a schema. The error is an *Error.
func Compile(doc jsonv.Value, o Options) (*Schema, error) {
	c := newCompiler(o)
	c.metaOf = metaOf
	c.loaded[o.BaseURI] = doc
	return c.compile(o.BaseURI)
}

// compile compiles the document at a URI and all that it refers to.
func (c *compiler) compile(uri string) (*Schema, error) {
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
	return &Schema{root: root, backtracks: c.patterns.backtracks}, nil
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

func (c *compiler) addRules(n *node, groups int) *Error {
	if groups&inReferences != 0 {
		if err := c.addReferences(n); err != nil {
			return err
		}
		if n.refs.ref != nil && n.draft().refStandsAlone() {
			return nil
		}
	}
	dialect := n.resource.dialect
	if groups&inValues != 0 {
		n.values = c.valueRules(n)
	}
	if dialect.has("validation") {
		if groups&inNumbers != 0 {
			n.numbers = numberRulesOf(n)
		}
		if groups&inTexts != 0 {
			if err := c.addTexts(n); err != nil {
				return err
			}
		}
	}
	if groups&inArrays != 0 {
		n.arrays = c.arrayRules(n)
	}
	if groups&inObjects != 0 {
		if err := c.addObjects(n); err != nil {
			return err
		}
	}
	if groups&inLogic != 0 && dialect.has("applicator") {
		n.logic = c.logicRules(n)
	}
	if groups&inUnevaluated != 0 && dialect.hasUnevaluated() {
		n.unevaluated = &unevaluatedRules{items: c.one(n, "unevaluatedItems"), properties: c.one(n, "unevaluatedProperties")}
	}
	return nil
}
