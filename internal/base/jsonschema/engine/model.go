package engine

import (
	"context"

	"mcptest/internal/base/jsonv"
)

// node is one compiled schema.
type node struct {
	place    Place
	value    jsonv.Value // the schema as written
	resource *resource
	fixed    fixed

	values rule   // for values of every kind, nil if there are none: what it fails is not examined further
	others []rule // the other groups of keywords, in their order
	marks  bool   // it matters what of a value the groups evaluate
}

// rule is a group of keywords of a schema.
type rule interface {
	// check adds what fails to the failures of e. seen collects what of the value was
	// evaluated, for unevaluated…; nil if that is of no interest.
	check(e *evaluation, n *node, v jsonv.Value, seen *evaluated) bool
}

// fixed is the verdict of a schema that does not depend on the value.
type fixed uint8

const (
	depends fixed = iota
	always
	never
)

func (n *node) draft() Draft { return n.resource.dialect.draft }

// document is one JSON document with the schemas in it.
type document struct {
	uri       string
	value     jsonv.Value
	resources map[string]*resource // by the pointers to their roots; "" is always there
	nodes     map[string]*node     // by pointer
	examined  []string             // pointers whose schemas, and those in them, were collected and checked
}

// resource is a schema with a URI of its own, and those in it up to the next resources.
type resource struct {
	document *document
	pointer  string
	uri      string
	dialect  dialect
	anchors  map[string]anchor
	root     *node            // set when something in the resource is compiled
	dynamic  map[string]*node // the schemas with a $dynamicAnchor
}

// anchor is the place of a schema with a name.
type anchor struct {
	pointer string
	dynamic bool
}

// evaluation is one evaluation of a schema.
type evaluation struct {
	ctx    context.Context
	steps  int
	err    error // why there is no verdict; nothing is evaluated any more
	quiet  bool  // only the verdict is wanted
	scopes []scope
	path   []step // from the value to the one that is evaluated
	level  int    // counts values on the way; unlike path, through names too

	failures []Failure
	within   int  // how many alternatives and names around have failures of their own
	held     int  // the weight of all failures, those of alternatives and names included
	flat     bool // alternatives and names have no failures of their own

	meta *metaCheck // set when the value is a schema
}

// scope is a schema that is being evaluated, on the value at a level.
type scope struct {
	node  *node
	level int
}

// metaCheck is what an evaluation of a schema against its metaschema needs.
type metaCheck struct {
	root      *node // the metaschema
	patterns  *patterns
	elsewhere []string // pointers to schemas of other dialects, which have their own check
}
