package contain

import (
	"maps"
	"slices"
	"strconv"

	"mcptest/internal/base/jsonschema"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lists"
)

// objectGoal is the conditions on an object.
type objectGoal struct {
	b          *branch
	names      []string // mentioned by the schemas
	props      []*atom
	patterns   []*atom
	additional []*atom
	keys       []lit // for every name
	must, not  map[string]bool
	lo, hi     int
	incomplete bool // a failed construction proves nothing
}

// memberWish is a property that must exist under one of several names.
type memberWish struct {
	extra []lit
	names []string
}

// solveObject constructs an object.
func (b *branch) solveObject() answer {
	g := &objectGoal{
		b:          b,
		props:      b.listAtoms(opProperty),
		patterns:   b.listAtoms(opPattProp),
		additional: b.listAtoms(opAdditional),
		must:       map[string]bool{}, not: map[string]bool{},
	}
	g.lo, g.hi = b.findLimits(opMinProps, opMaxProps)
	if g.lo > g.hi {
		return answer{}
	}
	if g.lo > maxElements {
		return answer{st: unknown}
	}
	for _, a := range b.listAtoms(opNames) {
		g.keys = append(g.keys, pos(a.rest))
	}
	for _, a := range b.listAtoms(opRequired) {
		g.must[a.text] = true
	}
	for _, a := range b.listNegated(opRequired) {
		g.not[a.text] = true
	}
	g.collectMentioned()
	g.incomplete = len(g.patterns) > 0 || len(b.listNegated(opPattProp)) > 0 ||
		slices.ContainsFunc(b.atoms, func(l lit) bool { return l.a.op == opAdditional && len(l.a.res) > 0 })
	members := map[string][]lit{}
	for k := range g.must {
		members[k] = nil
	}
	for _, a := range b.listNegated(opProperty) {
		members[a.text] = append(members[a.text], neg(a.rest))
	}
	got := g.grant(g.wishes(), members)
	if got.st == empty && g.incomplete {
		got.st = unknown
	}
	return got
}

// collectMentioned collects the names with different conditions in the goal.
func (g *objectGoal) collectMentioned() {
	names := map[string]bool{}
	for _, l := range g.b.atoms {
		switch l.a.op {
		case opProperty, opRequired:
			names[l.a.text] = true
		case opAdditional:
			for _, n := range l.a.names {
				names[n] = true
			}
		}
	}
	g.names = slices.Sorted(maps.Keys(names))
}

// wishes returns the requirements of negated atoms on some property.
func (g *objectGoal) wishes() []memberWish {
	var out []memberWish
	for _, a := range g.b.listNegated(opAdditional) {
		w := memberWish{extra: []lit{neg(a.rest)}}
		for _, n := range append(slices.Clone(g.names), g.listFresh(len(out))...) {
			if !a.declares(n) {
				w.names = append(w.names, n)
			}
		}
		out = append(out, w)
	}
	for _, a := range g.b.listNegated(opPattProp) {
		w := memberWish{extra: []lit{neg(a.rest)}}
		words, _ := jsonschema.ListWords(a.text, 0)
		for _, n := range append(slices.Clone(g.names), words[:min(len(words), 8)]...) {
			if a.re.MatchString(n) {
				w.names = append(w.names, n)
			}
		}
		out = append(out, w)
	}
	for _, a := range g.b.listNegated(opNames) {
		w := memberWish{}
		bad := lit{n: a.rest, neg: true}
		for _, n := range append(slices.Clone(g.names), g.listFresh(len(out))...) {
			if g.b.s.holds([]lit{bad}, jsonv.String(n), 0) == yes {
				w.names = append(w.names, n)
			}
		}
		goal := append([]lit{bad, {a: &atom{
			id: g.b.s.newID(),
			op: opTypes,
			on: tString,
		}}}, g.keys...)
		switch other := g.b.s.solve(goal, g.b.depth+1); other.st {
		case empty:
		case unknown:
			g.incomplete = true
		default:
			w.names, g.incomplete = append(w.names, other.v.Text()), true
		}
		out = append(out, w)
	}
	return out
}

// makeFreshName returns a name that no schema mentions and no pattern matches, "" for none.
func (g *objectGoal) makeFreshName(i int) string {
	for _, stem := range []string{"other", "x", "_", "0"} {
		for j := i; j < i+4; j++ {
			name := stem
			if j > 0 {
				name += strconv.Itoa(j)
			}
			if !g.mentions(name) && g.nameFits(name) == yes {
				return name
			}
		}
	}
	return ""
}

