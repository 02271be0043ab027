package source

// Filled returns a scalar as the value of a placeholder. The author of the value may
// not know which type its context requires, so Decode is lenient: where text is
// required, it accepts a number or boolean as its text, and where a number or boolean
// is required, it parses unquoted text by the core schema. JSON returns the original
// value. Lists and maps are returned unchanged.
func (n *Node) Filled() *Node {
	if n == nil || !n.IsScalar() || n.style == styleFilled {
		return n
	}
	out := *n
	out.style = styleFilled
	out.Blank = n.Kind == KindString && n.Text == ""
	return &out
}

// AsText returns the text of a string, or of a number or boolean that is the value of
// a placeholder.
func (n *Node) AsText() (text string, ok bool) {
	switch n.Kind {
	case KindString:
		return n.Text, true
	case KindBool, KindInt, KindFloat:
		return n.Text, n.style == styleFilled
	}
	return "", false
}

// Unknown returns a scalar whose value could not be determined, which has been
// reported: mistakes of the node are not reported again.
func (n *Node) Unknown() *Node {
	out := *n
	out.via = &use{pos: n.Pos}
	return &out
}

// Typed parses the unquoted text of a placeholder's value as a number or boolean. It
// returns other nodes unchanged.
func (n *Node) Typed() *Node {
	if n.style != styleFilled || n.Kind != KindString || n.Quoted {
		return n
	}
	kind, text, _ := resolvePlain(n.Text)
	if kind != KindBool && kind != KindInt && kind != KindFloat {
		return n
	}
	out := *n
	out.Kind, out.Text = kind, text
	return &out
}
