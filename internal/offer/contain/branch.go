package contain

import (
	"maps"
	"slices"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lists"
)

// branch is one way to resolve the alternatives of a goal.
type branch struct {
	s      *solver
	goal   []lit // everything that must hold
	depth  int
	types  types
	has    map[int]bool    // literals that were added, by id
	keys   map[string]bool // the same by meaning, "-" in front of negated ones
	atoms  []lit           // of one type
	either [][][]lit       // alternatives that are not resolved
	dead   bool
}

func (b *branch) clone() *branch {
	c := *b
	c.has, c.keys = maps.Clone(b.has), maps.Clone(b.keys)
	c.atoms, c.either = slices.Clone(b.atoms), slices.Clone(b.either)
	return &c
}

// expand adds literals, then resolves the alternatives.
func (b *branch) expand(work []lit) answer {
	b.s.steps++
	if b.s.steps > b.s.limit {
		return answer{st: unknown}
	}
	b.add(work)
	if b.dead || b.types == 0 {
		return answer{}
	}
	for _, l := range b.atoms {
		if l.a.op == opEnum && !l.neg {
			return b.choose(l.a.values)
		}
	}
	if hint := b.hint(); hint.st == found {
		return hint
	}
	if len(b.either) == 0 {
		return b.construct()
	}
	// Start with few alternatives, because they fail early.
	i := 0
	for j := range b.either {
		if len(b.either[j]) < len(b.either[i]) {
			i = j
		}
	}
	alternatives := b.either[i]
	b.either = slices.Delete(slices.Clone(b.either), i, i+1)
	best := answer{}
	for _, alt := range alternatives {
		best = chooseBetter(best, b.clone().expand(alt))
		if best.st == found {
			break
		}
	}
	return best
}

// choose tries the given values; no others are possible.
func (b *branch) choose(values []jsonv.Value) answer {
	best := answer{}
	for _, v := range values {
		best = chooseBetter(best, b.try(v))
	}
	return best
}

// try evaluates the whole goal for a value.
func (b *branch) try(v jsonv.Value) answer {
	switch b.s.holds(b.goal, v, 0) {
	case yes:
		return answer{found, v}
	case no:
		return answer{}
	}
	return answer{maybe, v}
}

// hint tries the defaults and examples of the schemas, because they are witnesses
// that people understand.
func (b *branch) hint() answer {
	for _, l := range b.goal {
		if l.n == nil || l.neg {
			continue
		}
		for _, v := range l.n.hints {
			if k := v.Kind(); k == jsonv.KindArray || k == jsonv.KindObject {
				continue
			}
			if a := b.try(v); a.st == found {
				return a
			}
		}
	}
	return answer{}
}

// add resolves literals that have no alternatives.
func (b *branch) add(work []lit) {
	work = slices.Clone(work) // goals and alternatives are shared between branches
	for len(work) > 0 && !b.dead {
		l := work[len(work)-1]
		work = work[:len(work)-1]
		if b.has[l.id()] {
			continue
		}
		b.has[l.id()] = true
		same, opposite := b.s.makeMeaning(l), b.s.makeMeaning(lit{l.n, l.a, !l.neg})
		if b.keys[opposite] {
			b.dead = true
			return
		}
		if b.keys[same] {
			continue
		}
		b.keys[same] = true
		if l.n != nil {
			work = b.addNode(l, work)
		} else {
			work = b.addAtom(l, work)
		}
	}
}

func (b *branch) addNode(l lit, work []lit) []lit {
	if !l.neg {
		return append(work, lists.Map(l.n.atoms, func(a *atom) lit { return lit{a: a} })...)
	}
	switch len(l.n.atoms) {
	case 0:
		b.dead = true
		return nil
	case 1:
		return append(work, lit{a: l.n.atoms[0], neg: true})
	}
	alt := lists.Map(l.n.atoms, func(a *atom) []lit { return []lit{{a: a, neg: true}} })
	b.either = append(b.either, alt)
	return work
}

