package mock

import (
	"fmt"
	"slices"
	"strings"

	"mcptest/internal/jsonv"
	"mcptest/internal/source"
)

// template is a value with placeholders. A text that is one placeholder and
// nothing else takes its value, of any type; members of an object and
// elements of a list whose value is missing are left out.
type template struct {
	kind   source.Kind
	lit    jsonv.Value // the whole value when nothing below has a placeholder
	parts  []part      // of a text
	items  []*template
	keys   []string
	inner  *template // of which this is the text
	static bool
}

// part is a piece of a text: literal, or an expression.
type part struct {
	lit string
	e   *expr
}

// literal makes a template of a value.
func literal(v jsonv.Value) *template { return &template{lit: v, static: true} }

// asText makes a template whose value is always a text: that of a map or list
// is its JSON.
func asText(t *template) *template {
	if t.static {
		return literal(jsonv.String(textOf(t.lit)))
	}
	return &template{kind: source.KindString, inner: t}
}

// with adds an element.
func (t *template) with(item *template) *template {
	t.add(item)
	return t
}

// compiler compiles the templates of one place of the manifest: which roots
// may be used there, which asks and arguments are known.
type compiler struct {
	d     *source.Decoder
	roots []string
	asks  []string
	args  []string // declared arguments; nil: any name is fine
	vars  []string // variables of a resource template
	tasks bool     // the response may be that of a task
}

// with returns a compiler that also knows these asks.
func (c compiler) with(asks []string) compiler {
	c.asks = append(slices.Clip(c.asks), asks...)
	return c
}

// compile never returns nil.
func (c compiler) compile(n *source.Node, path string) *template {
	if n == nil {
		return literal(jsonv.Value{})
	}
	switch n.Kind {
	case source.KindString:
		parts := c.parts(n, path)
		if len(parts) == 1 && parts[0].e == nil {
			return literal(jsonv.String(parts[0].lit))
		}
		if len(parts) == 0 {
			return literal(jsonv.String(""))
		}
		return &template{kind: source.KindString, parts: parts}
	case source.KindList:
		t := &template{kind: source.KindList, static: true}
		for i, item := range n.Items {
			t.add(c.compile(item, source.PathIndex(path, i)))
		}
		return t.settle()
	case source.KindMap:
		t := &template{kind: source.KindMap, static: true}
		for _, f := range n.Fields {
			t.keys = append(t.keys, f.Key.Text)
			t.add(c.compile(f.Value, source.PathKey(path, f.Key.Text)))
		}
		return t.settle()
	}
	return literal(n.JSON())
}

func (t *template) add(item *template) {
	t.items = append(t.items, item)
	t.static = t.static && item.static
}

// settle turns a list or map without placeholders into its value.
func (t *template) settle() *template {
	if t.static {
		return literal(t.build(func(item *template) jsonv.Value { return item.lit }))
	}
	return t
}

func (t *template) build(of func(*template) jsonv.Value) jsonv.Value {
	if t.kind == source.KindMap {
		members := make([]jsonv.Member, len(t.items))
		for i, item := range t.items {
			members[i] = jsonv.Member{Key: t.keys[i], Value: of(item)}
		}
		return jsonv.Object(members...)
	}
	items := make([]jsonv.Value, 0, len(t.items))
	for _, item := range t.items {
		if v := of(item); !v.IsAbsent() {
			items = append(items, v)
		}
	}
	return jsonv.Array(items...)
}

// eval fills the placeholders in.
func (t *template) eval(s *scope) jsonv.Value {
	switch {
	case t == nil:
		return jsonv.Value{}
	case t.static:
		return t.lit
	case t.inner != nil:
		return jsonv.String(t.inner.text(s))
	case t.kind != source.KindString:
		return t.build(func(item *template) jsonv.Value { return item.eval(s) })
	case len(t.parts) == 1:
		return t.parts[0].e.eval(s)
	}
	var b strings.Builder
	for _, p := range t.parts {
		if p.e == nil {
			b.WriteString(p.lit)
			continue
		}
		b.WriteString(textOf(p.e.eval(s)))
		if b.Len() > maxText {
			break
		}
	}
	return jsonv.String(b.String())
}

// maxText bounds a text whose parts come from the client.
const maxText = 64 << 20

// text is the value as text: that of a list or map is its JSON.
func (t *template) text(s *scope) string { return textOf(t.eval(s)) }

// parts splits a text at its placeholders; $${ stands for ${ itself.
func (c compiler) parts(n *source.Node, path string) []part {
	text := n.Text
	var out []part
	lit := strings.Builder{}
	for at := 0; at < len(text); {
		switch {
		case strings.HasPrefix(text[at:], "$${"):
			lit.WriteString("${")
			at += 3
		case strings.HasPrefix(text[at:], "${"):
			end := strings.IndexByte(text[at:], '}')
			if end < 0 {
				c.at(n, at, path, &syntaxError{msg: "${ is not closed", hint: "a literal ${ is written $${"})
				return []part{{lit: text}}
			}
			e, err := parseExpr(text[at+2 : at+end])
			if err != nil {
				c.at(n, at+2, path, err)
				return []part{{lit: text}}
			}
			c.check(n, at, path, e)
			if lit.Len() > 0 {
				out = append(out, part{lit: lit.String()})
				lit.Reset()
			}
			out = append(out, part{e: e})
			at += end + 1
		default:
			lit.WriteByte(text[at])
			at++
		}
	}
	if lit.Len() > 0 {
		out = append(out, part{lit: lit.String()})
	}
	return out
}

func (c compiler) at(n *source.Node, off int, path string, e *syntaxError) {
	d := c.d.Errorf(n, path, "%s", e.msg)
	d.Pos, d.Hint, d.Code = n.In(off+e.off), e.hint, "placeholder"
}

// expression compiles what `exists` and `missing` name, without ${ and }.
func (c compiler) expression(n *source.Node, path string) *expr {
	if n.Kind != source.KindString {
		c.d.WrongType(n, path, "a path such as args.city")
		return nil
	}
	e, err := parseExpr(n.Text)
	if err != nil {
		c.at(n, 0, path, err)
		return nil
	}
	c.check(n, 0, path, e)
	return e
}

// check finds names that can never have a value.
func (c compiler) check(n *source.Node, off int, at string, e *expr) {
	for _, t := range e.terms {
		if t.path != nil {
			c.checkPath(n, off, at, t.path)
		}
	}
}

func (c compiler) checkPath(n *source.Node, off int, at string, p *path) {
	for _, seg := range p.segs {
		if seg.by != nil {
			c.checkPath(n, off, at, seg.by)
		}
	}
	if !slices.Contains(c.roots, p.root) {
		c.at(n, off, at, &syntaxError{msg: fmt.Sprintf("${%s} has no value here", p.root), hint: "known here: " + strings.Join(c.roots, ", ")})
		return
	}
	if len(p.segs) == 0 || p.segs[0].kind != byKey {
		return
	}
	first := p.segs[0].key
	known, word := c.args, "there is no argument"
	switch p.root {
	case "args":
	case "vars":
		known, word = c.vars, "the template has no variable"
	case "ask":
		known, word = c.asks, "no step of this response asks for"
		if known == nil {
			known = []string{}
		}
	default:
		return
	}
	if known == nil || slices.Contains(known, first) {
		return
	}
	d := c.d.Errorf(n, at, "%s %q", word, first)
	d.Pos, d.Code = n.In(off), "placeholder"
	if hint := source.DidYouMean(first, known); hint != "" {
		d.Msg += source.Aside(hint)
	} else if len(known) > 0 {
		d.Hint = "known: " + strings.Join(known, ", ")
	}
}
