package contain

import (
	"math/big"
	"slices"
	"unicode/utf8"

	"mcptest/internal/base/jsonv"
)

// truth is the value of a literal, if it can be determined.
type truth uint8

const (
	no truth = iota
	unsure
	yes
)

func truthOf(b bool) truth {
	if b {
		return yes
	}
	return no
}

func (t truth) not() truth { return yes - t }

// maxEval limits the depth of the evaluated schemas and values.
const maxEval = 60

// holds evaluates a conjunction.
func (s *solver) holds(goal []lit, v jsonv.Value, depth int) truth {
	all := yes
	for _, l := range goal {
		t := unsure
		s.steps++
		if l.n != nil {
			t = s.evalNode(l.n, v, depth)
		} else {
			t = s.evalAtom(l.a, v, depth)
		}
		if l.neg {
			t = t.not()
		}
		if all = min(all, t); all == no {
			return no
		}
	}
	return all
}

func (s *solver) evalNode(n *node, v jsonv.Value, depth int) truth {
	if depth > maxEval || s.steps > s.limit {
		return unsure
	}
	all := yes
	for _, a := range n.atoms {
		if all = min(all, s.evalAtom(a, v, depth+1)); all == no {
			return no
		}
	}
	return all
}

func (s *solver) evalAtom(a *atom, v jsonv.Value, depth int) truth {
	if v.Kind() == jsonv.KindNumber && parseRat(v) == nil {
		return unsure
	}
	t := findType(v)
	if a.op == opTypes {
		return truthOf(a.on&t != 0)
	}
	if a.on&t == 0 {
		return yes
	}
	switch a.op {
	case opEnum:
		return truthOf(s.isAmong(a, v))
	case opOpaque:
		return unsure
	case opNode:
		return s.evalNode(a.rest, v, depth+1)
	case opNot:
		return s.evalNode(a.rest, v, depth+1).not()
	case opAny, opOne:
		return s.evalSome(a, v, depth)
	}
	switch t {
	case tString:
		return evalText(a, v.Text())
	case tArray:
		return s.evalArray(a, v, depth)
	case tObject:
		return s.evalObject(a, v, depth)
	}
	return truthOf(holdsNumber(a, parseRat(v)))
}

// isAmong reports whether v is one of the values of an enum, which may be long.
func (s *solver) isAmong(a *atom, v jsonv.Value) bool {
	values, ok := s.enums[a]
	if !ok {
		values = make(map[uint64]bool, len(a.values))
		for _, e := range a.values {
			values[s.hash.Hash(e)] = true
		}
		s.enums[a] = values
	}
	return values[s.hash.Hash(v)]
}

func (s *solver) evalSome(a *atom, v jsonv.Value, depth int) truth {
	count := [3]int{}
	for _, n := range a.nodes {
		count[s.evalNode(n, v, depth+1)]++
	}
	switch {
	case a.op == opAny && count[yes] > 0, a.op == opOne && count[yes] == 1 && count[unsure] == 0:
		return yes
	case a.op == opOne && count[yes] > 1, count[yes]+count[unsure] == 0:
		return no
	}
	return unsure
}

func holdsNumber(a *atom, r *big.Rat) bool {
	switch a.op {
	case opMin:
		c := r.Cmp(a.num)
		return c > 0 || c == 0 && !a.strict
	case opMax:
		c := r.Cmp(a.num)
		return c < 0 || c == 0 && !a.strict
	}
	return new(big.Rat).Quo(r, a.num).IsInt()
}

func evalText(a *atom, s string) truth {
	switch a.op {
	case opMinLength:
		return truthOf(utf8.RuneCountInString(s) >= a.n)
	case opMaxLength:
		return truthOf(utf8.RuneCountInString(s) <= a.n)
	case opPattern:
		return truthOf(a.re.MatchString(s))
	}
	return unsure
}

func (s *solver) evalArray(a *atom, v jsonv.Value, depth int) truth {
	switch a.op {
	case opMinItems:
		return truthOf(v.Len() >= a.n)
	case opMaxItems:
		return truthOf(v.Len() <= a.n)
	case opUnique:
		var seen []jsonv.Value
		for _, e := range v.Elems() {
			if contains(seen, e) {
				return no
			}
			seen = append(seen, e)
		}
		return yes
	case opItems:
		all := yes
		for i, e := range v.Elems() {
			n := a.rest
			if i < len(a.nodes) {
				n = a.nodes[i]
			}
			all = min(all, s.evalNode(n, e, depth+1))
		}
		return all
	}
	count := [3]int{}
	for _, e := range v.Elems() {
		count[s.evalNode(a.rest, e, depth+1)]++
	}
	if a.op == opContains {
		return judgeWithin(count[yes] >= a.n, count[yes]+count[unsure] >= a.n)
	}
	return judgeWithin(count[yes]+count[unsure] <= a.n, count[yes] <= a.n)
}

func judgeWithin(sure, possible bool) truth {
	switch {
	case sure:
		return yes
	case possible:
		return unsure
	}
	return no
}

func (s *solver) evalObject(a *atom, v jsonv.Value, depth int) truth {
	keys := v.Keys()
	slices.Sort(keys)
	keys = slices.Compact(keys)
	switch a.op {
	case opRequired:
		return truthOf(slices.Contains(keys, a.text))
	case opMinProps:
		return truthOf(len(keys) >= a.n)
	case opMaxProps:
		return truthOf(len(keys) <= a.n)
	}
	all := yes
	for _, k := range keys {
		e, _ := v.Get(k)
		switch {
		case a.op == opNames:
			all = min(all, s.evalNode(a.rest, jsonv.String(k), depth+1))
		case a.covers(k):
			all = min(all, s.evalNode(a.rest, e, depth+1))
		}
	}
	return all
}
