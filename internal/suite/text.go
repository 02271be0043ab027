package suite

import "mcptest/internal/source"

// Text is a string that knows where it was written.
type Text struct {
	Pos  source.Pos
	Text string
	Bad  bool // it was no text, which has been reported
}

// DecodeNode reads text; other scalars are a mistake, because a list of words
// would silently change type. A value put in place of a placeholder may be any
// scalar.
func (t *Text) DecodeNode(n *source.Node, path string, d *source.Decoder) {
	t.Pos = n.Pos
	if _, ok := n.AsText(); !ok {
		t.Bad = true
	}
	d.Decode(n, path, &t.Text)
}

// Texts returns the strings alone.
func Texts(list []Text) []string {
	out := make([]string, len(list))
	for i, t := range list {
		out[i] = t.Text
	}
	return out
}

// report adds an error at a place that need not be a whole node.
func report(d *source.Decoder, pos source.Pos, path, msg, hint string) {
	d.Add(source.Diagnostic{Pos: pos, Path: path, Msg: msg, Hint: hint})
}
