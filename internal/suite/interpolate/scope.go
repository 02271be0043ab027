package interpolate

import (
	"strconv"
	"strings"

	"mcptest/internal/display"
	"mcptest/internal/jsonv"
	"mcptest/internal/placeholder"
	"mcptest/internal/source"
)

// Scope resolves the names that `${…}` may use in one file. It is not changed
// after loading, so it may be used from several goroutines.
type Scope struct {
	Dir string // CONFIG_DIR
	// Variable returns a variable; known with a nil value means that it is
	// declared and its mistake has been reported.
	Variable func(name string) (v *source.Node, known bool)
	// Env returns an environment variable.
	Env func(name string) (string, bool)
	// Names lists what could have been meant, for "did you mean".
	Names func() []string
}

// Bindings are values that only a part of a suite has: those of a `cases:`
// row (Case) and of a flow's earlier steps (Steps). Absent means that there
// are none here.
type Bindings struct {
	Case  jsonv.Value
	Steps jsonv.Value
	// Table is the CSV file that the row comes from, empty for other rows.
	Table string
	// AnySteps stands for every ${steps.…} as long as their values are not
	// known, which is before the run; AnyCase for every ${case.…} when there
	// is no row to look at.
	AnySteps, AnyCase *source.Node
}

// Expand replaces every `${…}` in the scalars below n. A scalar that is
// exactly one placeholder takes the value's type. Values are put in as they
// are: a "${" that a value brings along stays text. Mistakes are added to d.
func (s *Scope) Expand(n *source.Node, path string, b Bindings, d *source.Decoder) *source.Node {
	if n == nil {
		return nil
	}
	e := expansion{scope: s, b: b, d: d, root: n, path: path}
	return n.MapScalars(func(sc *source.Node) *source.Node {
		if sc.Kind != source.KindString || !strings.Contains(sc.Text, "${") {
			return sc
		}
		return e.scalar(sc)
	})
}

// expansion is one call of Expand.
type expansion struct {
	scope *Scope
	b     Bindings
	d     *source.Decoder
	root  *source.Node
	path  string
	// reported counts mistakes, and values whose mistake was reported before.
	reported int
	blanks   int // placeholders inside of text that stood for the empty text
	// origin is that of the scalar's values so far.
	origin source.Origin
}

func (e *expansion) scalar(n *source.Node) *source.Node {
	parts, bad := splitTemplate(n.Text)
	if bad != nil {
		e.report(n, bad.Offset, bad.Msg, bad.Hint)
		return n.Unknown()
	}
	before, blanks := e.reported, e.blanks
	e.origin = source.Substituted
	if placeholder.Whole(parts) {
		v := e.value(n, parts[0])
		if v == nil {
			return n.Unknown()
		}
		v = v.Filled()
		v.Origin = max(v.Origin, e.origin)
		return v
	}
	text := e.text(n, parts)
	if e.reported > before {
		return n.Unknown()
	}
	out := n.WithText(text)
	out.Quoted, out.Origin, out.Blank = true, e.origin, e.blanks > blanks
	return out
}

// text puts parts together as text.
func (e *expansion) text(n *source.Node, parts []placeholder.Part) string {
	var b strings.Builder
	for _, p := range parts {
		if p.Literal {
			b.WriteString(p.Text)
			continue
		}
		switch v := e.value(n, p); {
		case v == nil:
		case v.IsScalar():
			b.WriteString(v.Text)
			if v.Text == "" {
				e.blanks++
			}
		default:
			b.Write(v.JSON().Append(nil))
		}
	}
	return b.String()
}

// value returns what a placeholder stands for; nil when that is not known,
// which has been reported.
func (e *expansion) value(n *source.Node, p placeholder.Part) *source.Node {
	if member, ok := strings.CutPrefix(p.Name, "steps."); ok {
		return e.step(n, p, member)
	}
	if member, ok := strings.CutPrefix(p.Name, "case."); ok {
		if e.b.AnyCase != nil {
			out := *e.b.AnyCase
			out.Pos = n.Pos
			return &out
		}
		if e.b.Case.IsAbsent() {
			e.report(n, p.Offset, "${"+p.Name+"} is known in tests with cases: only", "")
			return nil
		}
		return e.member(n, p, "row", member, e.b.Case)
	}
	if p.Name == "CONFIG_DIR" {
		return Placed(n, e.scope.Dir)
	}
	if e.scope.Variable != nil {
		if v, known := e.scope.Variable(p.Name); v != nil {
			out := *v
			out.Pos = n.Pos
			return &out
		} else if known {
			e.reported++
			return nil
		}
	}
	if text, ok := e.scope.Env(p.Name); ok {
		return Placed(n, text)
	}
	if p.HasDefault {
		return e.fallback(n, p)
	}
	hint := "declare it under variables:, set it in the environment or .env, or write ${" + p.Name + ":-default}; " + placeholder.LiteralHint
	if near := source.Nearest(p.Name, e.scope.Names()); near != "" {
		hint = source.Suggest("${" + near + "}")
	}
	e.report(n, p.Offset, "${"+p.Name+"} is neither a variable nor set in the environment", hint)
	return nil
}

func (e *expansion) step(n *source.Node, p placeholder.Part, member string) *source.Node {
	switch {
	case e.b.AnySteps != nil:
		out := *e.b.AnySteps
		out.Pos = n.Pos
		return e.fromServer(&out)
	case e.b.Steps.IsAbsent():
		e.report(n, p.Offset, "${"+p.Name+"} is known in the later steps of a flow only", "")
		return nil
	}
	return e.fromServer(e.member(n, p, "flow", member, e.b.Steps))
}

