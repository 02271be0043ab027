package contain

import (
	"slices"

	"mcptest/internal/base/jsonv"
)

// Limits of the constructed arrays.
const (
	maxElements = 70
	maxDemands  = 4
)

// demand is a literal that must hold for some element.
type demand struct {
	l    lit
	from int // first possible position; to is the last
	to   int
	own  bool // no other demand of the same group may use the position
}

// arrayGoal is the conditions on an array.
type arrayGoal struct {
	b      *branch
	lo, hi int
	items  []*atom
	every  []lit // for every element
	prefix int   // all positions from here on have the same conditions
	unique bool
}

// solveArray constructs an array.
func (b *branch) solveArray() answer {
	g := &arrayGoal{b: b, items: b.listAtoms(opItems), unique: len(b.listAtoms(opUnique)) > 0}
	g.lo, g.hi = b.findLimits(opMinItems, opMaxItems)
	var demands []demand
	anywhere := 1 << 30
	for _, a := range g.items {
		g.prefix = max(g.prefix, len(a.nodes))
	}
	for _, a := range b.listNegated(opItems) {
		g.prefix = max(g.prefix, len(a.nodes))
	}
	contain := func(a *atom, n int) {
		for range min(n, maxDemands+1) {
			demands = append(demands, demand{l: pos(a.rest), to: anywhere, own: n > 1})
		}
	}
	forbid := func(a *atom, n int) {
		if n == 0 { // check decides otherwise
			g.every = append(g.every, neg(a.rest))
		}
	}
	for _, a := range b.listAtoms(opContains) {
		contain(a, a.n)
	}
	for _, a := range b.listNegated(opMaxContain) {
		contain(a, a.n+1)
	}
	for _, a := range b.listAtoms(opMaxContain) {
		forbid(a, a.n)
	}
	for _, a := range b.listNegated(opContains) {
		forbid(a, a.n-1)
	}
	if len(b.listNegated(opUnique)) > 0 {
		return g.buildRepeated(demands)
	}
	return g.chooseViolating(b.listNegated(opItems), demands)
}

// chooseViolating chooses, for each negated items, the element that violates it.
func (g *arrayGoal) chooseViolating(broken []*atom, demands []demand) answer {
	if len(broken) == 0 {
		return g.place(demands, nil)
	}
	a, best := broken[0], answer{}
	for i, n := range a.nodes {
		best = chooseBetter(best, g.chooseViolating(broken[1:], append(slices.Clone(demands), demand{
			l:    neg(n),
			from: i,
			to:   i,
		})))
		if best.st == found {
			return best
		}
	}
	rest := demand{l: neg(a.rest), from: len(a.nodes), to: 1 << 30}
	return chooseBetter(best, g.chooseViolating(broken[1:], append(slices.Clone(demands), rest)))
}

// place chooses the positions of the demands.
func (g *arrayGoal) place(demands []demand, at []int) answer {
	if len(demands) > maxDemands {
		return answer{st: unknown}
	}
	if len(at) == len(demands) {
		return g.build(demands, at)
	}
	g.b.s.steps++
	if g.b.s.steps > g.b.s.limit {
		return answer{st: unknown}
	}
	d, best := demands[len(at)], answer{}
	for i := d.from; i <= min(d.to, g.prefix+len(demands)-1, g.hi-1); i++ {
		taken := slices.IndexFunc(at, func(j int) bool { return j == i })
		if d.own && taken >= 0 && demands[taken].l.id() == d.l.id() {
			continue
		}
		best = chooseBetter(best, g.place(demands, append(slices.Clone(at), i)))
		if best.st == found {
			break
		}
	}
	return best
}

// at returns the conditions on the element at an index.
func (g *arrayGoal) at(i int) []lit {
	goal := slices.Clone(g.every)
	for _, a := range g.items {
		if i < len(a.nodes) {
			goal = append(goal, pos(a.nodes[i]))
		} else {
			goal = append(goal, pos(a.rest))
		}
	}
	return goal
}

func (g *arrayGoal) build(demands []demand, at []int) answer {
	n := g.lo
	for _, i := range at {
		n = max(n, i+1)
	}
	if n > g.hi {
		return answer{}
	}
	if n > maxElements {
		return answer{st: unknown}
	}
	var out []jsonv.Value
	for i := range n {
		goal := g.at(i)
		for d, j := range at {
			if j == i {
				goal = append(goal, demands[d].l)
			}
		}
		if g.unique && len(out) > 0 {
			goal = append(goal, lit{
				a:   &atom{id: g.b.s.newID(), op: opEnum, on: tAll, values: slices.Clone(out)},
				neg: true,
			})
		}
		got := g.b.s.solve(goal, g.b.depth+1)
		if got.st == unknown {
			return answer{st: unknown}
		}
		if got.st == empty {
			hasChoices := g.prefix > 0 || len(demands) > 0
			if g.unique && len(out) > 0 && hasChoices {
				return answer{st: unknown} // another value before it might leave one
			}
			return answer{}
		}
		out = append(out, got.v)
	}
	return g.check(jsonv.Array(out...))
}

// check evaluates the conditions that the construction does not guarantee.
func (g *arrayGoal) check(v jsonv.Value) answer {
	if got := g.b.try(v); got.st != empty {
		return got
	}
	return answer{st: unknown}
}

// fill constructs an array of n elements, of which two are the same; false if there is no
// other element.
func (g *arrayGoal) fill(n, i, j int, same jsonv.Value) (jsonv.Value, bool) {
	out := make([]jsonv.Value, 0, n)
	for k := range n {
		if k == i || k == j {
			out = append(out, same)
			continue
		}
		e := g.b.s.solve(g.at(k), g.b.depth+1)
		if e.st < maybe {
			return jsonv.Value{}, false
		}
		out = append(out, e.v)
	}
	return jsonv.Array(out...), true
}

// buildRepeated constructs an array with two equal elements.
func (g *arrayGoal) buildRepeated(demands []demand) answer {
	if g.unique || g.hi < 2 {
		return answer{}
	}
	best := answer{}
	for j := 1; j <= min(g.prefix+1, g.hi-1); j++ {
		for i := range j {
			n := max(g.lo, j+1)
			if n > maxElements {
				return answer{st: unknown}
			}
			same := g.b.s.solve(append(g.at(i), g.at(j)...), g.b.depth+1)
			if same.st < maybe {
				best = chooseBetter(best, same)
				continue
			}
			whole, ok := g.fill(n, i, j, same.v)
			if !ok {
				return chooseBetter(best, answer{st: unknown})
			}
			best = chooseBetter(best, g.check(whole))
			if best.st == found {
				return best
			}
		}
	}
	if best.st == empty && (len(demands) > 0 || len(g.b.listNegated(opItems)) > 0) {
		best.st = unknown
	}
	return best
}
