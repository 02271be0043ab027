package jsonschema

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
)

// maxSampleDepth bounds the depth to which a schema is followed; a schema may refer
// to itself. Random values end earlier, because they grow in every level.
const (
	maxSampleDepth = 12
	maxRandomDepth = 5
)

// Sample returns a small value for a schema: a constant, example, default or enum
// value if it has one, otherwise an invented one of the right type. Properties that
// are not required are omitted. Not every keyword is considered, so the value may be
// invalid.
func Sample(schema jsonv.Value) jsonv.Value { return maker{root: schema}.makeValue(schema, "", 0) }

// Arguments returns the sample of an input schema: arguments that a server may still
// refuse.
func Arguments(schema jsonv.Value) jsonv.Value {
	if v := Sample(schema); v.Kind() == jsonv.KindObject {
		return v
	}
	return jsonv.Object()
}

// Random returns a value of the types of a schema, often at the edges of what programs
// expect. Other keywords are mostly ignored.
func Random(schema jsonv.Value, r *rand.Rand) jsonv.Value {
	return maker{root: schema, random: r}.makeValue(schema, "", 0)
}

// maker makes values for the schemas in a root.
type maker struct {
	root   jsonv.Value
	random *rand.Rand // nil: samples
}

// makeValue returns a value for a schema; name is the name of the property.
func (m maker) makeValue(schema jsonv.Value, name string, depth int) jsonv.Value {
	if depth > maxSampleDepth {
		return jsonv.Null()
	}
	v := findGivenValue(schema)
	if m.random == nil && !v.IsAbsent() {
		return v
	}
	if ref, ok := strings.CutPrefix(schema.Lookup("$ref").Text(), "#"); ok && (m.random == nil || depth <= maxRandomDepth) {
		if to, ok := m.root.Pointer(ref); ok {
			return m.makeValue(to, name, depth+1)
		}
	}
	if v := m.makeAlternative(schema, name, depth); !v.IsAbsent() {
		return v
	}
	switch m.chooseType(schema) {
	case "object":
		return m.makeObject(schema, depth)
	case "array":
		return m.makeArray(schema, name, depth)
	case "integer":
		return m.makeNumber(schema, wholeNumbers)
	case "number":
		return m.makeNumber(schema, numbers)
	case "boolean":
		return jsonv.Bool(m.random != nil && m.random.IntN(2) == 0)
	case "null":
		return jsonv.Null()
	}
	if m.random != nil {
		return jsonv.String(texts[m.random.IntN(len(texts))])
	}
	return jsonv.String(sampleText(schema, name))
}

// makeAlternative returns a value for one of the alternatives of a schema, absent if it has
// none.
func (m maker) makeAlternative(schema jsonv.Value, name string, depth int) jsonv.Value {
	if m.random == nil {
		for _, key := range []string{"anyOf", "oneOf", "allOf"} {
			for _, one := range schema.Lookup(key).Elems() {
				if one.Lookup("type").Text() != "null" {
					return m.makeValue(one, name, depth+1)
				}
			}
		}
		return jsonv.Value{}
	}
	for _, key := range []string{"anyOf", "oneOf", "enum"} {
		list := schema.Lookup(key)
		switch {
		case list.Len() == 0 || depth > maxRandomDepth:
		case key != "enum":
			return m.makeValue(list.At(m.random.IntN(list.Len())), name, depth+1)
		case m.random.IntN(8) > 0:
			return list.At(m.random.IntN(list.Len()))
		}
	}
	return jsonv.Value{}
}

// findGivenValue returns a value that the schema itself contains.
func findGivenValue(schema jsonv.Value) jsonv.Value {
	for _, v := range []jsonv.Value{
		schema.Lookup("const"), schema.Lookup("examples").At(0), schema.Lookup("default"), schema.Lookup("enum").At(0),
	} {
		if !v.IsAbsent() {
			return v
		}
	}
	return jsonv.Value{}
}

// chooseType returns the first type of a schema that is not null, or a random one.
func (m maker) chooseType(schema jsonv.Value) string {
	t := schema.Lookup("type")
	list := t.Texts()
	if m.random != nil && len(list) > 0 {
		return list[m.random.IntN(len(list))]
	}
	for _, one := range t.Elems() {
		if one.Text() != "null" {
			return one.Text()
		}
	}
	hasMembers := !schema.Lookup("properties").IsAbsent() || !schema.Lookup("required").IsAbsent()
	if m.random == nil && t.Text() == "" && hasMembers {
		return "object"
	}
	return t.Text()
}

// makeObject has the required properties; a random one often has others.
func (m maker) makeObject(schema jsonv.Value, depth int) jsonv.Value {
	out, required := jsonv.Object(), schema.Lookup("required").Texts()
	for name, prop := range schema.Lookup("properties").Members() {
		if m.random != nil && depth >= maxRandomDepth {
			break
		}
		if slices.Contains(required, name) || m.random != nil && m.random.IntN(2) == 0 {
			out = out.With(name, m.makeValue(prop, name, depth+1))
		}
	}
	if m.random != nil {
		if m.random.IntN(8) == 0 {
			out = out.With(fmt.Sprintf("mcptest%d", m.random.IntN(100)), jsonv.Bool(true))
		}
		return out
	}
	for _, name := range required { // without their own schema
		if name != "" && out.Lookup(name).IsAbsent() {
			out = out.With(name, jsonv.String("text"))
		}
	}
	return out
}