// fromServer notes where a value of a step, and all that is in it, comes from.
func (e *expansion) fromServer(n *source.Node) *source.Node {
	e.origin = source.FromServer
	if n != nil {
		n.Origin = source.FromServer
		for _, item := range n.Items {
			e.fromServer(item)
		}
		for _, f := range n.Fields {
			e.fromServer(f.Value)
		}
	}
	return n
}

// Placed is text from outside the file: unquoted, because whoever set it could
// not choose.
func Placed(n *source.Node, text string) *source.Node {
	out := n.WithText(text)
	out.Quoted = false
	return out
}

// fallback is the value of a placeholder's default.
func (e *expansion) fallback(n *source.Node, p placeholder.Part) *source.Node {
	if placeholder.Whole(p.Default) {
		return e.value(n, p.Default[0])
	}
	return Placed(n, e.text(n, p.Default))
}

// member finds case.a.b or steps.a[0].b. A key that has dots itself is found
// under its whole name.
func (e *expansion) member(n *source.Node, p placeholder.Part, in, path string, v jsonv.Value) *source.Node {
	for path != "" {
		next, key, rest := stepInto(v, path)
		if next.IsAbsent() {
			if p.HasDefault {
				return e.fallback(n, p)
			}
			e.missing(n, p, in, key, v)
			return nil
		}
		v, path = next, rest
	}
	return source.FromJSON(v, n.Pos)
}

// stepInto goes one step along a path; key is what was looked for.
func stepInto(v jsonv.Value, path string) (next jsonv.Value, key, rest string) {
	if v.Kind() == jsonv.KindArray && path[0] == '[' {
		if inside, after, ok := strings.Cut(path[1:], "]"); ok {
			if i, err := strconv.Atoi(inside); err == nil {
				return v.At(i), "[" + inside + "]", strings.TrimPrefix(after, ".")
			}
		}
	}
	if next, ok := v.Get(path); ok {
		return next, path, ""
	}
	end := len(path)
	if i := strings.IndexAny(path[1:], ".["); i >= 0 {
		end = i + 1
	}
	key, rest = path[:end], strings.TrimPrefix(path[end:], ".")
	next, _ = v.Get(key)
	return next, key, rest
}

func (e *expansion) missing(n *source.Node, p placeholder.Part, in, key string, v jsonv.Value) {
	hint, msg := "", "no "+strconv.Quote(key)+" in this "+in
	if in == "row" && e.b.Table != "" {
		msg = e.b.Table + " has no column " + strconv.Quote(key)
	}
	switch keys := v.Keys(); {
	case v.Kind() == jsonv.KindArray:
		hint = "it is a list of " + strconv.Itoa(v.Len())
	case v.Kind() != jsonv.KindObject:
		hint = "the value before it is of type " + v.Kind().String()
	case source.Nearest(key, keys) != "":
		msg += source.Aside(source.DidYouMean(key, keys))
	case len(keys) > 0:
		hint = "it has " + display.List(keys, 12)
	}
	e.report(n, p.Offset, "${"+p.Name+"}: "+msg, hint)
}

func (e *expansion) report(n *source.Node, offset int, msg, hint string) {
	e.reported++
	path := e.path
	if below, ok := locate(e.root, n, path); ok {
		path = below
	}
	e.d.Add(source.Diagnostic{Pos: n.In(offset), Path: path, Msg: msg, Hint: hint, Code: "placeholder"})
}

// locate returns the document path of a node below n.
func locate(n, wanted *source.Node, path string) (string, bool) {
	if n == wanted {
		return path, true
	}
	for i, item := range n.Items {
		if p, ok := locate(item, wanted, source.PathIndex(path, i)); ok {
			return p, true
		}
	}
	for _, f := range n.Fields {
		if p, ok := locate(f.Value, wanted, source.PathKey(path, f.Key.Text)); ok {
			return p, true
		}
	}
	return "", false
}

// Placeholder is one `${case.…}` or `${steps.…}` in a scalar.
type Placeholder struct {
	Name   string // "case.id"
	Member string // "id"
	Node   *source.Node
	Offset int
	// Default is set when it has one.
	Default bool
}

// Placeholders returns the placeholders below n whose names begin with prefix
// ("case.", "steps."), in order.
func Placeholders(n *source.Node, prefix string) []Placeholder {
	var out []Placeholder
	Scan(n, func(sc *source.Node, p placeholder.Part) {
		if member, ok := strings.CutPrefix(p.Name, prefix); ok {
			out = append(out, Placeholder{Name: p.Name, Member: member, Node: sc, Offset: p.Offset, Default: p.HasDefault})
		}
	})
	return out
}

// Scan calls fn for every placeholder below n.
func Scan(n *source.Node, fn func(sc *source.Node, p placeholder.Part)) {
	if n == nil {
		return
	}
	n.MapScalars(func(sc *source.Node) *source.Node {
		if sc.Kind == source.KindString && strings.Contains(sc.Text, "${") {
			if parts, bad := splitTemplate(sc.Text); bad == nil {
				placeholder.Each(parts, func(p placeholder.Part) { fn(sc, p) })
			}
		}
		return sc
	})
}

// Lookup returns the value that a placeholder's member path leads to.
func (p Placeholder) Lookup(in jsonv.Value) (jsonv.Value, bool) {
	v := in
	for path := p.Member; path != ""; {
		if v, _, path = stepInto(v, path); v.IsAbsent() {
			return v, false
		}
	}
	return v, true
}

// Whole reports whether a scalar is nothing but one placeholder.
func Whole(n *source.Node) bool {
	if n == nil || n.Kind != source.KindString || !strings.HasPrefix(n.Text, "${") {
		return false
	}
	parts, bad := splitTemplate(n.Text)
	return bad == nil && placeholder.Whole(parts)
}
