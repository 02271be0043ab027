package match

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"mcptest/internal/assert/shown"
	"mcptest/internal/assert/target"
	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
)

const booleanSchema = `{"type":"boolean"}`

var rowType = Row{
	Name: "type", Doc: "the value has this JSON type, or one of these; integer is a number without a fraction",
	Example: `type: [integer, "null"]`, Passes: `3.0`, Fails: `3.5`,
	schema:  `{"anyOf":[{"$ref":"#/$defs/json-type"},{"type":"array","minItems":1,"items":{"$ref":"#/$defs/json-type"}}]}`,
	compile: compileType,
}

var rowLength = Row{
	Name: "length", Doc: "a string has this number of characters, a list of elements, or an object of members: n, or {min, max}",
	Example: `length: {min: 1, max: 3}`, Passes: `"äöü"`, Fails: `[]`,
	schema:  `{"anyOf":[{"type":"integer","minimum":0},{"type":"object","minProperties":1,"additionalProperties":false,"properties":{"min":{"type":"integer","minimum":0},"max":{"type":"integer","minimum":0}}}]}`,
	compile: compileLength,
}

var rowEmpty = Row{
	Name: "empty", Doc: `the value is "", [], {} or null; false means that it is not`,
	Example: `empty: true`, Passes: `[]`, Fails: `[0]`,
	schema: booleanSchema, compile: compileEmpty,
}

var rowExists = Row{
	Name: "exists", Doc: "the target has a value, which may be null; defaults do not count",
	Example: `exists: true`, Passes: `null`, Fails: ``,
	schema: booleanSchema, compile: compilePresence(true), transparent: true,
}

var rowAbsent = Row{
	Name: "absent", Doc: "the target has no value; null is a value",
	Example: `absent: true`, Passes: ``, Fails: `null`,
	schema: booleanSchema, compile: compilePresence(false), transparent: true,
}

var jsonTypes = []string{"string", "number", "integer", "boolean", "array", "object", "null"}

// typeMisnomers are other words for the JSON types.
var typeMisnomers = map[string]string{
	"text": "string", "str": "string", "int": "integer", "float": "number", "double": "number", "bool": "boolean",
	"list": "array", "slice": "array", "map": "object", "dict": "object", "nil": "null", "none": "null",
}

func compileType(c *Compiler, n *source.Node, path string) Matcher {
	nodes := []*source.Node{n}
	if n.Kind == source.KindList {
		var ok bool
		if nodes, ok = c.List(n, path, "types"); !ok {
			return nil
		}
	}
	var types []string
	for i, t := range nodes {
		at := path
		if n.Kind == source.KindList {
			at = source.PathIndex(path, i)
		}
		name := t.Text
		if t.Kind == source.KindNull && t.Text != "" {
			name = "null"
		} else if t.Kind != source.KindString {
			c.Errorf(t, at, "the types are "+strings.Join(jsonTypes, ", "), "expected the name of a type, got %s", shown.Node(t))
			continue
		}
		if !slices.Contains(jsonTypes, name) {
			near := cmp.Or(typeMisnomers[strings.ToLower(name)], source.FindNearest(name, jsonTypes))
			c.Errorf(t, at, "the types are "+strings.Join(jsonTypes, ", "), "unknown type %s%s", shown.Key(name), source.Parenthesis(source.Suggest(near)))
			continue
		}
		types = append(types, name)
	}
	if len(types) < len(nodes) {
		return nil
	}
	return matchFunc(func(v jsonv.Value) Outcome {
		for _, t := range types {
			if hasType(v, t) {
				return passed
			}
		}
		return Outcome{
			Msg:      "expected the type " + display.Alternatives(types, "or") + ", got " + v.Kind().String() + " " + shown.Value(v, shown.InLine),
			Expected: "type " + display.Alternatives(types, "or"),
		}
	})
}

func hasType(v jsonv.Value, name string) bool {
	if name == "integer" {
		return v.IsInteger()
	}
	return v.Kind().String() == name
}

