package mock

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"mcptest/internal/jsonv"
	"mcptest/internal/source"
)

// expr is the content of ${…}: terms joined by " + " or " - ", and an
// optional default behind ":-". There is nothing else on purpose: a manifest
// is a description, not a program.
type expr struct {
	terms    []term
	fallback *string
}

// term is a number or a path.
type term struct {
	minus  bool
	number jsonv.Value // absent for a path
	path   *path
}

// path names a value: a root, then keys and indexes.
type path struct {
	root string
	segs []segment
}

// segment is one step of a path: a key, an index, or a key or index that
// another path yields.
type segment struct {
	key   string
	index int
	kind  segmentKind
	by    *path
}

type segmentKind uint8

const (
	byKey segmentKind = iota
	byIndex
	byPath
)

// maxPathDepth bounds paths inside paths.
const maxPathDepth = 8

// roots are the names a path may start with, and what they hold.
var roots = []struct{ name, doc string }{
	{"args", "the arguments of the call"},
	{"state", "the server's state"},
	{"ask", "the client's answers to this response's asks, by name"},
	{"vars", "the variables of a resource template"},
	{"uri", "the uri that was read"},
	{"calls", "how often this tool, resource or prompt was used, this time included"},
	{"client", "the client: name, version, protocol, capabilities"},
	{"id", "the id of the request"},
	{"params", "the params of the request"},
	{"request", "the whole request"},
}

// syntaxError is a mistake inside ${…}; off counts bytes from its first one.
type syntaxError struct {
	off  int
	msg  string
	hint string
}

func (e *syntaxError) Error() string { return e.msg }

// parseExpr reads the inside of ${…}.
func parseExpr(text string) (*expr, *syntaxError) {
	e := &expr{}
	body := text
	if at := strings.Index(text, ":-"); at >= 0 {
		fallback := text[at+2:]
		body, e.fallback = text[:at], &fallback
	}
	p := &exprParser{text: body}
	minus := false
	for {
		p.space()
		t, err := p.term()
		if err != nil {
			return nil, err
		}
		t.minus = minus
		e.terms = append(e.terms, t)
		p.space()
		if p.at == len(p.text) {
			return e, nil
		}
		switch op := p.text[p.at]; {
		case (op == '+' || op == '-') && p.at > 0 && p.text[p.at-1] == ' ' && strings.HasPrefix(p.text[p.at+1:], " "):
			minus = op == '-'
			p.at++
		default:
			return nil, &syntaxError{
				p.at, fmt.Sprintf("unexpected %q", p.text[p.at:]),
				"allowed here: a path (args.city, state.items[0]), and sums of them with \" + \" and \" - \"",
			}
		}
	}
}

type exprParser struct {
	text string
	at   int
}

func (p *exprParser) space() {
	for p.at < len(p.text) && p.text[p.at] == ' ' {
		p.at++
	}
}

func (p *exprParser) term() (term, *syntaxError) {
	if p.at < len(p.text) && (p.text[p.at] >= '0' && p.text[p.at] <= '9') {
		start := p.at
		for p.at < len(p.text) && strings.IndexByte("0123456789.eE", p.text[p.at]) >= 0 {
			p.at++
		}
		v, err := jsonv.Number(p.text[start:p.at])
		if err != nil {
			return term{}, &syntaxError{start, fmt.Sprintf("%q is not a number", p.text[start:p.at]), ""}
		}
		return term{number: v}, nil
	}
	path, err := p.path(0)
	return term{path: path}, err
}

func (p *exprParser) path(depth int) (*path, *syntaxError) {
	start := p.at
	root := p.word()
	if root == "" {
		return nil, &syntaxError{start, "a name is missing", "for example ${args.city}"}
	}
	if !slices.ContainsFunc(roots, func(r struct{ name, doc string }) bool { return r.name == root }) {
		return nil, unknownRoot(start, root)
	}
	out := &path{root: root}
	for p.at < len(p.text) {
		switch p.text[p.at] {
		case '.':
			p.at++
			key := p.word()
			if key == "" {
				return nil, &syntaxError{p.at, "a name is missing after the dot", ""}
			}
			out.segs = append(out.segs, segment{key: key})
		case '[':
			seg, err := p.bracket(depth)
			if err != nil {
				return nil, err
			}
			out.segs = append(out.segs, seg)
		default:
			return out, nil
		}
	}
	return out, nil
}

func unknownRoot(at int, name string) *syntaxError {
	names := make([]string, len(roots))
	for i, r := range roots {
		names[i] = r.name
	}
	e := &syntaxError{off: at, msg: fmt.Sprintf("unknown name %q", name), hint: "known names: " + strings.Join(names, ", ")}
	if hint := source.DidYouMean(name, names); hint != "" {
		e.msg += source.Aside(hint)
		e.hint = ""
	}
	return e
}