// mentions reports whether a schema mentions a name, or a pattern of one matches it.
func (g *objectGoal) mentions(name string) bool {
	return slices.Contains(g.names, name) || slices.ContainsFunc(g.b.atoms, func(l lit) bool {
		switch l.a.op {
		case opPattProp:
			return l.a.re != nil && l.a.re.MatchString(name)
		case opAdditional:
			return len(l.a.res) > 0 && (&atom{res: l.a.res}).declares(name)
		}
		return false
	})
}

// listFresh returns names that no schema mentions: one that no pattern matches, and
// samples of the patterns.
func (g *objectGoal) listFresh(i int) []string {
	out := []string{}
	if name := g.makeFreshName(i); name != "" {
		out = append(out, name)
	}
	if len(out) == 0 || len(g.keys) > 0 {
		g.incomplete = true
	}
	if len(g.keys) > 0 {
		goal := append([]lit{{a: &atom{
			id: g.b.s.newID(),
			op: opTypes,
			on: tString,
		}}}, g.keys...)
		got := g.b.s.solve(goal, g.b.depth+1)
		if got.st >= maybe && !slices.Contains(g.names, got.v.Text()) {
			out = append(out, got.v.Text())
		}
	}
	for _, a := range g.patterns {
		words, _ := jsonschema.ListWords(a.text, 0)
		for _, w := range words[:min(len(words), 4)] {
			if !slices.Contains(g.names, w) {
				out = append(out, w)
			}
		}
	}
	return out
}

func (g *objectGoal) nameFits(name string) truth { return g.b.s.holds(g.keys, jsonv.String(name), 0) }

// at returns the conditions on a property.
func (g *objectGoal) at(name string) []lit {
	var goal []lit
	for _, a := range slices.Concat(g.props, g.patterns, g.additional) {
		if a.covers(name) {
			goal = append(goal, pos(a.rest))
		}
	}
	return goal
}

// grant chooses the names of the wishes.
func (g *objectGoal) grant(wishes []memberWish, members map[string][]lit) answer {
	if len(wishes) == 0 {
		return g.build(members)
	}
	best := answer{}
	for _, name := range wishes[0].names {
		next := maps.Clone(members)
		next[name] = append(slices.Clone(next[name]), wishes[0].extra...)
		best = chooseBetter(best, g.grant(wishes[1:], next))
		if best.st == found {
			break
		}
	}
	// Two wishes may need the same name that no schema mentions.
	if best.st == empty && len(wishes) > 1 && g.hi < maxElements {
		best.st = unknown
	}
	return best
}

// solveProperty finds a value of one property; absence is decided elsewhere.
func (g *objectGoal) solveProperty(name string, extra []lit) answer {
	if g.not[name] {
		return answer{}
	}
	got := answer{}
	switch g.nameFits(name) {
	case no:
		return answer{}
	case unsure:
		if got = g.b.s.solve(append(g.at(name), extra...), g.b.depth+1); got.st == found {
			got.st = maybe
		}
	case yes:
		got = g.b.s.solve(append(g.at(name), extra...), g.b.depth+1)
	}
	return got
}

func (g *objectGoal) build(members map[string][]lit) answer {
	if len(members) > g.hi {
		return answer{}
	}
	values := map[string]jsonv.Value{}
	doubt := false
	for _, k := range slices.Sorted(maps.Keys(members)) {
		switch got := g.solveProperty(k, members[k]); got.st {
		case empty:
			return answer{}
		case unknown:
			doubt = true
		default:
			values[k] = got.v
		}
	}
	if doubt {
		return answer{st: unknown}
	}
	for len(values) < g.lo {
		switch got := g.fill(values); got {
		case empty:
			return answer{}
		case unknown:
			return answer{st: unknown}
		}
	}
	out := lists.Map(slices.Sorted(maps.Keys(values)), func(k string) jsonv.Member {
		return jsonv.Member{Key: k, Value: values[k]}
	})
	if got := g.b.try(jsonv.Object(out...)); got.st != empty {
		return got
	}
	return answer{st: unknown}
}

// fill adds one optional property. Names that no schema mentions are interchangeable,
// so one more name than there are properties is enough.
func (g *objectGoal) fill(values map[string]jsonv.Value) status {
	names := slices.Clone(g.names)
	for i := range len(values) + 1 {
		names = append(names, g.listFresh(i)...)
	}
	failed := empty
	for _, n := range names {
		if _, taken := values[n]; taken {
			continue
		}
		got := g.solveProperty(n, nil)
		if got.st >= maybe {
			values[n] = got.v
			return got.st
		}
		failed = max(failed, got.st)
	}
	if g.incomplete {
		return unknown
	}
	return failed
}
