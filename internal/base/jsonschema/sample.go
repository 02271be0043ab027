package jsonschema

import (
	"math"
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
)

// maxSampleDepth bounds the depth to which a schema is followed; a schema may refer
// to itself.
const maxSampleDepth = 12

// Sample returns a small value for a schema: a constant, example, default or enum
// value if it has one, otherwise an invented one of the right type. Properties that
// are not required are omitted. Not every keyword is considered, so the value may be
// invalid.
func Sample(schema jsonv.Value) jsonv.Value {
	s := sampler{root: schema}
	return s.value(schema, "", 0)
}

type sampler struct{ root jsonv.Value }

// value returns a value for a schema; name is the name of the property.
func (s *sampler) value(schema jsonv.Value, name string, depth int) jsonv.Value {
	if depth > maxSampleDepth {
		return jsonv.Null()
	}
	if v := given(schema); !v.IsAbsent() {
		return v
	}
	if ref, ok := strings.CutPrefix(schema.Lookup("$ref").Text(), "#"); ok {
		if to, ok := s.root.Pointer(ref); ok {
			return s.value(to, name, depth+1)
		}
	}
	for _, key := range []string{"anyOf", "oneOf", "allOf"} {
		for _, one := range schema.Lookup(key).Elems() {
			if one.Lookup("type").Text() != "null" {
				return s.value(one, name, depth+1)
			}
		}
	}
	switch typeOf(schema) {
	case "object":
		return s.object(schema, depth)
	case "array":
		return s.array(schema, name, depth)
	case "integer", "number":
		return sampleNumber(schema)
	case "boolean":
		return jsonv.Bool(false)
	case "null":
		return jsonv.Null()
	}
	return jsonv.String(sampleText(schema, name))
}

// given returns a value that the schema itself contains.
func given(schema jsonv.Value) jsonv.Value {
	for _, v := range []jsonv.Value{
		schema.Lookup("const"), schema.Lookup("examples").At(0), schema.Lookup("default"), schema.Lookup("enum").At(0),
	} {
		if !v.IsAbsent() {
			return v
		}
	}
	return jsonv.Value{}
}

// typeOf returns the first type of a schema that is not null.
func typeOf(schema jsonv.Value) string {
	t := schema.Lookup("type")
	for _, one := range t.Elems() {
		if one.Text() != "null" {
			return one.Text()
		}
	}
	if t.Text() == "" && (!schema.Lookup("properties").IsAbsent() || !schema.Lookup("required").IsAbsent()) {
		return "object"
	}
	return t.Text()
}

func (s *sampler) object(schema jsonv.Value, depth int) jsonv.Value {
	required := schema.Lookup("required").Texts()
	var out []jsonv.Member
	for name, prop := range schema.Lookup("properties").Members() {
		if i := slices.Index(required, name); i >= 0 {
			required = slices.Delete(required, i, i+1)
			out = append(out, jsonv.Member{Key: name, Value: s.value(prop, name, depth+1)})
		}
	}
	for _, name := range required { // without their own schema
		if name != "" {
			out = append(out, jsonv.Member{Key: name, Value: jsonv.String("text")})
		}
	}
	return jsonv.Object(out...)
}

func (s *sampler) array(schema jsonv.Value, name string, depth int) jsonv.Value {
	items := schema.Lookup("items")
	if items.Kind() != jsonv.KindObject {
		return jsonv.Array()
	}
	n, _ := schema.Lookup("minItems").Int64()
	if n < 1 && depth > maxSampleDepth/2 { // a tree that refers to itself ends
		return jsonv.Array()
	}
	one := s.value(items, strings.TrimSuffix(name, "s"), depth+1)
	return jsonv.Array(slices.Repeat([]jsonv.Value{one}, int(min(max(n, 1), 16)))...)
}

// sampleNumber returns the smallest number from 1 that the schema's bounds allow.
func sampleNumber(schema jsonv.Value) jsonv.Value {
	n := 1.0
	bound := func(key string) (float64, bool) {
		v := schema.Lookup(key)
		return v.Float64(), v.Kind() == jsonv.KindNumber
	}
	whole := typeOf(schema) == "integer"
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