func (m maker) makeArray(schema jsonv.Value, name string, depth int) jsonv.Value {
	items := schema.Lookup("items")
	if m.random != nil {
		var list []jsonv.Value
		for n := []int{0, 1, 2, 50}[m.random.IntN(4)]; n > 0 && depth < maxRandomDepth; n-- {
			list = append(list, m.makeValue(items, name, depth+1))
		}
		return jsonv.Array(list...)
	}
	if items.Kind() != jsonv.KindObject {
		return jsonv.Array()
	}
	n, _ := schema.Lookup("minItems").Int64()
	if n < 1 && depth > maxSampleDepth/2 { // a tree that refers to itself ends
		return jsonv.Array()
	}
	one := m.makeValue(items, strings.TrimSuffix(name, "s"), depth+1)
	return jsonv.Array(slices.Repeat([]jsonv.Value{one}, int(min(max(n, 1), 16)))...)
}

// Random numbers and texts: those that programs are known to treat badly.
var (
	wholeNumbers = []float64{0, 1, -1, 2, 7, 100, 255, 1 << 31, -1 << 31, 1<<53 - 1, -1 << 53}
	numbers      = []float64{0, 1, -1, 0.1, -0.5, 1e-308, 1e308, -1e308, 1e21, 3.999999999999999}
	texts        = []string{
		"", " ", "a", "0", "-1", "null", "true", "{}", "[]", "../../..", "/", "%s%n", "${x}", "'\"`\\", "*", "(", "[", "\u0000", "é\u0301", "\U0001F600",
		"\u202e", "a\nb", "__proto__", "constructor", "NaN", "1e999", strings.Repeat("a", 5000), strings.Repeat("[", 500), "2024-02-30", "http://127.0.0.1:1/", "file:///nowhere",
	}
)

// makeNumber returns the smallest number from 1 that the schema's bounds allow, or a random
// one of a list.
func (m maker) makeNumber(schema jsonv.Value, list []float64) jsonv.Value {
	if m.random != nil {
		return jsonv.Float(list[m.random.IntN(len(list))])
	}
	n := 1.0
	bound := func(key string) (float64, bool) {
		v := schema.Lookup(key)
		return v.Float64(), v.Kind() == jsonv.KindNumber
	}
	whole := m.chooseType(schema) == "integer"
	step := 1.0
	if m, ok := bound("multipleOf"); ok && m > 0 {
		step = m
		n = m
	}
	if b, ok := bound("minimum"); ok && b > n {
		n = math.Ceil(b/step) * step
	}
	if b, ok := bound("exclusiveMinimum"); ok && b >= n {
		n = (math.Floor(b/step) + 1) * step
	}
	if b, ok := bound("maximum"); ok && b < n {
		n = math.Floor(b/step) * step
		if !whole && step == 1 {
			n = b
		}
	}
	if b, ok := bound("exclusiveMaximum"); ok && b <= n {
		n = (math.Ceil(b/step) - 1) * step
	}
	return jsonv.Float(n)
}

// sampleFormats maps formats to sample texts.
var sampleFormats = map[string]string{
	"date": "2026-01-01", "time": "12:00:00Z", "date-time": "2026-01-01T12:00:00Z", "email": "ada@example.com",
	"uri": "https://example.com/", "url": "https://example.com/", "uuid": "00000000-0000-4000-8000-000000000000",
	"hostname": "example.com", "ipv4": "192.0.2.1", "ipv6": "2001:db8::1", "duration": "PT1S",
}

// sampleWords are sample texts for properties by a word in their name.
var sampleWords = []struct{ name, text string }{
	{"path", "."},
	{"dir", "."},
	{"directory", "."},
	{"folder", "."},
	{"url", "https://example.com/"},
	{"uri", "https://example.com/"},
	{"email", "ada@example.com"},
	{"date", "2026-01-01"},
	{"timezone", "UTC"},
	{"pattern", "*"},
}

// sampleText returns a text for a property.
func sampleText(schema jsonv.Value, name string) string {
	out := "text"
	for _, w := range sampleWords {
		if strings.EqualFold(name, w.name) {
			out = w.text
		}
	}
	if f, ok := sampleFormats[schema.Lookup("format").Text()]; ok {
		out = f
	}
	if n, _ := schema.Lookup("minLength").Int64(); n > int64(len(out)) && n <= 1000 {
		out += strings.Repeat("x", int(n)-len(out))
	}
	if v := schema.Lookup("maxLength"); v.Kind() == jsonv.KindNumber {
		if n, _ := v.Int64(); n >= 0 && n < int64(len(out)) {
			out = out[:n]
		}
	}
	return out
}
