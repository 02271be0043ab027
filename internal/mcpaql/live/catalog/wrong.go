package catalog

import (
	"fmt"
	"math"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/evidence"
	"mcptest/internal/mcpaql/reference"
)

// Values that the documentation forbids.

// WrongValue is a value that a parameter does not accept.
type WrongValue struct {
	Rule, Wants string
	Value       jsonv.Value
	Mention     []string
}

// makeOtherKind returns a value that is not of a kind; absent if any value may be.
func makeOtherKind(kind string) jsonv.Value {
	switch kind {
	case "string", "array", "object":
		return jsonv.Int(42)
	case "integer", "number":
		return jsonv.String("zz_not_a_number")
	case "boolean":
		return jsonv.String("zz_not_a_boolean")
	}
	return jsonv.Value{}
}

// MakeWrong lists values that a parameter does not accept.
func (cat *Catalog) MakeWrong(p Parameter) (out []WrongValue) {
	add := func(rule, wants string, v jsonv.Value, mention ...string) {
		out = append(out, WrongValue{rule, wants, v, mention})
	}
	kind := cat.FindJSONKind(p)
	if v := makeOtherKind(kind); !v.IsAbsent() {
		add("values.type", p.Type, v, p.Name, p.Type)
	}
	n, err := makeWhole(p)
	if kind == "integer" && err == nil {
		add("values.type", p.Type, jsonv.String(n.Literal()), p.Name, p.Type)
	}
	allowed := cat.findDocumentedEnum(p)
	if first := readEnumValue(allowed.At(0)); first.Kind() == jsonv.KindString && kind == "string" {
		add("values.enum", "one of "+evidence.FormatBrief(allowed), jsonv.String("zz_not_in_the_enum"), first.Text())
		return out
	}
	low, high := ReadBounds(p)
	if kind == "integer" || kind == "number" {
		if math.Abs(low) < 1<<50 {
			add("values.range", "at least "+reference.FormatNumber(low), jsonv.Int(int64(low)-1), p.Name)
		}
		if math.Abs(high) < 1<<50 {
			add("values.range", "at most "+reference.FormatNumber(high), jsonv.Int(int64(high)+1), p.Name)
		}
	}
	if kind != "string" {
		return out
	}
	if _, most := readLengths(p); most < 100_000 {
		tooLong := jsonv.String(strings.Repeat("z", most+1))
		add("values.length", fmt.Sprintf("at most %d characters", most), tooLong, p.Name)
	}
	const miss = "\u00a7 zz !"
	if pattern := p.Schema.Lookup("pattern").Text(); pattern != "" && cat.Fits(p, jsonv.String(miss)) != "" {
		add("values.pattern", "a text like "+display.Truncate(pattern, 60), jsonv.String(miss), p.Name)
	}
	return out
}
