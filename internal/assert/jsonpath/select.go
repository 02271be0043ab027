package jsonpath

import (
	"strings"

	"mcptest/internal/base/jsonv"
)

// Follow follows a step that selects at most one value.
func (s *Step) Follow(v jsonv.Value) (jsonv.Value, bool) {
	if s.Kind == Name {
		return v.Get(s.Name)
	}
	v = v.At(s.From)
	return v, !v.IsAbsent()
}

// String formats steps as a path: .content[0]["odd key"].
func String(steps []Step) string {
	var b strings.Builder
	for _, s := range steps {
		b.WriteString(s.String())
	}
	return b.String()
}

// SelectsIn reports whether v has a kind that a step with several values applies to,
// even if it selects none.
func (s *Step) SelectsIn(v jsonv.Value) bool {
	return v.Kind() == jsonv.KindArray || s.Kind == All && v.Kind() == jsonv.KindObject
}

// AppendAll appends the values that a step selects in v.
func (s *Step) AppendAll(dst []jsonv.Value, v jsonv.Value) []jsonv.Value {
	if s.Kind == Slice {
		from, to := s.bounds(v.Len())
		for i := from; i < to; i++ {
			dst = append(dst, v.At(i))
		}
		return dst
	}
	for _, e := range v.Elems() {
		dst = append(dst, e)
	}
	for _, e := range v.Members() {
		dst = append(dst, e)
	}
	return dst
}

// SelectsAt reports whether a step selects the element i of a list with n elements.
func (s *Step) SelectsAt(i, n int) bool {
	switch s.Kind {
	case Index:
		return s.From == i || s.From == i-n
	case Slice:
		from, to := s.bounds(n)
		return from <= i && i < to
	}
	return s.Kind == All
}

// bounds returns the range of a list with n elements that a slice selects (RFC 9535
// section 2.3.4.2.2, step 1).
func (s *Step) bounds(n int) (from, to int) {
	to = n
	if s.has[0] {
		from = s.From
	}
	if s.has[1] {
		to = s.to
	}
	clamp := func(i int) int {
		if i < 0 {
			i += n
		}
		return min(max(i, 0), n)
	}
	return clamp(from), clamp(to)
}
