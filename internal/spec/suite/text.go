package suite

import "mcptest/internal/base/source"

// Text is a string with its source position.
type Text struct {
	Pos  source.Pos
	Text string
	Bad  bool // not text; reported already
}

// DecodeNode reads text. Other scalars are a mistake, because a list of words would
// silently change type; but the value of a placeholder may be any scalar.
func (t *Text) DecodeNode(n *source.Node, path string, d *source.Decoder) {
	t.Pos = n.Pos
	if _, ok := n.AsText(); !ok {
		t.Bad = true
	}
	d.Decode(n, path, &t.Text)
}
