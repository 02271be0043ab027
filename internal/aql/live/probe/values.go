package probe

import (
	"fmt"
	"slices"
	"strings"

	"mcptest/internal/aql/evidence"
	"mcptest/internal/aql/live/catalog"
	"mcptest/internal/aql/live/guard"
	"mcptest/internal/jsonv"
)

// wrongValues sends values that the documented type, enum or range does not
// allow.
func (pr operationProbe) wrongValues(op *catalog.Operation) {
	for _, p := range op.Params {
		if op.IsIdentifier(p) && op.Category != "READ" {
			continue
		}
		for _, w := range pr.run.Catalog.Wrong(p) {
			params := pr.run.Maker.Marking(op, pr.run.Builder.Fresh(op).With(p.Name, w.Value), p.Name)
			if pair := catalog.CursorPair(p.Name); pair != "" && op.Param(pair) != nil {
				params = params.With(pair, jsonv.Int(1))
			}
			r := pr.run.Keeper.Attempt(op, params)
			if !r.Sent() {
				continue
			}
			pr.run.Rows.Count("values")
			if r.OK() && w.Rule == "values.range" && clamped(op, p, w.Value, r) {
				continue
			}
			if r.OK() {
				pr.run.Rows.Fail(w.Rule, r, "%s accepts %s for %s, which must be %s", op.Name, evidence.Brief(w.Value), evidence.Quoted(p.Name), w.Wants)
				continue
			}
			if strings.HasPrefix(r.Code(), "NOT_FOUND") {
				continue // the adapter searched before it validated the value
			}
			if r.UnknownParameter(p.Name) || r.Code() == "VALIDATION_MISSING_PARAM" && !evidence.Names(r.Message(), p.Name) {
				continue // refused for another reason, which accuracy reports
			}
			pr.run.Failed(fmt.Sprintf("%s with a wrong %s (%s)", op.Name, p.Name, strings.TrimPrefix(w.Rule, "values.")), r, w.Mention...)
		}
	}
}

// clamped reports whether a request for too large a page was answered with the
// largest page, as PG 5.3 requires.
func clamped(op *catalog.Operation, p catalog.Parameter, v jsonv.Value, r guard.Reply) bool {
	_, high := catalog.Bounds(p)
	return op.Category == "READ" && slices.Contains([]string{"first", "last", "limit", "page_size", "per_page"}, p.Name) &&
		v.Float64() > high && float64(len(catalog.Items(r.Data(), catalog.ListDepth))) <= high
}
