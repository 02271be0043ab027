package source

import "mcptest/internal/base/display"

// Kind is the kind of a value, after applying the core schema.
type Kind uint8

// The kinds of a Node.
const (
	KindNull Kind = iota
	KindBool
	KindInt
	KindFloat
	KindString
	KindList
	KindMap
)

var kindNames = [...]string{"null", "boolean", "number", "number", "text", "list", "map"}

// String returns the name of the kind in messages: null, boolean, number, text, list
// or map.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "unknown"
}

// A Node is one value of a document with its position. Nodes are immutable after
// Parse and may be shared.
//
// A scalar's Text is the value, not the spelling: true and false for a boolean, a
// JSON number literal for an int (0x1F becomes 31) or a float (.5 becomes 0.5), the
// unquoted text for a string, and for null "null", or "" if nothing was written.
type Node struct {
	Pos    Pos
	Text   string
	Items  []*Node // of a list
	Fields []Field // of a map, in written order, keys unique
	Kind   Kind
	Quoted bool // written in quotes or as a block (| or >), so certainly text
	Blank  bool // a placeholder in it was replaced with an empty text

	// Origin is the origin of the value.
	Origin Origin

	style style
	via   *use // set if the node was reached through an alias
}

// Origin is the origin of a value, to protect places where it would become code.
type Origin uint8

// The origins of a Node.
const (
	Written     Origin = iota // by the author, unchanged
	Substituted               // contains the value of a placeholder
	FromServer                // that value comes from the server under test
)

// A Field is one entry of a map.
type Field struct {
	Key   *Node
	Value *Node
}

// style is the syntax of a scalar, for Node.In.
type style uint8

const (
	styleNone style = iota // not read from text
	stylePlain
	styleSingle
	styleDouble
	styleLiteral
	styleFolded
	styleFilled // the value of a placeholder
)

// IsScalar reports whether the node is neither a list nor a map.
func (n *Node) IsScalar() bool { return n.Kind < KindList }

// Get returns the value of a map's key, or nil if the node is not a map or lacks the
// key.
func (n *Node) Get(key string) *Node {
	if n == nil {
		return nil
	}
	for i := range n.Fields {
		if n.Fields[i].Key.Text == key {
			return n.Fields[i].Value
		}
	}
	return nil
}

// WithText returns a string node with other text at the same position, for use in
// [Node.MapScalars].
func (n *Node) WithText(text string) *Node {
	return &Node{Pos: n.Pos, Kind: KindString, Text: text, Quoted: n.Quoted, via: n.via}
}

// MapScalars returns the tree with every scalar value (not the keys) replaced by the
// result of fn, which may be its argument, another scalar, or a list or map. It
// changes nothing in place: unchanged parts are shared, and n itself is returned if
// nothing changed. Values shared by aliases are mapped once.
func (n *Node) MapScalars(fn func(*Node) *Node) *Node {
	return (&scalarMapper{fn: fn, done: map[*Node]*Node{}}).mapNode(n)
}

type scalarMapper struct {
	fn   func(*Node) *Node
	done map[*Node]*Node // mapped alias targets, to keep them shared
}

func (m *scalarMapper) mapNode(n *Node) *Node {
	if n == nil {
		return nil
	}
	if n.via == nil || n.isBroken() {
		return m.mapOnce(n)
	}
	of := n.via.of
	to, ok := m.done[of]
	if !ok {
		to = m.mapNode(of)
		m.done[of] = to
	}
	if to == of || to == nil {
		return n
	}
	out := *to
	out.via = n.via.withTarget(to)
	return &out
}

func (m *scalarMapper) mapOnce(n *Node) *Node {
	switch n.Kind {
	case KindList:
		var items []*Node
		for i, item := range n.Items {
			to := m.mapNode(item)
			if to != item && items == nil {
				items = append(make([]*Node, 0, len(n.Items)), n.Items[:i]...)
			}
			if items != nil {
				items = append(items, to)
			}
		}
		if items == nil {
			return n
		}
		out := *n
		out.Items = items
		return &out
	case KindMap:
		var fields []Field
		for i, f := range n.Fields {
			to := m.mapNode(f.Value)
			if to != f.Value && fields == nil {
				fields = append(make([]Field, 0, len(n.Fields)), n.Fields[:i]...)
			}
			if fields != nil {
				fields = append(fields, Field{Key: f.Key, Value: to})
			}
		}
		if fields == nil {
			return n
		}
		out := *n
		out.Fields = fields
		return &out
	}
	return m.fn(n)
}

// A use is a place where an alias is used.
type use struct {
	pos Pos   // of the alias
	of  *Node // the node at its anchor; nil if the alias is broken
}

// Alias returns the position of the alias through which the node was reached. It reports
// false for a node that is written in its place.
func (n *Node) Alias() (Pos, bool) {
	if n.via == nil {
		return Pos{}, false
	}
	return n.via.pos, true
}

// isBroken reports whether the node replaces a broken alias, which Parse has reported;
// mistakes of the node are not reported again.
func (n *Node) isBroken() bool { return n.via != nil && n.via.of == nil }

func (u *use) withTarget(of *Node) *use { return &use{pos: u.pos, of: of} }

// Describe describes a node for messages: text "heavy", number 5, a list.
func (n *Node) Describe() string {
	switch n.Kind {
	case KindNull:
		if n.Text == "" && !n.Quoted {
			return "nothing"
		}
		return "null"
	case KindBool:
		return n.Text
	case KindInt, KindFloat:
		return "number " + display.Truncate(n.Text, shownText)
	case KindString:
		return `text ` + quote(display.Truncate(n.Text, shownText))
	case KindList, KindMap:
		return "a " + n.Kind.String()
	}
	return n.Kind.String()
}
