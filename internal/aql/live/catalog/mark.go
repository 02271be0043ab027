package catalog

import (
	"strings"

	"mcptest/internal/aql/evidence"
	"mcptest/internal/jsonv"
)

// RunIDs returns the id of this run, as a list of run ids.
func (mk *Maker) RunIDs() []string { return []string{mk.runID} }

// Carries reports whether a text begins with the mark of a run. Case and separators
// are ignored: patterns of names allow few of them, and adapters change both.
func Carries(item jsonv.Value, runs []string) bool {
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

// Marker returns the prefix of the names that a run gives to its items.
func Marker(runID string) string {
	if runID == "" {
		return MarkerPrefix
	}
	return MarkerPrefix + runID + "_"
}

// MarkerPrefix begins the names of everything that a live run creates.
const MarkerPrefix = "zz_conf_"

// CanMark reports whether an item that an operation creates can carry the run's mark
// in one of its text parameters.
func (mk *Maker) CanMark(op *Operation) bool {
	for _, p := range op.Params {
		if v, err := mk.Value(op, p, p.Name); err == nil && Carries(v, mk.RunIDs()) {
			return true
		}
	}
	return false
}

// Marking adds to the parameters of a create one that carries the run's mark, unless
// they have one. without names a parameter that must not be added.
func (mk *Maker) Marking(op *Operation, params jsonv.Value, without string) jsonv.Value {
	if !op.Creates() || Carries(params, mk.RunIDs()) {
		return params
	}
	for _, p := range op.Params {
		if _, given := params.Get(p.Name); given || p.Name == without {
			continue
		}
		if v, err := mk.Value(op, p, p.Name); err == nil && Carries(v, mk.RunIDs()) {
			return params.With(p.Name, v)
		}
	}
	return params
}
