package source

import "mcptest/internal/display"

// Kind is what a value is, after the core schema has been applied.
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

// String returns the word messages use for the kind: null, boolean, number,
// text, list or map.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "unknown"
}

// A Node is one value of a document and where it was written. Nodes are not
// changed after Parse and may be shared between several places.
//
// A scalar's Text is the value, not the spelling: true and false for a
// boolean, a JSON number literal for an int (0x1F becomes 31) or a float (.5
// becomes 0.5), the unquoted text for a string, and for null "null", or ""
// when nothing was written.
type Node struct {
	Pos    Pos
	Text   string
	Items  []*Node // of a list
	Fields []Field // of a map, in written order, keys unique
	Kind   Kind
	Quoted bool // written in quotes or as a block (| or >), so certainly meant as text
	Blank  bool // a placeholder in it stood for the empty text

	// Origin is who chose the value.
	Origin Origin

	style style
	via   *use // set when the node was reached through an alias
}

// Origin says who chose a value, for places where it would become code.
type Origin uint8

// The origins of a Node.
const (
	Written     Origin = iota // by the author, unchanged
	Substituted               // it holds a value that a placeholder stood for
	FromServer                // that value comes from the server under test
)

// A Field is one entry of a map.
type Field struct {
	Key   *Node
	Value *Node
}

// style is how a scalar was written, for Node.In.
type style uint8

const (
	styleNone style = iota // not read from text
	stylePlain
	styleSingle
	styleDouble
	styleLiteral
	styleFolded
	styleFilled // put in place of a placeholder
)

// IsScalar reports whether the node is neither a list nor a map.
func (n *Node) IsScalar() bool { return n.Kind < KindList }

// Get returns the value of a map's key, nil when the node is not a map or has
// no such key.
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

// WithText returns a string node with other text at the same place, for use
// in [Node.MapScalars].
func (n *Node) WithText(text string) *Node {
	return &Node{Pos: n.Pos, Kind: KindString, Text: text, Quoted: n.Quoted, via: n.via}
}

// MapScalars returns the tree with every scalar value (not the keys) replaced
// by what fn returns for it. fn may return its argument, another scalar, or a
// whole list or map. Nothing is changed in place: unchanged parts are shared
// and n itself is returned when all of it is unchanged. What several aliases
// share is mapped once for all of them.
func (n *Node) MapScalars(fn func(*Node) *Node) *Node {
	m := scalarMapper{fn: fn}
	return m.node(n)
}

type scalarMapper struct {
	fn   func(*Node) *Node
	done map[*Node]*Node // what aliases stand for, so that sharing survives
}

func (m *scalarMapper) node(n *Node) *Node {
	if n == nil {
		return nil
	}
	if n.via == nil || n.broken() {
		return m.once(n)
	}
	of := n.via.of
	to, ok := m.done[of]
	if !ok {
		if m.done == nil {
			m.done = map[*Node]*Node{}
		}
		to = m.node(of)
		m.done[of] = to
	}
	if to == of || to == nil {
		return n
	}
	out := *to
	out.via = n.via.withTarget(to)
	return &out
}

func (m *scalarMapper) once(n *Node) *Node {
	switch n.Kind {
	case KindList:
		var items []*Node
		for i, item := range n.Items {
			to := m.node(item)
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
			to := m.node(f.Value)
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

// A use is one place where an alias puts a value.
type use struct {
	pos Pos   // of the alias
	of  *Node // the node at its anchor, nil when the alias is broken
}

// broken reports a node in place of an alias that stands for nothing. Parse
// has said so; whoever finds the node has nothing to add.
func (n *Node) broken() bool { return n.via != nil && n.via.of == nil }

func (u *use) withTarget(of *Node) *use { return &use{pos: u.pos, of: of} }

// describe says what a node is, for messages: text "heavy", number 5, a list.
func (n *Node) describe() string {
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
