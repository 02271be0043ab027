package manifest

import (
	"fmt"
	"math/big"
	"strings"

	"mcptest/internal/assert/jsonpath"
	"mcptest/internal/base/jsonv"
)

// expr is the expression in a placeholder: terms joined by " + " or " - ". There are
// deliberately no other operators: a manifest is a description, not a program.
type expr []term

// Values returns the value of a root, or an absent value.
type Values func(root string) jsonv.Value

// term is a number, or the path to a value: a root, then keys and indexes.
type term struct {
	minus  bool
	number jsonv.Value // absent for a path
	path   []jsonpath.Step
}

// roots are the names that a path may start with.
var roots = []string{
	"args",    // the arguments of the call
	"state",   // the server's state
	"ask",     // the client's responses to this response's asks, by name
	"vars",    // the variables of a resource template
	"uri",     // the uri that was read
	"calls",   // how often this tool, resource or prompt was used, including this time
	"client",  // the client: name, version, protocol, capabilities
	"id",      // the id of the request
	"params",  // the params of the request
	"request", // the whole request
}

// parseExpr parses the expression of a placeholder.
func parseExpr(text string) (expr, *jsonpath.Error) {
	var e expr
	for at, minus := 0, false; ; at++ {
		at += countBlanks(text[at:])
		t, n, err := parseTerm(text[at:])
		if err != nil {
			err.Offset += at
			return nil, err
		}
		t.minus = minus
		e = append(e, t)
		at += n
		n = countBlanks(text[at:])
		if at += n; at == len(text) {
			return e, nil
		}
		minus = text[at] == '-'
		if !minus && text[at] != '+' || n == 0 || countBlanks(text[at+1:]) == 0 {
			return nil, &jsonpath.Error{
				Offset: at, Msg: fmt.Sprintf("unexpected %q", text[at:]),
				Hint: "allowed here: a path (args.city, state.items[0]), and sums of them with \" + \" and \" - \"",
			}
		}
	}
}

func countBlanks(s string) int { return len(s) - len(strings.TrimLeft(s, " ")) }

// parseTerm parses the term at the beginning of text and returns its length.
func parseTerm(text string) (term, int, *jsonpath.Error) {
	if text != "" && text[0] >= '0' && text[0] <= '9' {
		n := len(text) - len(strings.TrimLeft(text, "0123456789.eE"))
		v, err := jsonv.Number(text[:n])
		if err != nil {
			return term{}, 0, &jsonpath.Error{Msg: fmt.Sprintf("%q is not a number", text[:n])}
		}
		return term{number: v}, n, nil
	}
	steps, n, err := jsonpath.Prefix(text)
	return term{path: steps}, n, err
}

// eval returns the value, or an absent value when a single path leads nowhere. In a
// sum, terms that are missing or not numbers are ignored.
func (e expr) eval(values Values) jsonv.Value {
	if len(e) == 1 {
		return e[0].eval(values)
	}
	v := jsonv.Int(0)
	for _, t := range e {
		v = sum(v, t.eval(values), t.minus)
	}
	return v
}

func (t term) eval(values Values) jsonv.Value {
	if t.path == nil {
		return t.number
	}
	return values.follow(t.path)
}

// follow returns the value at a path.
func (values Values) follow(path []jsonpath.Step) jsonv.Value {
	v := values(path[0].Name)
	for _, step := range path[1:] {
		if step.By == nil {
			v, _ = step.Follow(v)
			continue
		}
		by := values.follow(step.By)
		if i, ok := by.Int64(); ok && v.Kind() == jsonv.KindArray {
			v = v.At(int(max(-1<<31, min(i, 1<<31-1))))
		} else {
			v = v.Lookup(textOf(by))
		}
	}
	return v
}

// maxExact bounds the length of literals that are added exactly; longer ones are
// added as floating-point numbers.
const maxExact = 60

// sum adds or subtracts two numbers. Decimals written without an exponent are
// added exactly: 0.1 + 0.2 is 0.3.
func sum(a, b jsonv.Value, minus bool) jsonv.Value {
	if a.Kind() != jsonv.KindNumber || b.Kind() != jsonv.KindNumber {
		return a // a is null once a sum is out of the range of numbers
	}
	x, places, okA := readExact(a.Literal())
	y, morePlaces, okB := readExact(b.Literal())
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

func readExact(lit string) (r *big.Rat, places int, ok bool) {
	if len(lit) > maxExact || strings.ContainsAny(lit, "eE") {
		return nil, 0, false
	}
	if at := strings.IndexByte(lit, '.'); at >= 0 {
		places = len(lit) - at - 1
	}
	r, ok = new(big.Rat).SetString(lit)
	return r, places, ok
}

// textOf returns a value for use inside a text: strings unchanged, "" for a missing
// value, all others as JSON.
func textOf(v jsonv.Value) string {
	switch v.Kind() {
	case jsonv.KindAbsent:
		return ""
	case jsonv.KindString:
		return v.Text()
	}
	return v.String()
}
