package source

import (
	"errors"
	"io"
	"math"

	"mcptest/internal/base/display"

	yaml "go.yaml.in/yaml/v4"
)

// converter converts the YAML library's nodes to Nodes: it resolves scalars, aliases
// and merge keys, and makes checks that the library does not.
type converter struct {
	f       *File
	found   collector
	slab    []Node
	written int                   // nodes in the file itself
	added   int                   // nodes that aliases repeat
	inKey   bool                  // converting the key of a map
	refused bool                  // aliases expand to too many nodes: they are no longer followed
	anchors map[*yaml.Node]anchor // anchored values that are complete or in progress
	tabs    tabLines
}

// extent is the size of a value with all aliases expanded.
type extent struct {
	nodes int // saturates at math.MaxInt32
	depth int // 1 for a scalar
}

type anchor struct {
	node   *Node
	extent extent
	done   bool
}

// reportSecondDocument reads to the end of the file, because anything after the first
// document is a mistake.
func (c *converter) reportSecondDocument(l *yaml.Loader) {
	var next yaml.Node
	err := load(l, &next)
	if errors.Is(err, io.EOF) {
		return
	}
	if err != nil {
		c.found.add(explainSyntaxError(c.f, err))
		return
	}
	d := newErrorAt(c.pos(&next), "a second document: a file can contain only one")
	d.Code, d.Hint = "second-document", `remove the "---" and put the tests into one list, or move what follows to another file`
	c.found.add(d)
}

// pos returns the start of a node. The library places an empty value at the end of a
// file without a last line break on a line that does not exist.
func (c *converter) pos(n *yaml.Node) Pos {
	if n.Line > c.f.Lines() {
		return c.f.At(len(c.f.Data))
	}
	return Pos{File: c.f, Line: n.Line, Col: n.Column}
}

// errorf reports an error at a position of the YAML tree.
func (c *converter) errorf(n *yaml.Node, code, hint, format string, args ...any) *Diagnostic {
	if c.found.full() {
		return c.found.drop(c.pos(n), Error)
	}
	d := newErrorAt(c.pos(n), format, args...)
	d.Code, d.Hint = code, hint
	return c.found.add(d)
}

func (c *converter) new() *Node {
	if len(c.slab) == 0 {
		c.slab = make([]Node, min(256, 16+c.written))
	}
	n := &c.slab[0]
	c.slab = c.slab[1:]
	return n
}

// convertNode converts a value at a nesting depth. It never returns nil.
func (c *converter) convertNode(y *yaml.Node, depth int, inFlow bool) (*Node, extent) {
	if y.Kind == yaml.AliasNode {
		return c.convertAlias(y, depth)
	}
	c.written++
	if y.Anchor == "" {
		return c.convertPlainNode(y, depth, inFlow)
	}
	c.anchors[y] = anchor{}
	n, e := c.convertPlainNode(y, depth, inFlow)
	c.anchors[y] = anchor{node: n, extent: e, done: true}
	return n, e
}

func (c *converter) convertPlainNode(y *yaml.Node, depth int, inFlow bool) (*Node, extent) {
	n := c.new()
	n.Pos = c.pos(y)
	e := extent{nodes: 1, depth: 1}
	if depth > MaxDepth && y.Kind != yaml.ScalarNode {
		c.errorf(y, "too-deep", "", "%v", errTooDeep)
		return n, e
	}
	inFlow = inFlow || y.Style&yaml.FlowStyle != 0
	c.tabs.visit(c, y, inFlow)
	switch y.Kind {
	case yaml.ScalarNode:
		c.convertScalar(n, y)
	case yaml.SequenceNode:
		n.Kind = KindList
		c.checkTag(y, "!!seq")
		n.Items = make([]*Node, len(y.Content))
		for i, item := range y.Content {
			var child extent
			n.Items[i], child = c.convertNode(item, depth+1, inFlow)
			e.include(child)
		}
	case yaml.MappingNode:
		n.Kind = KindMap
		c.checkTag(y, "!!map")
		c.convertMapping(n, y, depth, inFlow, &e)
	}
	return n, e
}

func (e *extent) include(child extent) {
	e.nodes = min(e.nodes+child.nodes, math.MaxInt32)
	e.depth = max(e.depth, child.depth+1)
}

