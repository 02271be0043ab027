package contain

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lists"
)

// Verdict is the result of a comparison.
type Verdict uint8

// The verdicts.
const (
	Undecided Verdict = iota
	Contained         // every value that a accepts is accepted by b
	Escapes           // a accepts the witness, b does not
)

// Options of a comparison.
type Options struct {
	// Declared compares the arguments of a tool: it ignores values of a that are no
	// objects, or have properties that a neither declares nor requires, unless a has a
	// keyword that allows them.
	Declared bool
	// Steps is how many steps a series of comparisons may still take; nil is no limit.
	Steps *int
}

// Limits of one comparison. MaxSteps bounds its time, so that the verdict does not
// depend on the speed of the machine.
const (
	MaxSteps = 30_000
	maxDepth = 24
)

// Check compares two schemas.
func Check(ctx context.Context, a, b *Schema, o Options) (Verdict, jsonv.Value) {
	got := search(a.Doc, b.Doc, o)
	if got.st == empty && (!jsonv.Equal(a.near, a.Doc) || !jsonv.Equal(b.near, b.Doc)) {
		got = search(a.near, b.near, o) // numbers that only differ in exact arithmetic
	}
	switch got.st {
	case empty:
		return Contained, jsonv.Value{}
	case found, maybe:
		if Confirms(ctx, a, b, got.v) {
			return Escapes, got.v
		}
	}
	return Undecided, jsonv.Value{}
}

// search looks for a value that a accepts and b rejects.
func search(a, b jsonv.Value, o Options) answer {
	s := newSolver()
	if o.Steps != nil {
		s.limit = min(s.limit, *o.Steps)
		defer func() { *o.Steps -= s.steps }()
	}
	goal := []lit{pos(s.compile(a, o.Declared)), neg(s.compile(b, false))}
	if o.Declared {
		goal = append(goal, lit{a: &atom{id: s.newID(), op: opTypes, on: tObject}})
	}
	names, declares, open := s.collectDeclared(goal)
	if o.Declared && !declares && !open {
		goal = append(goal, lit{a: s.forbidOthers(names)}) // the arguments of a tool that declares none
	}
	return s.solve(goal, 0)
}

// status is the result for a set of literals. A higher one is better.
type status uint8

const (
	empty   status = iota // proved: no value
	unknown               // not decided
	maybe                 // v fits, except for unsupported keywords
	found                 // v fits
)

type answer struct {
	st status
	v  jsonv.Value
}

// chooseBetter returns the more useful of the results of two alternatives.
func chooseBetter(a, b answer) answer {
	if b.st > a.st {
		return b
	}
	return a
}

type solver struct {
	ids, steps, limit int
	active            map[string]bool   // goals that are being solved
	memo              map[string]answer // goals that were solved
	reentered         int               // how often a goal led back to itself
	anything, nothing *node
	keyWork, backs    int // of descriptions: nodes visited, references back
	hash              *jsonv.Hasher
	enums             map[*atom]map[uint64]bool // hashes of their values, set on demand
}

func newSolver() *solver {
	s := &solver{
		limit:  MaxSteps,
		active: map[string]bool{},
		memo:   map[string]answer{},
		hash:   jsonv.NewHasher(),
		enums:  map[*atom]map[uint64]bool{},
	}
	s.anything = &node{id: s.newID()}
	s.nothing = &node{id: s.newID(), atoms: []*atom{{id: s.newID(), op: opTypes}}}
	return s
}

func (s *solver) newID() int { s.ids++; return s.ids }

// solve searches for a value for which all literals of a goal hold.
//
// If a goal leads to itself one level deeper, this way has no value: among all values
// of the goal, one with the least nesting does not contain another one.
func (s *solver) solve(goal []lit, depth int) answer {
	s.steps++
	if s.steps > s.limit || depth > maxDepth {
		return answer{st: unknown}
	}
	key := makeGoalKey(goal)
	if s.active[key] {
		s.reentered++
		return answer{}
	}
	if a, ok := s.memo[key]; ok {
		return a
	}
	s.active[key] = true
	before := s.reentered
	b := &branch{
		s:     s,
		goal:  goal,
		depth: depth,
		types: tAll,
		has:   map[int]bool{},
		keys:  map[string]bool{},
	}
	if names, declares, open := s.collectDeclared(goal); declares && !open {
		b.goal = append(slices.Clone(goal), lit{a: s.forbidOthers(names)})
	}
	a := b.expand(b.goal)
	delete(s.active, key)
	if s.reentered == before || a.st == found {
		s.memo[key] = a
	}
	return a
}

func makeGoalKey(goal []lit) string {
	ids := lists.Map(goal, func(l lit) int { return l.id() })
	slices.Sort(ids)
	var b strings.Builder
	for _, id := range slices.Compact(ids) {
		b.WriteString(strconv.Itoa(id) + " ")
	}
	return b.String()
}

// forbidOthers returns an atom that forbids all properties except the named ones.
func (s *solver) forbidOthers(names []string) *atom {
	return &atom{id: s.newID(), op: opAdditional, on: tObject, names: names, rest: s.nothing}
}

// collectDeclared collects the properties that the closing schemas of a goal declare,
// including those of schemas that apply in place, and reports whether one of them
// allows others.
func (s *solver) collectDeclared(goal []lit) (names []string, declares, open bool) {
	seen, least := map[*node]bool{}, 0
	var visit func(n *node)
	visit = func(n *node) {
		if seen[n] {
			return
		}
		seen[n] = true
		declares = declares || n.closes && n.declares
		open = open || n.open
		names = append(names, n.declared...)
		for _, a := range n.atoms {
			switch a.op {
			case opMinProps:
				least = max(least, a.n)
			case opNode:
				visit(a.rest)
			case opAny, opOne:
				for _, m := range a.nodes {
					visit(m)
				}
			}
		}
	}
	for _, l := range goal {
		if l.n != nil && !l.neg && l.n.closes {
			visit(l.n)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	return names, declares, open || least > len(names)
}
