package manifest

import (
	"fmt"
	"slices"
	"strings"

	"mcptest/internal/assert/jsonpath"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/placeholder"
	"mcptest/internal/base/source"
)

// Template is a value with placeholders. A text that consists of a single placeholder
// evaluates to its value, of any type; members of an object and elements of a list
// whose value is missing are omitted.
type Template struct {
	kind   source.Kind
	lit    jsonv.Value // the whole value if it has no placeholders
	parts  []part      // of a text
	items  []*Template
	keys   []string
	inner  *Template // of which this is the text
	static bool
}

// part is a piece of a text: literal, or an expression with its default.
type part struct {
	lit string
	e   expr
	def *Template // or nil
}

func (p part) eval(values Values) jsonv.Value {
	if p.e == nil {
		return jsonv.String(p.lit)
	}
	v := p.e.eval(values)
	if p.def != nil && (v.IsAbsent() || v.Kind() == jsonv.KindNull) {
		return p.def.Eval(values)
	}
	return v
}

// newLiteral returns a template of a constant value.
func newLiteral(v jsonv.Value) *Template { return &Template{lit: v, static: true} }

// asText returns a template whose value is always a text: that of a map or list is
// its JSON.
func asText(t *Template) *Template {
	if t.static {
		return newLiteral(jsonv.String(textOf(t.lit)))
	}
	return &Template{kind: source.KindString, inner: t}
}

// compiler compiles the templates of one place in the manifest. It knows which roots
// may be used there and which asks and arguments exist.
type compiler struct {
	d     *source.Decoder
	roots []string
	asks  []string
	args  []string // declared arguments; nil: any name is accepted
	vars  []string // variables of a resource template
	tasks bool     // the response may be that of a task
}

// with returns a compiler that also knows these asks.
func (c compiler) with(asks []string) compiler {
	c.asks = append(slices.Clip(c.asks), asks...)
	return c
}

// compile compiles a node; it never returns nil.
func (c compiler) compile(n *source.Node, path string) *Template {
	if n == nil {
		return newLiteral(jsonv.Value{})
	}
	switch n.Kind {
	case source.KindString:
		return newTextTemplate(c.splitParts(n, path))
	case source.KindList:
		return each(n, path, c.compile)
	case source.KindMap:
		return compileMembers(n, path, func(_ string, v *source.Node, at string) *Template { return c.compile(v, at) })
	}
	return newLiteral(n.JSON())
}

func newTextTemplate(parts []part) *Template {
	switch {
	case len(parts) == 0:
		return newLiteral(jsonv.String(""))
	case len(parts) == 1 && parts[0].e == nil:
		return newLiteral(jsonv.String(parts[0].lit))
	}
	return &Template{kind: source.KindString, parts: parts}
}

// newComposite returns the template of a list, or of a map with these keys; it is a
// constant if no item has a placeholder.
func newComposite(kind source.Kind, keys []string, items ...*Template) *Template {
	t := &Template{kind: kind, keys: keys, items: items}
	if slices.ContainsFunc(items, func(item *Template) bool { return !item.static }) {
		return t
	}
	return newLiteral(t.build(func(item *Template) jsonv.Value { return item.lit }))
}

// compileMembers compiles every member of a map.
func compileMembers(
	n *source.Node, path string, compile func(key string, v *source.Node, at string) *Template,
) *Template {
	var keys []string
	var items []*Template
	for _, f := range n.Fields {
		keys = append(keys, f.Key.Text)
		items = append(items, compile(f.Key.Text, f.Value, source.PathKey(path, f.Key.Text)))
	}
	return newComposite(source.KindMap, keys, items...)
}

// each compiles every item of a list.
func each(n *source.Node, path string, compile func(*source.Node, string) *Template) *Template {
	items := make([]*Template, len(n.Items))
	for i, item := range n.Items {
		items[i] = compile(item, source.PathIndex(path, i))
	}
	return newComposite(source.KindList, nil, items...)
}

