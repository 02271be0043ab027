package contain

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lists"
)

// maxKeyWork limits the nodes that are visited to compare schemas by meaning.
const maxKeyWork = 200_000

// makeMeaning returns a text that two literals share only if they hold for the same
// values. With it, A and not A contradict each other without being expanded.
func (s *solver) makeMeaning(l lit) string {
	key := ""
	if l.n != nil {
		key = s.makeNodeKey(l.n, nil)
	} else {
		key = s.makeAtomKey(l.a, nil)
	}
	if l.neg {
		return "-" + key
	}
	return key
}

// makeNodeKey describes a schema with its references followed. A reference to a
// schema that is being described is its distance from the first one: schemas
// with equal descriptions unfold into the same tree.
func (s *solver) makeNodeKey(n *node, above []*node) string {
	if n.key != "" && (!n.recursive || len(above) == 0) {
		return n.key
	}
	if i := slices.Index(above, n); i >= 0 {
		s.backs++
		return "^" + strconv.Itoa(i)
	}
	s.keyWork++
	if s.keyWork > maxKeyWork || len(above) > 200 {
		return "#" + strconv.Itoa(n.id)
	}
	before := s.backs
	above = append(slices.Clone(above), n)
	parts := lists.Map(n.atoms, func(a *atom) string { return s.makeAtomKey(a, above) })
	slices.Sort(parts)
	key := shorten("(" + strings.Join(parts, "&") + ")")
	// The meaning of a reference to an outer schema depends on its place.
	if s.backs == before || len(above) == 1 {
		n.key, n.recursive = key, s.backs != before
	}
	return key
}

func (s *solver) makeAtomKey(a *atom, above []*node) string {
	var b strings.Builder
	b.WriteString(strconv.Itoa(int(a.op)) + ":" + strconv.Itoa(int(a.on)) + ":" + strconv.Itoa(a.n) + ":" + strconv.Quote(a.text))
	if a.num != nil {
		b.WriteString(":" + a.num.RatString())
	}
	if a.strict {
		b.WriteString(":strict")
	}
	parts := lists.Map(a.values, makeValueKey)
	slices.Sort(parts)
	names := slices.Sorted(slices.Values(a.names))
	for _, re := range a.res {
		names = append(names, "/"+re.String())
	}
	b.WriteString(strings.Join(parts, ",") + strconv.Quote(strings.Join(names, "\x00")))
	for _, n := range a.nodes {
		b.WriteString("|" + s.makeNodeKey(n, above))
	}
	if a.rest != nil {
		b.WriteString("=" + s.makeNodeKey(a.rest, above))
	}
	return shorten(b.String())
}

// makeValueKey describes a value; equal values have equal descriptions.
func makeValueKey(v jsonv.Value) string {
	switch v.Kind() {
	case jsonv.KindNumber:
		if r := parseRat(v); r != nil {
			return r.RatString()
		}
	case jsonv.KindArray:
		return "[" + strings.Join(lists.Map(v.List(), makeValueKey), ",") + "]"
	case jsonv.KindObject:
		var parts []string
		for _, k := range v.Keys() {
			e, _ := v.Get(k)
			parts = append(parts, strconv.Quote(k)+":"+makeValueKey(e))
		}
		slices.Sort(parts)
		return "{" + strings.Join(slices.Compact(parts), ",") + "}"
	}
	return v.String()
}

func shorten(s string) string {
	if len(s) <= 64 {
		return s
	}
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:16])
}