// bracket reads [0], [-1], ["key"] or [path].
func (p *exprParser) bracket(depth int) (segment, *syntaxError) {
	start := p.at
	p.at++
	rest := p.text[p.at:]
	var seg segment
	switch {
	case depth >= maxPathDepth:
		return seg, &syntaxError{start, "paths are nested too deeply", ""}
	case rest != "" && (rest[0] == '"' || rest[0] == '\''):
		end := strings.IndexByte(rest[1:], rest[0])
		if end < 0 {
			return seg, &syntaxError{p.at, "the quote is not closed", ""}
		}
		seg.key = rest[1 : 1+end]
		p.at += end + 2
	case rest != "" && (rest[0] == '-' || rest[0] >= '0' && rest[0] <= '9'):
		end := 1
		for end < len(rest) && rest[end] >= '0' && rest[end] <= '9' {
			end++
		}
		n, err := strconv.Atoi(rest[:end])
		if err != nil {
			return seg, &syntaxError{p.at, fmt.Sprintf("%q is not an index", rest[:end]), ""}
		}
		seg.kind, seg.index = byIndex, n
		p.at += end
	default:
		by, err := p.path(depth + 1)
		if err != nil {
			return seg, err
		}
		seg.kind, seg.by = byPath, by
	}
	if p.at == len(p.text) || p.text[p.at] != ']' {
		return seg, &syntaxError{start, "the bracket is not closed", ""}
	}
	p.at++
	return seg, nil
}

func (p *exprParser) word() string {
	start := p.at
	for p.at < len(p.text) && isWordByte(p.text[p.at]) {
		p.at++
	}
	return p.text[start:p.at]
}

func isWordByte(c byte) bool {
	return c == '_' || c == '-' || c == '$' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// eval returns the value, absent when a single path leads nowhere. In a sum
// what is missing, or no number, counts as nothing.
func (e *expr) eval(s *scope) jsonv.Value {
	v := e.terms[0].eval(s)
	if len(e.terms) > 1 || e.terms[0].minus {
		v = jsonv.Int(0)
		for _, t := range e.terms {
			v = sum(v, t.eval(s), t.minus)
		}
	}
	if e.fallback != nil && (v.IsAbsent() || v.Kind() == jsonv.KindNull) {
		return jsonv.String(*e.fallback)
	}
	return v
}

func (t term) eval(s *scope) jsonv.Value {
	if t.path == nil {
		return t.number
	}
	return t.path.eval(s)
}

func (p *path) eval(s *scope) jsonv.Value {
	v := s.root(p.root)
	for _, seg := range p.segs {
		v = seg.of(v, s)
	}
	return v
}

func (seg segment) of(v jsonv.Value, s *scope) jsonv.Value {
	switch seg.kind {
	case byIndex:
		return v.At(seg.index)
	case byPath:
		by := seg.by.eval(s)
		if i, ok := by.Int64(); ok && v.Kind() == jsonv.KindArray {
			if i < -1<<31 || i >= 1<<31 {
				return jsonv.Value{}
			}
			return v.At(int(i))
		}
		return v.Lookup(textOf(by))
	}
	return v.Lookup(seg.key)
}

// maxExact bounds the literals that are added exactly; the rest is added as
// floating point numbers.
const maxExact = 60

// sum adds or subtracts two numbers. Decimals written without an exponent are
// added exactly: 0.1 + 0.2 is 0.3.
func sum(a, b jsonv.Value, minus bool) jsonv.Value {
	if a.Kind() != jsonv.KindNumber || b.Kind() != jsonv.KindNumber {
		return a // a is null once a sum left what numbers can hold
	}
	x, places, okA := exact(a.Literal())
	y, morePlaces, okB := exact(b.Literal())
	if !okA || !okB {
		if minus {
			return jsonv.Float(a.Float64() - b.Float64())
		}
		return jsonv.Float(a.Float64() + b.Float64())
	}
	if minus {
		y.Neg(y)
	}
	lit := x.Add(x, y).FloatString(max(places, morePlaces))
	if strings.Contains(lit, ".") {
		lit = strings.TrimSuffix(strings.TrimRight(lit, "0"), ".")
	}
	if lit == "-0" {
		lit = "0"
	}
	v, err := jsonv.Number(lit)
	if err != nil {
		return jsonv.Int(0)
	}
	return v
}

func exact(lit string) (r *big.Rat, places int, ok bool) {
	if len(lit) > maxExact || strings.ContainsAny(lit, "eE") {
		return nil, 0, false
	}
	if at := strings.IndexByte(lit, '.'); at >= 0 {
		places = len(lit) - at - 1
	}
	r, ok = new(big.Rat).SetString(lit)
	return r, places, ok
}

// textOf is a value inside a text: strings as they are, nothing for what is
// missing, everything else as JSON.
func textOf(v jsonv.Value) string {
	switch v.Kind() {
	case jsonv.KindAbsent:
		return ""
	case jsonv.KindString:
		return v.Text()
	}
	return v.String()
}
