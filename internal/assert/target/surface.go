package target

import (
	"fmt"
	"slices"
	"strings"

	"mcptest/internal/assert/jsonpath"
	"mcptest/internal/assert/shown"
	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
	"mcptest/internal/offer/surface"
)

// checkSurface reports a target at surface whose first step cannot exist. offsets are
// the offsets of its steps.
func (t *Target) checkSurface(offsets []int) *Error {
	if t.root.part != partSurface || len(t.steps) == 0 {
		return nil
	}
	members := []string{"server"}
	for _, l := range surface.Lists() {
		members = append(members, l.Member)
	}
	first := t.steps[0]
	if first.Kind == jsonpath.Name && slices.Contains(members, first.Name) {
		return nil
	}
	e := &Error{Offset: offsets[0], Msg: "surface has no " + first.String()}
	if near := source.FindNearest(first.Name, members); near != "" {
		e.Msg += source.Parenthesis(source.Suggest("surface." + near))
	} else {
		e.Hint = "it has " + display.Alternatives(members, "and")
	}
	return e
}

// surfaceSubject evaluates a target at surface.
func (t *Target) surfaceSubject(o *surface.Offer) Subject {
	if o == nil {
		return t.unknown("the lists of the server were not requested")
	}
	if len(t.steps) == 0 {
		return t.wholeSurfaceSubject(o)
	}
	for _, l := range surface.Lists() {
		if t.steps[0].Name != l.Member {
			continue
		}
		if err := o.Failed[l.Kind]; err != nil {
			return t.unknown(err.Error())
		}
		return t.listSubject(l, o.Lists[l.Kind])
	}
	return t.walk(o.Value(), t.steps, t.root.Name)
}

// wholeSurfaceSubject evaluates the target surface, which needs every list that the server has.
func (t *Target) wholeSurfaceSubject(o *surface.Offer) Subject {
	for _, l := range surface.Lists() {
		if err := o.Failed[l.Kind]; err != nil && !o.IsMissing(l.Kind) {
			return t.unknown(err.Error())
		}
	}
	return t.walk(o.Value(), t.steps, t.root.Name)
}

// unknown returns the subject of a target that cannot be evaluated.
func (t *Target) unknown(why string) Subject {
	return Subject{Target: t.src, Miss: &Miss{Target: t.src, why: why, Unknown: true}}
}

// listSubject evaluates a target in a list of definitions. A name selects the
// definition with that name.
func (t *Target) listSubject(l surface.List, defs []jsonv.Value) Subject {
	at, steps := t.root.Name+"."+l.Member, t.steps[1:]
	if len(steps) == 0 || steps[0].Kind != jsonpath.Name {
		return t.walkStrictly(l, jsonv.Array(defs...), steps, at)
	}
	var found, names []jsonv.Value
	for _, def := range defs {
		if name := def.Lookup(l.Key); name.Kind() == jsonv.KindString {
			names = append(names, name)
			if name.Text() == steps[0].Name {
				found = append(found, def)
			}
		}
	}
	switch len(found) {
	case 0:
		return Subject{Target: t.src, Miss: newUnlistedMiss(t.src, at, l, steps, names)}
	case 1:
		return t.walkStrictly(l, found[0], steps[1:], at+steps[0].String())
	}
	return t.unknown(fmt.Sprintf("%s lists %d definitions with the %s %s", l.Method, len(found), l.Key, shown.Key(steps[0].Name)))
}

// newUnlistedMiss describes that a list has no definition of a name.
func newUnlistedMiss(target, at string, l surface.List, steps []jsonpath.Step, names []jsonv.Value) *Miss {
	var all []string
	byName := make([]jsonv.Member, len(names))
	for i, name := range names {
		all = append(all, name.Text())
		byName[i] = jsonv.Member{Key: name.Text(), Value: jsonv.Null()}
	}
	m := &Miss{Target: target, Near: source.FindNearest(steps[0].Name, all)}
	m.why = fmt.Sprintf("the server lists no %s %s", strings.ReplaceAll(string(l.Kind), "-", " "), shown.Key(steps[0].Name))
	if len(names) > 0 {
		m.why += "; it lists " + shown.Keys(jsonv.Object(byName...))
	}
	joined := steps[0].Name
	for _, s := range steps[1:] { // a name with dots that was written without quotes
		joined += "." + s.Name
		if slices.Contains(all, joined) {
			m.Near = at + jsonpath.Key(joined)
		}
	}
	return m
}

// walkStrictly follows steps from v like walk, and also returns the elements that lack a
// step.
func (t *Target) walkStrictly(l surface.List, v jsonv.Value, steps []jsonpath.Step, at string) Subject {
	s := t.walk(v, steps, at)
	if !t.plural {
		return s
	}
	var lacking []*Miss
	collectLacking(t.src, l.Key, v, steps, at, &lacking)
	if len(lacking) > 0 && s.Miss != nil { // all of them
		s = Subject{Target: t.src, Value: jsonv.Array(), Miss: s.Miss}
	}
	s.Lacking = lacking
	return s
}

// collectLacking collects the elements below v that do not have the end of steps. key
// identifies the elements of the list in messages.
func collectLacking(target, key string, v jsonv.Value, steps []jsonpath.Step, at string, out *[]*Miss) {
	for i, s := range steps {
		if s.Kind < jsonpath.All {
			next, ok := s.Follow(v)
			if !ok {
				*out = append(*out, newMiss(target, at, v, steps[i:]))
				return
			}
			v, at = next, at+s.String()
			continue
		}
		if !s.SelectsIn(v) {
			*out = append(*out, newMiss(target, at, v, steps[i:]))
			return
		}
		for _, e := range s.AppendAll(nil, v) {
			where := at + s.String()
			if name := e.Lookup(key); name.Kind() == jsonv.KindString {
				where = at + "[" + string(jsonv.AppendString(nil, name.Text())) + "]"
			}
			collectLacking(target, key, e, steps[i+1:], where, out)
		}
		return
	}
}
