package engine

import (
	"errors"
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

// compiler makes the nodes of a schema and of the documents that it refers to.
type compiler struct {
	options   Options
	documents map[string]*document
	loaded    map[string]jsonv.Value // documents by URI, which may be metaschemas only
	patterns  *patterns
	metaOf    func(dialect) *node // nil: schemas are known to be valid
	queue     []*node             // nodes without rules yet
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
