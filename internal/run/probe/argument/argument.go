package argument

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
)

// Unusual are arguments that a tool's schema does not describe.
type Unusual struct {
	What string
	Args jsonv.Value
}

// Complete is an input schema that requires all of its properties.
func Complete(schema jsonv.Value) jsonv.Value {
	return schema.With("required", jsonv.From(schema.Lookup("properties").Keys()))
}

// Hostile are wrong and extreme arguments.
func Hostile(valid jsonv.Value, local bool) (out []Unusual) {
	each := func(what string, change func(jsonv.Value) jsonv.Value) {
		if valid.Len() == 0 {
			return
		}
		out = append(out, Unusual{what, valid.Map(func(key string, e jsonv.Value) (string, jsonv.Value) { return key, change(e) })})
	}
	each("arguments of another type", func(e jsonv.Value) jsonv.Value {
		if e.Kind() == jsonv.KindString {
			return jsonv.Int(7)
		}
		return jsonv.String("mcptest")
	})
	each("null as every argument", func(jsonv.Value) jsonv.Value { return jsonv.Null() })
	inTexts := func(text string) func(jsonv.Value) jsonv.Value {
		return func(e jsonv.Value) jsonv.Value {
			if e.Kind() == jsonv.KindString {
				return jsonv.String(text)
			}
			return e
		}
	}
	each("text of unusual characters", inTexts("\U0001F0A1\U00010348 \u202e\u0000 é̈ \\ \" ' %s ${x} ../"))
	if local {
		each("a text of 300 kB", inTexts(strings.Repeat("mcptest ", 37_500)))
	}
	return append(out, Unusual{"a list as arguments", jsonv.Array()}, Unusual{"text as arguments", jsonv.String("{}")})
}

// Textual are arguments as models write them when they confuse JSON with text.
func Textual(schema, valid jsonv.Value) (out []Unusual) {
	asText, changed := map[bool]jsonv.Value{}, map[bool]bool{}
	for _, nested := range []bool{true, false} {
		asText[nested] = valid.Map(func(key string, e jsonv.Value) (string, jsonv.Value) {
			if k := e.Kind(); nested == (k == jsonv.KindObject || k == jsonv.KindArray) && k != jsonv.KindString && k != jsonv.KindNull {
				changed[nested] = true
				return key, jsonv.String(e.String())
			}
			return key, e
		})
	}
	if changed[true] {
		out = append(out, Unusual{"objects and lists as JSON text", asText[true]})
	}
	if changed[false] {
		out = append(out, Unusual{"numbers and booleans as text", asText[false]})
	}
	optional := valid
	for key := range schema.Lookup("properties").Members() {
		if valid.Lookup(key).IsAbsent() {
			optional = optional.With(key, jsonv.Null())
		}
	}
	if optional.Len() > valid.Len() {
		out = append(out, Unusual{"null for optional arguments", optional})
	}
	return append(out, Unusual{"arguments in an object {arguments: …}", jsonv.ObjectOf("arguments", valid)})
}

// Marked are arguments with a mark in each free text; absent without any.
func Marked(args jsonv.Value, mark string) jsonv.Value {
	found := false
	out := args.Map(func(key string, e jsonv.Value) (string, jsonv.Value) {
		if e.Kind() == jsonv.KindString {
			found = true
			return key, jsonv.String(mark)
		}
		return key, e
	})
	if !found {
		return jsonv.Value{}
	}
	return out
}

