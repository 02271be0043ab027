package live

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"mcptest/internal/aql/evidence"
	"mcptest/internal/aql/reference"
	"mcptest/internal/display"
	"mcptest/internal/jsonv"
)

// Values that the documentation does not allow.

// wrongValues sends values that the documented type, enum or range does not
// allow.
func (pr operationProbe) wrongValues(op *liveOp) {
	for _, p := range op.params {
		if op.isIdentifier(p) && op.category != "READ" {
			continue
		}
		for _, w := range pr.run.catalog.wrong(p) {
			params := pr.run.maker.marking(op, pr.run.builder.fresh(op).With(p.name, w.value), p.name)
			if pair := cursorPair(p.name); pair != "" && op.param(pair) != nil {
				params = params.With(pair, jsonv.Int(1))
			}
			r := pr.run.keeper.attempt(op, params)
			if !r.sent() {
				continue
			}
			pr.run.rows.sees("values")
			if r.ok() && w.rule == "values.range" && clamped(op, p, w.value, r) {
				continue
			}
			if r.ok() {
				pr.run.rows.breaks(w.rule, r, "%s accepts %s for %s, which must be %s", op.name, evidence.Brief(w.value), evidence.Quoted(p.name), w.wants)
				continue
			}
			if strings.HasPrefix(r.code(), "NOT_FOUND") {
				continue // looked for before it was looked at
			}
			if r.unknownParameter(p.name) || r.code() == "VALIDATION_MISSING_PARAM" && !evidence.Names(r.message(), p.name) {
				continue // refused for another reason, which accuracy tells of
			}
			pr.run.failed(fmt.Sprintf("%s with a wrong %s (%s)", op.name, p.name, strings.TrimPrefix(w.rule, "values.")), r, w.mention...)
		}
	}
}

// clamped says that too large a page was asked for and the largest one was
// answered, as PG 5.3 has it.
func clamped(op *liveOp, p liveParam, v jsonv.Value, r reply) bool {
	_, high := bounds(p)
	return op.category == "READ" && slices.Contains([]string{"first", "last", "limit", "page_size", "per_page"}, p.name) &&
		v.Float64() > high && float64(len(items(r.data(), listDepth))) <= high
}

// wrongValue is a value that a parameter does not take.
type wrongValue struct {
	rule, wants string
	value       jsonv.Value
	mention     []string
}

func (cat *catalog) wrong(p liveParam) (out []wrongValue) {
	other := map[string]jsonv.Value{
		"string": jsonv.Int(42), "integer": jsonv.String("zz_not_a_number"), "number": jsonv.String("zz_not_a_number"),
		"boolean": jsonv.String("zz_not_a_boolean"), "array": jsonv.Int(42), "object": jsonv.Int(42),
	}
	kind := cat.jsonKind(p)
	if v, ok := other[kind]; ok {
		out = append(out, wrongValue{"values.type", p.typ, v, []string{p.name, p.typ}})
		if kind == "integer" {
			if n, err := makeNumber(p, true); err == nil {
				out = append(out, wrongValue{"values.type", p.typ, jsonv.String(n.Literal()), []string{p.name, p.typ}})
			}
		}
	}
	allowed := p.v.Lookup("enum")
	if n := cat.types[parseType(p.typ).name]; allowed.Len() == 0 && n != nil && n.kind == "enum" {
		allowed = n.detail.Lookup("values")
	}
	if first := enumValue(allowed.At(0)); first.Kind() == jsonv.KindString && kind == "string" {
		return append(out, wrongValue{"values.enum", "one of " + evidence.Brief(allowed), jsonv.String("zz_not_in_the_enum"), []string{first.Text()}})
	}
	low, high := bounds(p)
	if whole := kind == "integer"; whole || kind == "number" {
		if !math.IsInf(low, 0) && math.Abs(low) < 1<<50 {
			out = append(out, wrongValue{"values.range", "at least " + reference.FormatNumber(low), jsonv.Int(int64(low) - 1), []string{p.name}})
		}
		if !math.IsInf(high, 0) && math.Abs(high) < 1<<50 {
			out = append(out, wrongValue{"values.range", "at most " + reference.FormatNumber(high), jsonv.Int(int64(high) + 1), []string{p.name}})
		}
	}
	if kind != "string" {
		return out
	}
	if _, most := lengths(p); most < 100_000 {
		out = append(out, wrongValue{"values.length", fmt.Sprintf("at most %d characters", most), jsonv.String(strings.Repeat("z", most+1)), []string{p.name}})
	}
	if pattern := p.v.Lookup("pattern").Text(); pattern != "" {
		if miss := "\u00a7 zz !"; cat.fits(p, jsonv.String(miss)) != "" {
			out = append(out, wrongValue{"values.pattern", "a text like " + display.Truncate(pattern, 60), jsonv.String(miss), []string{p.name}})
		}
	}
	return out
}
