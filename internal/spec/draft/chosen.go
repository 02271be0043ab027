package draft

import (
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lists"
)

// Part is a part of a result that a person chose to be expected.
type Part struct {
	At   string // a JSON pointer (RFC 6901) into the result
	Text string // a piece of the text there; "": the value
}

// choose adds what is expected of a part, unless it is expected already. Parts that the
// results lack, and secrets, are left out. The limit of assertions is for those that
// nobody chose.
func (l *loosener) choose(t *Test, p Part) {
	target := t.TargetOf(p)
	if target == "" || p.expectedIn(l.out, target) {
		return
	}
	values := t.values(func(a Answer) jsonv.Value { _, v := locate(a.Result, p.At); return v })
	own := loosener{suite: l.suite, own: l.own}
	alike, _ := kinds(values)
	switch v := values[0]; {
	case p.Text != "":
		lacksIt := func(v jsonv.Value) bool { return !strings.Contains(v.Text(), p.Text) }
		if !slices.ContainsFunc(values, lacksIt) && l.writable(jsonv.String(p.Text)) {
			own.add(target, "contains", jsonv.String(p.Text), "")
		}
	case alike && v.Kind() == jsonv.KindArray && same(lists.Map(values, lengthOf)):
		own.add(target, "length", lengthOf(v), "")
	case alike && v.Kind() == jsonv.KindObject:
		own.add(target, "schema", l.shapeOf(v), "")
	default:
		own.value(target, values)
	}
	l.out = append(l.out, own.out...)
}

func lengthOf(v jsonv.Value) jsonv.Value { return jsonv.Int(int64(v.Len())) }

// shapeOf returns the schema of an object with these members, each of its kind.
func (l *loosener) shapeOf(v jsonv.Value) jsonv.Value {
	properties := jsonv.Object()
	var required []jsonv.Value
	for key, member := range v.Members() {
		if name := jsonv.String(key); l.writable(name) {
			required = append(required, name)
			properties = properties.With(key, jsonv.ObjectOf("type", member.Kind().String()))
		}
	}
	return jsonv.ObjectOf("type", "object", "required", jsonv.Array(required...), "properties", properties)
}

// TargetOf returns the target of a part; "" if the result does not have it.
func (t *Test) TargetOf(p Part) string {
	if len(t.Answers) == 0 {
		return ""
	}
	result := t.Answers[0].Result
	path, v := locate(result, p.At)
	if v.IsAbsent() {
		return ""
	}
	if rest, ok := strings.CutPrefix(path, "result.structuredContent"); ok && t.Block == "tools" {
		return "structured" + rest
	}
	if content := result.Lookup("content"); path == "result.content[0].text" && content.Len() == 1 && t.Block == "tools" {
		return "text"
	}
	return path
}

// FindPart returns the number of the expectation of a part; -1 if there is none.
func (t *Test) FindPart(expect []Expectation, p Part) int {
	target := t.TargetOf(p)
	return slices.IndexFunc(expect, func(x Expectation) bool {
		return p.isExpectedBy(target, x.Target, x.Matcher, x.Argument)
	})
}

func (p Part) expectedIn(out []assertion, target string) bool {
	return slices.ContainsFunc(out, func(a assertion) bool {
		return p.isExpectedBy(target, a.target, a.matcher, a.value)
	})
}

// isExpectedBy reports whether an assertion is about the part.
func (p Part) isExpectedBy(wanted, target, matcher string, argument jsonv.Value) bool {
	if target != wanted {
		return false
	}
	if p.Text != "" {
		return matcher == "contains" && argument.Text() == p.Text
	}
	return matcher != "contains"
}

// locate returns the value at a JSON pointer and its target; the value is absent if there
// is none.
func locate(result jsonv.Value, pointer string) (string, jsonv.Value) {
	keys, err := jsonv.ParsePointer(pointer)
	v, ok := result.Pointer(pointer)
	if err != nil || !ok {
		return "", jsonv.Value{}
	}
	target, within := "result", result
	for _, key := range keys {
		if within.Kind() == jsonv.KindArray {
			target += "[" + key + "]"
		} else {
			target = member(target, key)
		}
		within, _ = within.Pointer(jsonv.AppendPointer("", key))
	}
	return target, v
}