// convertAlias returns the aliased value at its place of use: with its own position and a
// reference to the alias. Children are shared, not copied.
func (c *converter) convertAlias(y *yaml.Node, depth int) (*Node, extent) {
	one := extent{nodes: 1, depth: 1}
	a, known := c.anchors[y.Alias]
	switch {
	case c.refused:
	case !known || !a.done:
		c.errorf(y, "recursive-alias", "", "the alias %q is used inside its own value", "*"+y.Value)
	case depth+a.extent.depth-1 > MaxDepth+1:
		c.errorf(y, "too-deep", "", "with this alias expanded: %v", errTooDeep)
	case !c.allow(a.extent.nodes):
		c.refused = true
		d := c.errorf(y, "alias-bomb", "", "aliases repeat too much: expanded, the file would have more than %d values", c.written+c.added)
		d.Related = []Related{{Pos: a.node.Pos, Msg: "the repeated value"}}
	default:
		n := c.new()
		*n = *a.node
		n.via = &use{pos: c.pos(y), of: a.node}
		return n, a.extent
	}
	n := c.new()
	n.Pos = c.pos(y)
	n.via = &use{pos: n.Pos} // the alias is broken, which was reported
	return n, one
}

// allow counts the nodes of an alias and reports whether they are within the limit.
func (c *converter) allow(nodes int) bool {
	c.added = min(c.added+nodes, math.MaxInt32)
	return c.added <= maxAliasFree || c.added <= maxAliasNodes && c.added <= maxAliasRatio*c.written
}

const tagHint = `leave the tag out; if the "!" is part of the text, put the text in quotes`

// checkTag rejects tags that would change the type of a list or map.
func (c *converter) checkTag(y *yaml.Node, want string) {
	if y.Style&yaml.TaggedStyle != 0 && y.Tag != want && y.Tag != "!" {
		c.errorf(y, "tag", tagHint, "unknown tag %s", y.Tag)
	}
}

func (c *converter) convertScalar(n *Node, y *yaml.Node) {
	n.style = stylePlain
	switch {
	case y.Style&yaml.DoubleQuotedStyle != 0:
		n.style = styleDouble
	case y.Style&yaml.SingleQuotedStyle != 0:
		n.style = styleSingle
	case y.Style&yaml.LiteralStyle != 0:
		n.style = styleLiteral
	case y.Style&yaml.FoldedStyle != 0:
		n.style = styleFolded
	}
	n.Quoted = n.style != stylePlain
	n.Kind, n.Text = KindString, y.Value
	if y.Style&yaml.TaggedStyle != 0 {
		c.applyTag(n, y)
		return
	}
	if n.Quoted || y.Tag == "!" {
		return
	}
	var note scalarNote
	n.Kind, n.Text, note = resolvePlain(y.Value)
	c.note(y, note)
}

// note warns about a scalar that is text here and a number to other readers.
func (c *converter) note(y *yaml.Node, note scalarNote) {
	if note == noteNone || c.inKey {
		return // a key is always text
	}
	d := Diagnostic{Pos: c.pos(y), Severity: Warning, Code: "ambiguous-scalar"}
	switch note {
	case noteLeadingZero:
		d.Msg = y.Value + " is read as text: a leading zero means octal to some YAML readers and nothing to others"
		d.Hint = `put it in quotes if text is meant, drop the zero if a number is`
	case noteNotFinite:
		d.Msg = y.Value + " is read as text: JSON has no such number"
		d.Hint = "put it in quotes if text is meant"
	case noteHugeRadix:
		d.Msg = "a number this long is read as text"
		d.Hint = "put it in quotes if text is meant"
	}
	c.found.add(d)
}

// applyTag applies an explicit core tag (!!str 5, !!int "5").
func (c *converter) applyTag(n *Node, y *yaml.Node) {
	kind, text, _ := resolvePlain(y.Value)
	ok := false
	switch y.Tag {
	case "!!str":
		return
	case "!!null":
		ok = kind == KindNull
	case "!!bool":
		ok = kind == KindBool
	case "!!int":
		ok = kind == KindInt
	case "!!float":
		ok = kind == KindInt || kind == KindFloat
		kind = KindFloat
	default:
		c.errorf(y, "tag", tagHint, "unknown tag %s", y.Tag)
		return
	}
	if !ok {
		c.errorf(y, "tag", "", "%q does not match its tag %s", display.Truncate(y.Value, shownText), y.Tag)
		return
	}
	n.Kind, n.Text = kind, text
}