func compileLength(c *Compiler, n *source.Node, path string) Matcher {
	m := lengthMatcher{min: 0, max: maxLength}
	rest := strings.TrimPrefix(n.Text, ">")
	if n.Kind == source.KindString && rest != n.Text {
		c.Errorf(n, path, "write {min: …}", "expected a number, or a map with min or max, got %s", shown.Node(n))
		return nil
	}
	if n.Kind != source.KindMap {
		want, ok := c.count(n, path, maxLength)
		if !ok {
			return nil
		}
		m.min, m.max = want, want
		return matchFunc(m.match)
	}
	valid := c.Keys(n, path, "", []string{"min", "max"}, nil, func(key, at string, _, v *source.Node) (ok bool) {
		bound := &m.min
		if key == "max" {
			bound = &m.max
		}
		*bound, ok = c.count(v, at, maxLength)
		return ok
	})
	if len(n.Fields) == 0 {
		c.Errorf(n, path, "", "expected a number, or a map with min or max")
		return nil
	}
	if valid && m.min > m.max {
		c.Errorf(n.Fields[0].Key, path, "", "min %d is more than max %d", m.min, m.max)
		return nil
	}
	if !valid {
		return nil
	}
	return matchFunc(m.match)
}

type lengthMatcher struct{ min, max int }

func (m lengthMatcher) match(v jsonv.Value) Outcome {
	thing := ""
	switch v.Kind() {
	case jsonv.KindString:
		thing = "character"
	case jsonv.KindArray:
		thing = "element"
	case jsonv.KindObject:
		thing = "member"
	default:
		return unfit("a text, list or object that has a length", v)
	}
	n := v.Len()
	if m.min <= n && n <= m.max {
		return passed
	}
	want := ""
	switch {
	case m.min == m.max:
		want = display.Count(m.min, thing)
	case m.max == maxLength:
		want = "at least " + display.Count(m.min, thing)
	case m.min == 0:
		want = "at most " + display.Count(m.max, thing)
	default:
		want = fmt.Sprintf("%d to %s", m.min, display.Count(m.max, thing))
	}
	return Outcome{Msg: fmt.Sprintf("expected %s, got %d: %s", want, n, shown.Value(v, shown.InLine)), Expected: want}
}

func compileEmpty(c *Compiler, n *source.Node, path string) Matcher {
	want, ok := c.boolean(n, path)
	if !ok {
		return nil
	}
	return matchFunc(func(v jsonv.Value) Outcome {
		switch v.Kind() {
		case jsonv.KindBool, jsonv.KindNumber:
			return unfit("a text, list, object or null", v)
		}
		return wantedOutcome(want, v.Len() == 0, func(is bool) Outcome {
			if is {
				return failOutcome("expected a value that is not empty, got " + shown.Got(v))
			}
			return failOutcome("expected an empty value, got " + shown.Got(v))
		})
	})
}

// presence checks whether a target exists.
type presence struct{ want bool }

func compilePresence(exists bool) func(*Compiler, *source.Node, string) Matcher {
	return func(c *Compiler, n *source.Node, path string) Matcher {
		yes, ok := c.boolean(n, path)
		if !ok {
			return nil
		}
		return presence{want: yes == exists}
	}
}

func (m presence) Match(_ context.Context, s target.Subject, _ *Env) Outcome {
	switch {
	case s.Miss != nil && s.Miss.Unknown:
		return Outcome{Unfit: true, Msg: s.Miss.Reason(), Actual: "nothing"}
	case s.Present == m.want:
		return passed
	case s.Present:
		return Outcome{Msg: "expected no value, got " + shown.Got(s.Value), Expected: "nothing"}
	case s.Miss != nil:
		return Outcome{Msg: s.Miss.Reason(), Expected: "something", Actual: "nothing"}
	}
	return Outcome{Msg: "expected a value, got nothing", Expected: "something", Actual: "nothing"}
}