// Reductions are simpler forms of a value, the simplest first.
func Reductions(v jsonv.Value) (out []jsonv.Value) {
	switch v.Kind() {
	case jsonv.KindObject:
		for key := range v.Members() {
			out = append(out, v.Without(key))
		}
		for key, e := range v.Members() {
			for _, smaller := range Reductions(e) {
				out = append(out, v.With(key, smaller))
			}
		}
	case jsonv.KindArray:
		for i := range v.Elems() {
			list := v.List()
			out = append(out, jsonv.Array(append(list[:i:i], list[i+1:]...)...))
		}
		for i, e := range v.Elems() {
			for _, smaller := range Reductions(e) {
				list := append([]jsonv.Value{}, v.List()...)
				list[i] = smaller
				out = append(out, jsonv.Array(list...))
			}
		}
	case jsonv.KindString:
		if r := []rune(v.Text()); len(r) > 0 {
			out = append(out, jsonv.String(""))
			if half := len(r) / 2; half > 0 {
				out = append(out, jsonv.String(string(r[:half])), jsonv.String(string(r[half:])), jsonv.String(string(r[1:])), jsonv.String(string(r[:len(r)-1])))
			}
		}
	case jsonv.KindNumber:
		for _, n := range []int64{0, 1, -1} {
			if i, ok := v.Int64(); !ok || i != n && i != 0 {
				out = append(out, jsonv.Int(n))
			}
		}
	}
	return out
}

// Generator makes values that a schema describes, and some at its edges.
type Generator struct {
	*rand.Rand
	Root jsonv.Value
}

// texts are those that programs are known to treat badly.
var texts = []string{
	"", " ", "a", "0", "-1", "null", "true", "{}", "[]", "../../..", "/", "%s%n", "${x}", "'\"`\\", "*", "(", "[", "\u0000", "é\u0301", "\U0001F600",
	"\u202e", "a\nb", "__proto__", "constructor", "NaN", "1e999", strings.Repeat("a", 5000), strings.Repeat("[", 500), "2024-02-30", "http://127.0.0.1:1/", "file:///nowhere",
}

// Value returns a value that a schema at a depth of its root describes.
func (g Generator) Value(schema jsonv.Value, depth int) jsonv.Value {
	if ref, ok := strings.CutPrefix(schema.Lookup("$ref").Text(), "#"); ok && depth < 6 {
		if to, ok := g.Root.Pointer(ref); ok {
			return g.Value(to, depth+1)
		}
	}
	for _, key := range []string{"anyOf", "oneOf", "enum"} {
		switch list := schema.Lookup(key); {
		case list.Len() == 0 || depth > 5:
		case key == "enum" && g.IntN(8) > 0:
			return list.At(g.IntN(list.Len()))
		case key != "enum":
			return g.Value(list.At(g.IntN(list.Len())), depth+1)
		}
	}
	kind := schema.Lookup("type").Text()
	if list := schema.Lookup("type").Texts(); len(list) > 0 {
		kind = list[g.IntN(len(list))]
	}
	switch kind {
	case "object":
		return g.object(schema, depth)
	case "array":
		var list []jsonv.Value
		for n := []int{0, 1, 2, 50}[g.IntN(4)]; n > 0 && depth < 5; n-- {
			list = append(list, g.Value(schema.Lookup("items"), depth+1))
		}
		return jsonv.Array(list...)
	case "integer":
		return jsonv.Int([]int64{0, 1, -1, 2, 7, 100, 255, 1 << 31, -1 << 31, 1<<53 - 1, -1 << 53}[g.IntN(11)])
	case "number":
		return jsonv.Float([]float64{0, 1, -1, 0.1, -0.5, 1e-308, 1e308, -1e308, 1e21, 3.999999999999999}[g.IntN(10)])
	case "boolean":
		return jsonv.Bool(g.IntN(2) == 0)
	case "null":
		return jsonv.Null()
	}
	return jsonv.String(texts[g.IntN(len(texts))])
}

// object has all required properties, and half of the others.
func (g Generator) object(schema jsonv.Value, depth int) jsonv.Value {
	out := jsonv.Object()
	required := schema.Lookup("required").Texts()
	for key, property := range schema.Lookup("properties").Members() {
		if depth < 5 && (slices.Contains(required, key) || g.IntN(2) == 0) {
			out = out.With(key, g.Value(property, depth+1))
		}
	}
	if g.IntN(8) == 0 {
		out = out.With(fmt.Sprintf("mcptest%d", g.IntN(100)), jsonv.Bool(true))
	}
	return out
}
