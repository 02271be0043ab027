package contain

import (
	"math/big"
	"regexp"
	"slices"

	"mcptest/internal/base/jsonv"
)

// types is a set of JSON types; integers are separate from other numbers.
type types uint8

const (
	tNull types = 1 << iota
	tBool
	tInt
	tFraction
	tString
	tArray
	tObject
	tNumber = tInt | tFraction
	tAll    = tNull | tBool | tNumber | tString | tArray | tObject
)

var typeNames = map[string]types{
	"null": tNull, "boolean": tBool, "integer": tInt, "number": tNumber, "string": tString, "array": tArray, "object": tObject,
}

func findType(v jsonv.Value) types {
	switch v.Kind() {
	case jsonv.KindBool:
		return tBool
	case jsonv.KindNumber:
		if r := parseRat(v); r != nil && r.IsInt() {
			return tInt
		}
		return tFraction
	case jsonv.KindString:
		return tString
	case jsonv.KindArray:
		return tArray
	case jsonv.KindObject:
		return tObject
	}
	return tNull
}

// op is the kind of assertion of an atom.
type op uint8

const (
	opTypes      op = iota // the type is one of on
	opEnum                 // the value is one of values
	opMin                  // number ≥ num, > if strict
	opMax                  // number ≤ num, < if strict
	opMultiple             // a multiple of num
	opMinLength            // n
	opMaxLength            // n
	opPattern              // re
	opItems                // nodes are the first elements, rest the others
	opContains             // at least n elements match rest
	opMaxContain           // at most n elements match rest
	opMinItems             // n
	opMaxItems             // n
	opUnique               // no two elements are equal
	opProperty             // the property text, if present, matches rest
	opPattProp             // properties that match re match rest
	opAdditional           // properties neither in names nor matched by res match rest
	opRequired             // the property text is present
	opMinProps             // n
	opMaxProps             // n
	opNames                // property names match rest
	opAny                  // one of nodes
	opOne                  // exactly one of nodes
	opNot                  // not rest
	opNode                 // rest
	opOpaque               // not supported
)

// atom is one assertion. Except for opTypes, it holds for every value whose type
// is not in on.
type atom struct {
	id     int
	op     op
	on     types
	values []jsonv.Value
	num    *big.Rat
	strict bool
	n      int
	text   string
	re     *regexp.Regexp
	names  []string
	res    []*regexp.Regexp
	nodes  []*node
	rest   *node
}

// node is a schema: the conjunction of its atoms.
type node struct {
	id    int
	atoms []*atom
	hints []jsonv.Value // defaults, examples
	key   string        // equal keys: equal meaning; set on demand
	// recursive is set if the key is only valid for this node.
	recursive bool
	// Of a schema whose instances have only declared properties (closes): those
	// that it declares or requires itself, whether it has the keyword that
	// declares them, and whether a keyword allows others.
	closes, declares, open bool
	declared               []string
}

// declares reports whether an additional atom excludes a name because another keyword
// covers it.
func (a *atom) declares(name string) bool {
	return slices.Contains(a.names, name) || slices.ContainsFunc(a.res, func(re *regexp.Regexp) bool { return re.MatchString(name) })
}

// covers reports whether the property of a name must match the atom's schema.
func (a *atom) covers(name string) bool {
	switch a.op {
	case opProperty:
		return a.text == name
	case opPattProp:
		return a.re.MatchString(name)
	}
	return a.op == opAdditional && !a.declares(name)
}

// lit is an atom or a node, or its negation.
type lit struct {
	n   *node
	a   *atom
	neg bool
}

func pos(n *node) lit { return lit{n: n} }
func neg(n *node) lit { return lit{n: n, neg: true} }

func (l lit) id() int {
	id := 0
	if l.n != nil {
		id = l.n.id
	} else {
		id = l.a.id
	}
	if l.neg {
		return -id
	}
	return id
}
