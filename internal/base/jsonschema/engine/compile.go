package engine

import (
	"errors"
	"fmt"
	"strconv"

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

// node is one compiled schema. The groups of keywords that it does not have are nil.
type node struct {
	place    Place
	value    jsonv.Value // the schema as written
	resource *resource
	fixed    fixed

	values      *valueRules
	numbers     *numberRules
	texts       *textRules
	arrays      *arrayRules
	objects     *objectRules
	logic       *logicRules
	refs        *referenceRules
	unevaluated *unevaluatedRules
}

// fixed is the verdict of a schema that does not depend on the value.
type fixed uint8

const (
	depends fixed = iota
	always
	never
)

func (n *node) draft() Draft { return n.resource.dialect.draft }

// compiler makes the nodes of a schema and of the documents that it refers to.
type compiler struct {
	options   Options
	documents map[string]*document
	loaded    map[string]jsonv.Value // documents by URI, which may be metaschemas only
	patterns  *patterns
	queue     []*node // nodes without rules yet
}

// Compile prepares a schema. The error is an *Error.
func Compile(doc jsonv.Value, o Options) (*Schema, error) {
	c := newCompiler(o)
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

func newCompiler(o Options) *compiler {
	if o.Draft == 0 {
		o.Draft = Draft2020
	}
	return &compiler{
		options:   o,
		documents: map[string]*document{},
		loaded:    map[string]jsonv.Value{},
		patterns:  &patterns{noClock: o.NoClock},
	}
}

// node returns the node for a schema in a document, which gets its rules later. near is
// a resource around it.
func (c *compiler) node(doc *document, ptr string, v jsonv.Value, near *resource) *node {
	if n, ok := doc.nodes[ptr]; ok {
		return n
	}
	if own, ok := doc.resources[ptr]; ok {
		near = own
	}
	n := &node{place: Place{URI: doc.uri, Pointer: ptr}, value: v, resource: near}
	doc.nodes[ptr] = n
	c.queue = append(c.queue, n)
	return n
}

// child returns the node for a schema in the value of a keyword of n.
func (c *compiler) child(n *node, v jsonv.Value, tokens ...string) *node {
	ptr := n.place.Pointer
	for _, token := range tokens {
		ptr = jsonv.AppendPointer(ptr, token)
	}
	return c.node(n.resource.document, ptr, v, n.resource)
}

// one returns the node for a keyword that contains a schema, nil if n does not have it.
func (c *compiler) one(n *node, keyword string) *node {
	v, ok := n.value.Get(keyword)
	if !ok {
		return nil
	}
	return c.child(n, v, keyword)
}

// list returns the nodes for a keyword that contains a list of schemas.
func (c *compiler) list(n *node, keyword string) []*node {
	v := n.value.Lookup(keyword)
	if v.Kind() != jsonv.KindArray {
		return nil
	}
	out := make([]*node, 0, v.Len())
	for i, e := range v.Elems() {
		out = append(out, c.child(n, e, keyword, strconv.Itoa(i)))
	}
	return out
}

// named is a schema with the name or pattern that it is for.
type named struct {
	name string
	node *node
}

// members returns the nodes for a keyword that contains schemas by name.
func (c *compiler) members(n *node, keyword string) []named {
	v := n.value.Lookup(keyword)
	out := make([]named, 0, v.Len())
	for name, e := range v.Effective {
		out = append(out, named{name, c.child(n, e, keyword, name)})
	}
	return out
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

// count returns the value of a keyword with a count, -1 if there is none.
func count(n *node, keyword string) int {
	v := n.value.Lookup(keyword)
	if v.Kind() != jsonv.KindNumber || !v.IsInteger() {
		return -1
	}
	if i, ok := v.Int64(); ok && int64(int(i)) == i {
		return int(i)
	}
	return maxInt // no value has more
}

const maxInt = int(^uint(0) >> 1)

// badPattern returns the error for a pattern in the value of a keyword.
func badPattern(p Place, pattern string, err error) *Error {
	return errorAt(p, "bad regular expression %q: %v", pattern, err)
}

// unknownMetaschema returns the error for a $schema.
func unknownMetaschema(p Place, uri string) *Error {
	return &Error{Place: p.with("$schema"), Msg: fmt.Sprintf("unknown metaschema %q", uri)}
}
