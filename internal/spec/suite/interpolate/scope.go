package interpolate

import (
	"strconv"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/placeholder"
	"mcptest/internal/base/source"
)

// Scope resolves the names that `${…}` can use in one file. It is not changed after
// loading, so it is safe for concurrent use.
type Scope struct {
	Dir string // CONFIG_DIR
	// Variable returns a variable; if known is true and the value nil, it is declared
	// and its mistake has been reported.
	Variable func(name string) (v *source.Node, known bool)
	// Env returns an environment variable.
	Env func(name string) (string, bool)
	// Names returns all names, for suggestions.
	Names func() []string
}

// Bindings are values that are only available in parts of a suite: those of a
// `cases:` row (Case) and of a flow's earlier steps (Steps). They are absent if there
// are none.
type Bindings struct {
	Case  jsonv.Value
	Steps jsonv.Value
	// Table is the CSV file that contains the row; empty for other rows.
	Table string
	// AnySteps is used for every ${steps.…} before the run, while the values are
	// unknown; AnyCase for every ${case.…} if there is no row.
	AnySteps, AnyCase *source.Node
}

// Expand replaces every `${…}` in the scalars below n. A scalar that is exactly one
// placeholder takes the value's type. Placeholders inside values are not replaced.
// Mistakes are added to d.
func (s *Scope) Expand(n *source.Node, path string, b Bindings, d *source.Decoder) *source.Node {
	if n == nil {
		return nil
	}
	e := expansion{scope: s, b: b, d: d, root: n, path: path}
	return n.MapScalars(func(sc *source.Node) *source.Node {
		if sc.Kind != source.KindString || !strings.Contains(sc.Text, "${") {
			return sc
		}
		return e.expandScalar(sc)
	})
}

// expansion is the state of one call of Expand.
type expansion struct {
	scope *Scope
	b     Bindings
	d     *source.Decoder
	root  *source.Node
	path  string
	// reported counts mistakes, and values whose mistake was reported before.
	reported int
	blanks   int // placeholders inside text whose value is empty
	// origin is the origin of the scalar's values so far.
	origin source.Origin
}

func (e *expansion) expandScalar(n *source.Node) *source.Node {
	parts, bad := splitTemplate(n.Text)
	if bad != nil {
		e.report(n, bad.Offset, bad.Msg, bad.Hint)
		return n.Unknown()
	}
	before, blanks := e.reported, e.blanks
	e.origin = source.Substituted
	if placeholder.Whole(parts) {
		v := e.expandValue(n, parts[0])
		if v == nil {
			return n.Unknown()
		}
		v = v.Filled()
		v.Origin = max(v.Origin, e.origin)
		return v
	}
	text := e.expandText(n, parts)
	if e.reported > before {
		return n.Unknown()
	}
	out := n.WithText(text)
	out.Quoted, out.Origin, out.Blank = true, e.origin, e.blanks > blanks
	return out
}

// expandText joins parts as text.
func (e *expansion) expandText(n *source.Node, parts []placeholder.Part) string {
	var b strings.Builder
	for _, p := range parts {
		if p.Literal {
			b.WriteString(p.Text)
			continue
		}
		v := e.expandValue(n, p)
		switch {
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

// expandValue returns the value of a placeholder, or nil if it is unknown, which has been
// reported.
func (e *expansion) expandValue(n *source.Node, p placeholder.Part) *source.Node {
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
			e.report(n, p.Offset, "${"+p.Name+"} can be used only in tests with cases:", "")
			return nil
		}
		return e.findMember(n, p, "row", member, e.b.Case)
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
		return e.expandFallback(n, p)
	}
	hint := "declare it under variables:, set it in the environment or .env, or write ${" + p.Name + ":-default}; " + placeholder.LiteralHint
	short := p.Name[strings.LastIndexByte(p.Name, '.')+1:]
	if near := source.FindNearest(p.Name, e.scope.Names()); near != "" {
		hint = source.Suggest("${" + near + "}")
	} else if name := isPlain(p.Name); name != "" {
		hint = "write ${" + name + "}"
	} else if _, column := e.b.Case.Get(short); column {
		hint = "write ${case." + short + "}"
	} else if strings.HasSuffix(e.path, ".steps") {
		hint = "what a step captures is ${steps." + p.Name + "}; " + hint
	}
	e.report(n, p.Offset, "${"+p.Name+"} is neither a variable nor set in the environment", hint)
	return nil
}

func (e *expansion) step(n *source.Node, p placeholder.Part, member string) *source.Node {
	switch {
	case e.b.AnySteps != nil:
		out := *e.b.AnySteps
		out.Pos = n.Pos
		return e.findFromServer(&out)
	case e.b.Steps.IsAbsent():
		e.report(n, p.Offset, "${"+p.Name+"} can be used only in the later steps of a flow", "")
		return nil
	}
	return e.findFromServer(e.findMember(n, p, "flow", member, e.b.Steps))
}

// findFromServer marks a value of a step, and everything in it, as coming from the
// server.
func (e *expansion) findFromServer(n *source.Node) *source.Node {
	e.origin = source.FromServer
	if n != nil {
		n.Origin = source.FromServer
		for _, item := range n.Items {
			e.findFromServer(item)
		}
		for _, f := range n.Fields {
			e.findFromServer(f.Value)
		}
	}
	return n
}

// Placed converts text from outside the file to a scalar. It counts as unquoted,
// because its author could not quote it.
func Placed(n *source.Node, text string) *source.Node {
	out := n.WithText(text)
	out.Quoted = false
	return out
}

// expandFallback returns the default of a placeholder.
func (e *expansion) expandFallback(n *source.Node, p placeholder.Part) *source.Node {
	if placeholder.Whole(p.Default) {
		return e.expandValue(n, p.Default[0])
	}
	return Placed(n, e.expandText(n, p.Default))
}

// findMember resolves case.a.b or steps.a[0].b. It also finds a key that contains dots.
func (e *expansion) findMember(n *source.Node, p placeholder.Part, in, path string, v jsonv.Value) *source.Node {
	for path != "" {
		next, key, rest := stepInto(v, path)
		if next.IsAbsent() {
			if p.HasDefault {
				return e.expandFallback(n, p)
			}
			e.reportMissing(n, p, in, key, v)
			return nil
		}
		v, path = next, rest
	}
	return source.FromJSON(v, n.Pos)
}

// stepInto takes one step along a path; key is the key it looks up.
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

func (e *expansion) reportMissing(n *source.Node, p placeholder.Part, in, key string, v jsonv.Value) {
	hint, msg := "", "no "+strconv.Quote(key)+" in this "+in
	if in == "row" && e.b.Table != "" {
		msg = e.b.Table + " has no column " + strconv.Quote(key)
	}
	keys := v.Keys()
	switch {
	case v.Kind() == jsonv.KindArray:
		hint = "it is a list of " + strconv.Itoa(v.Len())
	case v.Kind() != jsonv.KindObject:
		hint = "the value before it is of type " + v.Kind().String()
	case source.FindNearest(key, keys) != "":
		msg += source.Parenthesis(source.DidYouMean(key, keys))
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
