package live

import (
	"strings"

	"mcptest/internal/aql/evidence"
	"mcptest/internal/jsonv"
)

// mine is this run, as the one that left something.
func (mk *maker) mine() []string { return []string{mk.runID} }

// carries says that a text begins with the mark of a run. Case and separators
// do not count: patterns of names allow few of them, and adapters change both.
func carries(item jsonv.Value, runs []string) bool {
	plain := strings.NewReplacer("_", "", "-", "", " ", "")
	hit := false
	evidence.EveryText(item, func(s string) {
		for _, run := range runs {
			mark := plain.Replace(Marker(run))
			begin := plain.Replace(s[:min(len(s), 2*len(mark))])
			hit = hit || run != "" && len(begin) >= len(mark) && strings.EqualFold(begin[:len(mark)], mark)
		}
	})
	return hit
}

// Marker is how names begin that a run gave to what it created.
func Marker(runID string) string {
	if runID == "" {
		return markerPrefix
	}
	return markerPrefix + runID + "_"
}

const markerPrefix = "zz_conf_"

// canMark says that what an operation creates can carry the run's mark, in
// one of the texts that it is created with.
func (mk *maker) canMark(op *liveOp) bool {
	for _, p := range op.params {
		if v, err := mk.value(op, p, p.name); err == nil && carries(v, mk.mine()) {
			return true
		}
	}
	return false
}

// marking adds to parameters of a create one that carries the run's mark,
// unless they have one. without is a parameter that stays out.
func (mk *maker) marking(op *liveOp, params jsonv.Value, without string) jsonv.Value {
	if !op.creates() || carries(params, mk.mine()) {
		return params
	}
	for _, p := range op.params {
		if _, given := params.Get(p.name); given || p.name == without {
			continue
		}
		if v, err := mk.value(op, p, p.name); err == nil && carries(v, mk.mine()) {
			return params.With(p.name, v)
		}
	}
	return params
}
