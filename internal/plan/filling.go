package plan

import (
	"strings"

	"mcptest/internal/jsonv"
	"mcptest/internal/source"
	"mcptest/internal/suite"
)

// filling is a written value that mentions the row, cut at its placeholders
// once: a row's values are then put between the pieces without a node being
// made. It gives what [suite.Scope.Expand] and [source.Node.JSON] would.
type filling struct {
	pieces []piece
}

// piece is one of three: JSON text as it is, a row's value, or a JSON string
// put together from text and values.
type piece struct {
	lit  string
	ref  *suite.Placeholder
	text []piece // only lit (plain text) and ref
}

// newFilling cuts n; nil when it holds what only Expand knows: a default, a
// placeholder of another kind beside one of the row, a mistake.
func newFilling(e entry, n *source.Node) *filling {
	if n == nil {
		return nil
	}
	c := cutter{entry: e}
	c.value(n)
	if c.odd {
		return nil
	}
	c.flush()
	return &filling{pieces: c.pieces}
}

// cutter makes the pieces of a filling.
type cutter struct {
	entry  entry
	pieces []piece
	lit    []byte // not in pieces yet
	odd    bool   // the value is one for Expand
}

func (c *cutter) flush() {
	if len(c.lit) > 0 {
		c.pieces = append(c.pieces, piece{lit: string(c.lit)})
		c.lit = c.lit[:0]
	}
}

func (c *cutter) value(n *source.Node) {
	switch n.Kind {
	case source.KindList:
		c.lit = append(c.lit, '[')
		for i, item := range n.Items {
			if i > 0 {
				c.lit = append(c.lit, ',')
			}
			c.value(item)
		}
		c.lit = append(c.lit, ']')
	case source.KindMap:
		c.lit = append(c.lit, '{')
		for i, f := range n.Fields {
			if i > 0 {
				c.lit = append(c.lit, ',')
			}
			c.lit = append(jsonv.AppendString(c.lit, f.Key.Text), ':')
			c.value(f.Value)
		}
		c.lit = append(c.lit, '}')
	default:
		c.scalar(n)
	}
}

func (c *cutter) scalar(n *source.Node) {
	refs := suite.Placeholders(n, "case.")
	if len(refs) == 0 {
		dec := new(source.Decoder)
		filled := c.entry.Scope.Expand(n, "", suite.Bindings{}, dec)
		c.odd = c.odd || len(dec.Diagnostics()) > 0
		c.lit = filled.JSON().Append(c.lit)
		return
	}
	if strings.Contains(n.Text, "$${") || strings.Count(n.Text, "${") != len(refs) {
		c.odd = true
		return
	}
	var text []piece
	end := 0
	for i := range refs {
		spelling := "${" + refs[i].Name + "}"
		if refs[i].Default || refs[i].Offset < end || !strings.HasPrefix(n.Text[refs[i].Offset:], spelling) {
			c.odd = true
			return
		}
		if refs[i].Offset > end {
			text = append(text, piece{lit: n.Text[end:refs[i].Offset]})
		}
		text = append(text, piece{ref: &refs[i]})
		end = refs[i].Offset + len(spelling)
	}
	if end < len(n.Text) {
		text = append(text, piece{lit: n.Text[end:]})
	}
	c.flush()
	if len(text) == 1 {
		c.pieces = append(c.pieces, text[0])
	} else {
		c.pieces = append(c.pieces, piece{text: text})
	}
}

// fits reports whether a row has every value.
func (f *filling) fits(row jsonv.Value) bool {
	for i := range f.pieces {
		if !f.pieces[i].fits(row) {
			return false
		}
	}
	return true
}

func (p *piece) fits(row jsonv.Value) bool {
	for i := range p.text {
		if !p.text[i].fits(row) {
			return false
		}
	}
	if p.ref == nil {
		return true
	}
	_, ok := p.ref.Lookup(row)
	return ok
}

// appendJSON appends the value of a row; ok is false when the row lacks
// something, which Expand words.
func (f *filling) appendJSON(dst []byte, row jsonv.Value) (out []byte, ok bool) {
	for i := range f.pieces {
		p := &f.pieces[i]
		switch {
		case p.ref != nil:
			v, ok := p.ref.Lookup(row)
			if !ok {
				return dst, false
			}
			dst = v.Append(dst)
		case p.text != nil:
			text, ok := f.text(p.text, row)
			if !ok {
				return dst, false
			}
			dst = jsonv.AppendString(dst, text)
		default:
			dst = append(dst, p.lit...)
		}
	}
	return dst, true
}

// scalar reports whether the filling is a single value or text.
func (f *filling) scalar() bool {
	return len(f.pieces) == 1 && f.pieces[0].lit == ""
}

// value returns the value of a row, for a scalar.
func (f *filling) value(row jsonv.Value) (jsonv.Value, bool) {
	p := &f.pieces[0]
	if p.ref != nil {
		v, ok := p.ref.Lookup(row)
		return v, ok
	}
	text, ok := f.text(p.text, row)
	return jsonv.String(text), ok
}

// text puts pieces of text together.
func (f *filling) text(pieces []piece, row jsonv.Value) (string, bool) {
	var buf [64]byte
	out := buf[:0]
	for i := range pieces {
		if pieces[i].ref == nil {
			out = append(out, pieces[i].lit...)
			continue
		}
		v, ok := pieces[i].ref.Lookup(row)
		if !ok {
			return "", false
		}
		if v.Kind() == jsonv.KindString {
			out = append(out, v.Text()...)
		} else {
			out = v.Append(out)
		}
	}
	return string(out), true
}
