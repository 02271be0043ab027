package live

import (
	"slices"

	"mcptest/internal/aql/evidence"
	"mcptest/internal/jsonv"
)

// Parameters that work though nobody documents them.

// undocumented looks for parameters that work and are not documented.
func (pr operationProbe) undocumented(op *liveOp, base reply) {
	if !base.ok() || op.name == "introspect" {
		return
	}
	list := items(base.data(), listDepth)
	candidates := []jsonv.Member{evidence.TextMember("query", "zz_conf_matches_nothing"), evidence.TextMember("filter", "zz_conf_matches_nothing")}
	if len(list) >= 2 {
		for _, name := range []string{"limit", "first", "page_size", "per_page", "offset"} {
			candidates = append(candidates, jsonv.Member{Key: name, Value: jsonv.Int(1)})
		}
	}
	if keys := scalarKeys(sample(base.data())); len(keys) > 1 {
		candidates = append(candidates, jsonv.Member{Key: "fields", Value: jsonv.Array(jsonv.String(keys[0]))})
	}
	candidates = append(candidates, pr.siblings(op, candidates)...)
	for _, m := range candidates {
		if op.param(m.Key) != nil {
			continue
		}
		r := pr.run.caller.call(op, pr.run.builder.fresh(op).With(m.Key, m.Value))
		if r.ok() && !r.unknownParameter(m.Key) && pr.run.steady.differs(op, base, r) {
			pr.accept(op, m.Key)
		}
	}
}

const maxSiblings = 6

// siblings are parameters of other READ operations of the same resource.
func (pr operationProbe) siblings(op *liveOp, have []jsonv.Member) (out []jsonv.Member) {
	for _, other := range pr.run.catalog.ops {
		if other == op || other.category != "READ" || !sameResource(other.resource, op.resource) {
			continue
		}
		for _, p := range other.params {
			known := func(m jsonv.Member) bool { return m.Key == p.name }
			if p.required || slices.ContainsFunc(have, known) || slices.ContainsFunc(out, known) || len(out) >= maxSiblings {
				continue
			}
			if v, err := pr.run.maker.value(other, p, p.name); err == nil {
				out = append(out, jsonv.Member{Key: p.name, Value: v})
			}
		}
	}
	return out
}