func (b *branch) addAtom(l lit, work []lit) []lit {
	a := l.a
	if l.neg && a.op != opTypes {
		b.types &= a.on
	}
	switch a.op {
	case opTypes:
		if l.neg {
			b.types &^= a.on
		} else {
			b.types &= a.on
		}
	case opNode:
		return append(work, lit{n: a.rest, neg: l.neg})
	case opNot:
		return append(work, lit{n: a.rest, neg: !l.neg})
	case opAny:
		if l.neg {
			return append(work, lists.Map(a.nodes, neg)...)
		}
		b.either = append(b.either, lists.Map(a.nodes, func(n *node) []lit {
			return []lit{pos(n)}
		}))
	case opOne:
		b.either = append(b.either, splitCases(a.nodes, l.neg))
	default:
		b.atoms = append(b.atoms, l)
	}
	return work
}

// splitCases returns the ways in which exactly one of the nodes holds, or, if negated,
// none or two of them.
func splitCases(nodes []*node, negated bool) [][]lit {
	var out [][]lit
	for i, n := range nodes {
		if negated {
			for _, m := range nodes[i+1:] {
				out = append(out, []lit{pos(n), pos(m)})
			}
			continue
		}
		only := []lit{pos(n)}
		for j, m := range nodes {
			if j != i {
				only = append(only, neg(m))
			}
		}
		out = append(out, only)
	}
	if negated {
		out = append(out, lists.Map(nodes, neg))
	}
	return out
}

// construct builds a value of one of the remaining types.
func (b *branch) construct() answer {
	best := answer{}
	for _, t := range []struct {
		on    types
		build func() answer
	}{
		{tString, b.solveText},
		{tNumber, b.solveNumber},
		{tBool, func() answer { return b.choose([]jsonv.Value{jsonv.Bool(true), jsonv.Bool(false)}) }},
		{tObject, b.solveObject},
		{tArray, b.solveArray},
		{tNull, func() answer { return b.choose([]jsonv.Value{jsonv.Null()}) }},
	} {
		if b.types&t.on != 0 {
			got := t.build()
			if got.st == found && b.isOpaque(t.on) {
				got.st = maybe
			}
			best = chooseBetter(best, got)
		}
		if best.st == found {
			break
		}
	}
	return best
}

// isOpaque reports whether a condition on values of a type is not supported.
func (b *branch) isOpaque(on types) bool {
	return slices.ContainsFunc(b.atoms, func(l lit) bool { return l.a.op == opOpaque && l.a.on&on != 0 })
}

// listAtoms returns the atoms with an operator that are not negated.
func (b *branch) listAtoms(o op) []*atom {
	var out []*atom
	for _, l := range b.atoms {
		if l.a.op == o && !l.neg {
			out = append(out, l.a)
		}
	}
	return out
}

// listNegated returns the negated atoms with an operator.
func (b *branch) listNegated(o op) []*atom {
	var out []*atom
	for _, l := range b.atoms {
		if l.a.op == o && l.neg {
			out = append(out, l.a)
		}
	}
	return out
}

// findLimits returns the minimum and maximum count that two kinds of atoms allow.
func (b *branch) findLimits(least, most op) (lo, hi int) {
	hi = 1 << 31
	for _, a := range b.listAtoms(least) {
		lo = max(lo, a.n)
	}
	for _, a := range b.listNegated(most) {
		lo = max(lo, a.n+1)
	}
	for _, a := range b.listAtoms(most) {
		hi = min(hi, a.n)
	}
	for _, a := range b.listNegated(least) {
		hi = min(hi, a.n-1)
	}
	return lo, hi
}

// listExcluded returns the values that negated enums forbid.
func (b *branch) listExcluded() []jsonv.Value {
	var out []jsonv.Value
	for _, a := range b.listNegated(opEnum) {
		out = append(out, a.values...)
	}
	return out
}

func contains(list []jsonv.Value, v jsonv.Value) bool {
	return slices.ContainsFunc(list, func(e jsonv.Value) bool { return jsonv.Equal(e, v) })
}
