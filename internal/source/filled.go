package source

// Filled returns a scalar as a value that was put in place of a placeholder.
// Whoever wrote the value could not know which type its place wants, so Decode
// is lenient with it in two ways: where text is wanted a number or boolean is
// taken as its text, and where a number or boolean is wanted unquoted text is
// read by the core schema, as if it stood there plain. JSON is the value as it
// is. Lists and maps are returned as they are.
func (n *Node) Filled() *Node {
	if n == nil || !n.IsScalar() || n.style == styleFilled {
		return n
	}
	out := *n
	out.style = styleFilled
	out.Blank = n.Kind == KindString && n.Text == ""
	return &out
}

// AsText returns the text of a string, or of a number or boolean that was
// filled in.
func (n *Node) AsText() (text string, ok bool) {
	switch n.Kind {
	case KindString:
		return n.Text, true
	case KindBool, KindInt, KindFloat:
		return n.Text, n.style == styleFilled
	}
	return "", false
}

// Unknown returns a scalar whose value could not be found out, which has been
// reported: whoever decodes it, or finds fault with it, adds nothing.
func (n *Node) Unknown() *Node {
	out := *n
	out.via = &use{pos: n.Pos}
	return &out
}

// Typed returns the number or boolean that unquoted text which was filled in
// stands for, and every other node as it is.
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