func (t *Template) build(of func(*Template) jsonv.Value) jsonv.Value {
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

// Eval returns the value with the placeholders replaced.
func (t *Template) Eval(values Values) jsonv.Value {
	switch {
	case t == nil:
		return jsonv.Value{}
	case t.static:
		return t.lit
	case t.inner != nil:
		return jsonv.String(t.inner.Text(values))
	case t.kind != source.KindString:
		return t.build(func(item *Template) jsonv.Value { return item.Eval(values) })
	case len(t.parts) == 1:
		return t.parts[0].eval(values)
	}
	var b strings.Builder
	for _, p := range t.parts {
		b.WriteString(textOf(p.eval(values)))
		if b.Len() > maxText {
			break
		}
	}
	return jsonv.String(b.String())
}

// maxText bounds a text whose parts come from the client.
const maxText = 64 << 20

// Text returns the value as text: that of a list or map is its JSON.
func (t *Template) Text(values Values) string { return textOf(t.Eval(values)) }

// splitParts splits a text at its placeholders.
func (c compiler) splitParts(n *source.Node, path string) []part {
	cut, bad := placeholder.Parse(n.Text)
	if bad != nil {
		c.reportAt(n, path, bad.Offset, bad.Msg, bad.Hint)
		return []part{{lit: n.Text}}
	}
	return c.compileParts(n, path, cut)
}

func (c compiler) compileParts(n *source.Node, path string, cut []placeholder.Part) []part {
	out := make([]part, 0, len(cut))
	for _, p := range cut {
		if p.Literal {
			out = append(out, part{lit: p.Text})
			continue
		}
		e, bad := parseExpr(p.Name)
		if bad != nil {
			c.reportAt(n, path, p.Offset+len("${")+bad.Offset, bad.Msg, bad.Hint)
			out = append(out, part{lit: p.Text})
			continue
		}
		c.check(n, p.Offset, path, e)
		next := part{e: e}
		if p.HasDefault {
			next.def = newTextTemplate(c.compileParts(n, path, p.Default))
		}
		out = append(out, next)
	}
	return out
}

func (c compiler) reportAt(n *source.Node, path string, off int, msg, hint string) {
	d := c.d.Errorf(n, path, "%s", msg)
	d.Pos, d.Hint, d.Code = n.In(off), hint, "placeholder"
}

// compileExpression compiles an entry of `exists` or `missing`, an expression without ${ and
// }.
func (c compiler) compileExpression(n *source.Node, path string) expr {
	if n.Kind != source.KindString {
		c.d.ReportWrongType(n, path, "a path such as args.city")
		return nil
	}
	e, bad := parseExpr(n.Text)
	if bad != nil {
		c.reportAt(n, path, bad.Offset, bad.Msg, bad.Hint)
		return nil
	}
	c.check(n, 0, path, e)
	return e
}

// check reports names that can never have a value.
func (c compiler) check(n *source.Node, off int, at string, e expr) {
	for _, t := range e {
		if t.path != nil {
			c.checkPath(n, off, at, t.path)
		}
	}
}

func (c compiler) checkPath(n *source.Node, off int, at string, path []jsonpath.Step) {
	for _, step := range path {
		if step.By != nil {
			c.checkPath(n, off, at, step.By)
		}
	}
	root := path[0].Name
	switch {
	case !slices.Contains(roots, root):
		c.reportUnknownRoot(n, off, at, root)
		return
	case !slices.Contains(c.roots, root):
		c.reportAt(n, at, off, fmt.Sprintf("${%s} has no value here", root), "known here: "+strings.Join(c.roots, ", "))
		return
	case len(path) == 1 || path[1].Kind != jsonpath.Name:
		return
	}
	first := path[1].Name
	known, word := c.args, "unknown argument"
	switch root {
	case "args":
	case "vars":
		known, word = c.vars, "unknown variable"
	case "ask":
		known, word = append([]string{}, c.asks...), "no step of this response asks for"
	default:
		return
	}
	if known == nil || slices.Contains(known, first) {
		return
	}
	d := c.d.Errorf(n, at, "%s %q", word, first)
	d.Pos, d.Code = n.In(off), "placeholder"
	if hint := source.DidYouMean(first, known); hint != "" {
		d.Msg += source.Parenthesis(hint)
	} else if len(known) > 0 {
		d.Hint = "known: " + strings.Join(known, ", ")
	}
}

func (c compiler) reportUnknownRoot(n *source.Node, off int, at, name string) {
	msg, hint := fmt.Sprintf("unknown name %q", name), "known names: "+strings.Join(roots, ", ")
	if near := source.DidYouMean(name, roots); near != "" {
		msg, hint = msg+source.Parenthesis(near), ""
	}
	c.reportAt(n, at, off, msg, hint)
}
