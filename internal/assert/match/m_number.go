package match

import (
	"mcptest/internal/assert/shown"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
)

// numberSchema allows durations too, for targets in milliseconds.
const numberSchema = `{"type":["number","string"],"pattern":"^[0-9.]+ ?(ms|s|m|h)|^\\$\\{[A-Za-z_].*\\}$"}`

var rowGt = Row{
	Name: "gt", Doc: "a number is greater than this",
	Example: `gt: 3`, Passes: `3.1`, Fails: `3`,
	schema: numberSchema, compile: compileOrder("more than", func(c int) bool { return c > 0 }),
}

var rowGte = Row{
	Name: "gte", Doc: "a number is greater than or equal to this",
	Example: `gte: 3`, Passes: `3.0`, Fails: `2.9`,
	schema: numberSchema, compile: compileOrder("at least", func(c int) bool { return c >= 0 }),
}

var rowLt = Row{
	Name: "lt", Doc: "a number is less than this",
	Example: `lt: 3`, Passes: `2.9`, Fails: `3`,
	schema: numberSchema, compile: compileOrder("less than", func(c int) bool { return c < 0 }),
}

var rowLte = Row{
	Name: "lte", Doc: "a number is less than or equal to this",
	Example: `lte: 3`, Passes: `3`, Fails: `3.1`,
	schema: numberSchema, compile: compileOrder("at most", func(c int) bool { return c <= 0 }),
}

var rowBetween = Row{
	Name: "between", Doc: "a number is between two others, including the bounds: [min, max] or {min, max}",
	Example: `between: [1, 5]`, Passes: `5`, Fails: `5.01`,
	schema:  `{"anyOf":[{"type":"array","minItems":2,"maxItems":2,"items":` + numberSchema + `},{"type":"object","required":["min","max"],"additionalProperties":false,"properties":{"min":` + numberSchema + `,"max":` + numberSchema + `}}]}`,
	compile: compileBetween,
}

var rowApprox = Row{
	Name: "approx", Doc: "a number differs from value by at most tolerance",
	Example: `approx: {value: 0.3, tolerance: 0.1}`, Passes: `0.4`, Fails: `0.41`,
	schema:  `{"type":"object","required":["value","tolerance"],"additionalProperties":false,"properties":{"value":{"type":"number"},"tolerance":{"type":"number","minimum":0}}}`,
	compile: compileApprox,
}

func compileOrder(words string, holds func(cmp int) bool) func(*Compiler, *source.Node, string) Matcher {
	return func(c *Compiler, n *source.Node, path string) Matcher {
		bound, ok := c.exactNumber(n, path)
		if !ok {
			return nil
		}
		return matchFunc(func(v jsonv.Value) Outcome {
			cmp, ok := jsonv.Compare(v, bound)
			want := words + " " + shown.Value(bound, shown.ShortKey)
			switch {
			case !ok:
				return unfit("a number that is "+want, v)
			case holds(cmp):
				return passed
			}
			return Outcome{Msg: "expected " + want + ", got " + shown.Value(v, shown.ShortKey), Expected: want}
		})
	}
}

func compileBetween(c *Compiler, n *source.Node, path string) Matcher {
	var low, high *source.Node
	switch {
	case n.Kind == source.KindList && len(n.Items) == 2:
		low, high = n.Items[0], n.Items[1]
	case n.Kind == source.KindMap:
		bounds := []string{"min", "max"}
		anyValue := func(_, _ string, _, _ *source.Node) bool { return true }
		if !c.Keys(n, path, "", bounds, bounds, anyValue) {
			return nil
		}
		low, high = n.Get("min"), n.Get("max")
	default:
		c.Errorf(n, path, "for example: [1, 5]", "expected two numbers, got %s", shown.Node(n))
		return nil
	}
	min, ok := c.exactNumber(low, path)
	max, ok2 := c.exactNumber(high, path)
	if !ok || !ok2 {
		return nil
	}
	if cmp, _ := jsonv.Compare(min, max); cmp > 0 {
		c.Errorf(low, path, "write the smaller number first", "no number is between %s and %s", low.Text, high.Text)
		return nil
	}
	want := "a number between " + shown.Value(min, shown.ShortKey) + " and " + shown.Value(max, shown.ShortKey)
	return matchFunc(func(v jsonv.Value) Outcome {
		if v.Kind() != jsonv.KindNumber {
			return unfit(want, v)
		}
		a, _ := jsonv.Compare(min, v)
		b, _ := jsonv.Compare(v, max)
		if a <= 0 && b <= 0 {
			return passed
		}
		return Outcome{Msg: "expected " + want + ", got " + shown.Value(v, shown.ShortKey), Expected: want}
	})
}

// compileApprox compares exact decimals: a difference of 1 is seen beyond 2^53, too.
func compileApprox(c *Compiler, n *source.Node, path string) Matcher {
	var value, tolerance jsonv.Value
	keys := []string{"value", "tolerance"}
	if !c.Keys(n, path, "a map with value and tolerance", keys, keys, func(key, at string, _, v *source.Node) bool {
		number, ok := c.exactNumber(v, at)
		if key == "value" {
			value = number
			return ok
		}
		tolerance = number
		if order, _ := jsonv.Compare(number, jsonv.Int(0)); order < 0 {
			c.Errorf(v, at, "", "the tolerance %s is negative", v.Text)
			return false
		}
		return ok
	}) {
		return nil
	}
	least, ok := jsonv.Subtract(value, tolerance)
	most, ok2 := jsonv.Add(value, tolerance)
	if !ok || !ok2 {
		c.Errorf(n, path, "use between, or numbers of similar sizes", "value and tolerance are too different to be added")
		return nil
	}
	want := n.Get("value").Text + " ± " + n.Get("tolerance").Text
	return matchFunc(func(v jsonv.Value) Outcome {
		atLeast, isNumber := jsonv.Compare(v, least)
		atMost, _ := jsonv.Compare(v, most)
		switch {
		case !isNumber:
			return unfit("a number "+want, v)
		case atLeast >= 0 && atMost <= 0:
			return passed
		}
		return Outcome{Msg: "expected " + want + ", got " + shown.Value(v, shown.ShortKey), Expected: want}
	})
}
