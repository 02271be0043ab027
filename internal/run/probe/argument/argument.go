package argument

import (
	"slices"
	"strings"

	"mcptest/internal/base/jsonschema"
	"mcptest/internal/base/jsonv"
)

// Unusual are arguments that a tool's schema does not describe.
type Unusual struct {
	What string
	Args jsonv.Value
}

// Valid are arguments that a tool should accept: those that its input schema requires.
func Valid(tool jsonv.Value) jsonv.Value { return jsonschema.Arguments(tool.Lookup("inputSchema")) }

// Complete are valid arguments with a value for each property of the input schema.
func Complete(tool jsonv.Value) jsonv.Value {
	schema := tool.Lookup("inputSchema")
	return jsonschema.Arguments(schema.With("required", jsonv.From(schema.Lookup("properties").Keys())))
}

// Hostile are wrong and extreme arguments.
func Hostile(valid jsonv.Value, local bool) (out []Unusual) {
	each := func(what string, change func(jsonv.Value) jsonv.Value) {
		if valid.Len() > 0 {
			out = append(out, Unusual{what, mapArguments(valid, change)})
		}
	}
	each("arguments of another type", func(e jsonv.Value) jsonv.Value {
		if e.Kind() == jsonv.KindString {
			return jsonv.Int(7)
		}
		return jsonv.String("mcptest")
	})
	each("null as every argument", func(jsonv.Value) jsonv.Value { return jsonv.Null() })
	each("text of unusual characters", replaceTexts("\U0001F0A1\U00010348 \u202e\u0000 é̈ \\ \" ' %s ${x} ../"))
	if local {
		each("a text of 300 kB", replaceTexts(strings.Repeat("mcptest ", 37_500)))
	}
	return append(out, Unusual{"no arguments member", jsonv.Value{}}, Unusual{"a list as arguments", jsonv.Array()}, Unusual{"text as arguments", jsonv.String("{}")})
}

// mapArguments are arguments, each of which is changed.
func mapArguments(args jsonv.Value, change func(jsonv.Value) jsonv.Value) jsonv.Value {
	return args.Map(func(key string, e jsonv.Value) (string, jsonv.Value) { return key, change(e) })
}

// replaceTexts replaces a text.
func replaceTexts(by string) func(jsonv.Value) jsonv.Value {
	return func(e jsonv.Value) jsonv.Value {
		if e.Kind() == jsonv.KindString {
			return jsonv.String(by)
		}
		return e
	}
}

// Textual are arguments as models write them when they confuse JSON with text.
func Textual(tool jsonv.Value) (out []Unusual) {
	valid := Valid(tool)
	asText := func(what string, kinds ...jsonv.Kind) {
		changed := mapArguments(valid, func(e jsonv.Value) jsonv.Value {
			if slices.Contains(kinds, e.Kind()) {
				return jsonv.String(e.String())
			}
			return e
		})
		if !jsonv.Equal(changed, valid) {
			out = append(out, Unusual{what, changed})
		}
	}
	asText("objects and lists as JSON text", jsonv.KindObject, jsonv.KindArray)
	asText("numbers and booleans as text", jsonv.KindNumber, jsonv.KindBool)
	optional := valid
	for key := range tool.Lookup("inputSchema", "properties").Members() {
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
	if out := mapArguments(args, replaceTexts(mark)); !jsonv.Equal(out, args) {
		return out
	}
	return jsonv.Value{}
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
		return shrinkList(v)
	case jsonv.KindString:
		return shortenText([]rune(v.Text()))
	case jsonv.KindNumber:
		for _, n := range []int64{0, 1, -1} {
			if i, ok := v.Int64(); !ok || i != n && i != 0 {
				out = append(out, jsonv.Int(n))
			}
		}
	}
	return out
}

// shrinkList returns lists without an element, and with a simpler one.
func shrinkList(v jsonv.Value) (out []jsonv.Value) {
	for i := range v.Elems() {
		out = append(out, jsonv.Array(slices.Delete(v.List(), i, i+1)...))
	}
	for i, e := range v.Elems() {
		for _, smaller := range Reductions(e) {
			list := v.List()
			list[i] = smaller
			out = append(out, jsonv.Array(list...))
		}
	}
	return out
}

// shortenText returns the empty text, both halves, and the text without its first or last
// character.
func shortenText(r []rune) (out []jsonv.Value) {
	if len(r) == 0 {
		return nil
	}
	out = append(out, jsonv.String(""))
	half := len(r) / 2
	if half == 0 {
		return out
	}
	for _, part := range [][]rune{r[:half], r[half:], r[1:], r[:len(r)-1]} {
		out = append(out, jsonv.String(string(part)))
	}
	return out
}
