package match

import (
	"mcptest/internal/assert/shown"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
)

var rowOneOf = Row{
	Name: "one-of", Aliases: []string{"one_of"}, Doc: "the value is equal to one of these",
	Example: `one-of: [open, closed]`, Passes: `"open"`, Fails: `"opened"`,
	schema: nonEmptyList, compile: compileOneOf,
}

func compileOneOf(c *Compiler, n *source.Node, path string) Matcher {
	if _, ok := c.List(n, path, "values"); !ok {
		return nil
	}
	want := n.JSON()
	return matchFunc(func(v jsonv.Value) Outcome {
		var texts, notes []string
		for _, w := range want.Elems() {
			if jsonv.Equal(w, v) {
				return passed
			}
			if alike := numberOrText(w, v); alike != nil {
				notes = alike
			}
			if w.Kind() == jsonv.KindString && v.Kind() == jsonv.KindString {
				texts = append(texts, w.Text())
			}
		}
		o := Outcome{
			Msg:      "expected one of " + shown.Value(want, shown.InLine) + ", got " + shown.Got(v),
			Expected: "one of " + shown.Value(want, shown.Alone),
			Notes:    notes,
		}
		if near := source.FindNearest(v.Text(), texts); near != "" {
			o.Notes = []string{"the nearest is " + shown.Key(near)}
		}
		return o
	})
}
