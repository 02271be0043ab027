package live

import (
	"fmt"
	"slices"
	"strings"

	"mcptest/internal/aql/evidence"
	"mcptest/internal/jsonv"
)

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
