package catalog

import (
	"fmt"
	"math"
	"strings"

	"mcptest/internal/aql/evidence"
	"mcptest/internal/aql/reference"
	"mcptest/internal/display"
	"mcptest/internal/jsonv"
)

// Values that the documentation forbids.

// wrongValue is a value that a parameter does not accept.
type wrongValue struct {
	Rule, Wants string
	Value       jsonv.Value
	Mention     []string
}

// Wrong lists values that a parameter does not accept.
func (cat *Catalog) Wrong(p Parameter) (out []wrongValue) {
	other := map[string]jsonv.Value{
		"string": jsonv.Int(42), "integer": jsonv.String("zz_not_a_number"), "number": jsonv.String("zz_not_a_number"),
		"boolean": jsonv.String("zz_not_a_boolean"), "array": jsonv.Int(42), "object": jsonv.Int(42),
	}
	kind := cat.JsonKind(p)
	if v, ok := other[kind]; ok {
		out = append(out, wrongValue{"values.type", p.Type, v, []string{p.Name, p.Type}})
		if kind == "integer" {
			if n, err := makeNumber(p, true); err == nil {
				out = append(out, wrongValue{"values.type", p.Type, jsonv.String(n.Literal()), []string{p.Name, p.Type}})
			}
		}
	}
	allowed := p.Schema.Lookup("enum")
	if n := cat.Types[ParseType(p.Type).name]; allowed.Len() == 0 && n != nil && n.Kind == "enum" {
		allowed = n.Detail.Lookup("values")
	}
	if first := enumValue(allowed.At(0)); first.Kind() == jsonv.KindString && kind == "string" {
		return append(out, wrongValue{"values.enum", "one of " + evidence.Brief(allowed), jsonv.String("zz_not_in_the_enum"), []string{first.Text()}})
	}
	low, high := Bounds(p)
	if whole := kind == "integer"; whole || kind == "number" {
		if !math.IsInf(low, 0) && math.Abs(low) < 1<<50 {
			out = append(out, wrongValue{"values.range", "at least " + reference.FormatNumber(low), jsonv.Int(int64(low) - 1), []string{p.Name}})
		}
		if !math.IsInf(high, 0) && math.Abs(high) < 1<<50 {
			out = append(out, wrongValue{"values.range", "at most " + reference.FormatNumber(high), jsonv.Int(int64(high) + 1), []string{p.Name}})
		}
	}
	if kind != "string" {
		return out
	}
	if _, most := lengths(p); most < 100_000 {
		out = append(out, wrongValue{"values.length", fmt.Sprintf("at most %d characters", most), jsonv.String(strings.Repeat("z", most+1)), []string{p.Name}})
	}
	if pattern := p.Schema.Lookup("pattern").Text(); pattern != "" {
		if miss := "\u00a7 zz !"; cat.Fits(p, jsonv.String(miss)) != "" {
			out = append(out, wrongValue{"values.pattern", "a text like " + display.Truncate(pattern, 60), jsonv.String(miss), []string{p.Name}})
		}
	}
	return out
}
