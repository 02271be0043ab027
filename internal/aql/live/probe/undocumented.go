package probe

import (
	"slices"

	"mcptest/internal/aql/evidence"
	"mcptest/internal/aql/live/catalog"
	"mcptest/internal/aql/live/guard"
	"mcptest/internal/jsonv"
)

// Parameters that work without being documented.

// undocumented searches for parameters that work without being documented.
func (pr operationProbe) undocumented(op *catalog.Operation, base guard.Reply) {
	if !base.OK() || op.Name == "introspect" {
		return
	}
	list := catalog.Items(base.Data(), catalog.ListDepth)
	candidates := []jsonv.Member{evidence.TextMember("query", "zz_conf_matches_nothing"), evidence.TextMember("filter", "zz_conf_matches_nothing")}
	if len(list) >= 2 {
		for _, name := range []string{"limit", "first", "page_size", "per_page", "offset"} {
			candidates = append(candidates, jsonv.Member{Key: name, Value: jsonv.Int(1)})
		}
	}
	if keys := catalog.ScalarKeys(catalog.Sample(base.Data())); len(keys) > 1 {
		candidates = append(candidates, jsonv.Member{Key: "fields", Value: jsonv.Array(jsonv.String(keys[0]))})
	}
	candidates = append(candidates, pr.siblings(op, candidates)...)
	for _, m := range candidates {
		if op.Param(m.Key) != nil {
			continue
		}
		r := pr.run.Caller.Call(op, pr.run.Builder.Fresh(op).With(m.Key, m.Value))
		if r.OK() && !r.UnknownParameter(m.Key) && pr.run.Steady.Differs(op, base, r) {
			pr.accept(op, m.Key)
		}
	}
}

const maxSiblings = 6

// siblings returns the parameters of other READ operations of the same resource.
func (pr operationProbe) siblings(op *catalog.Operation, have []jsonv.Member) (out []jsonv.Member) {
	for _, other := range pr.run.Catalog.Operations {
		if other == op || other.Category != "READ" || !catalog.SameResource(other.Resource, op.Resource) {
			continue
		}
		for _, p := range other.Params {
			known := func(m jsonv.Member) bool { return m.Key == p.Name }
			if p.Required || slices.ContainsFunc(have, known) || slices.ContainsFunc(out, known) || len(out) >= maxSiblings {
				continue
			}
			if v, err := pr.run.Maker.Value(other, p, p.Name); err == nil {
				out = append(out, jsonv.Member{Key: p.Name, Value: v})
			}
		}
	}
	return out
}
