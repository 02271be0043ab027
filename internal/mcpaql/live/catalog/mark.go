package catalog

import (
	"mcptest/internal/base/jsonv"
)

// CanMark reports whether an item that an operation creates can carry the run's mark
// in one of its text parameters.
func (mk *Maker) CanMark(op *Operation) bool {
	return Carries(mk.AddMark(op, jsonv.Object(), ""), mk.RunIDs())
}

// AddMark adds to the parameters of a create one that carries the run's mark, unless
// they have one. without names a parameter that must not be added.
func (mk *Maker) AddMark(op *Operation, params jsonv.Value, without string) jsonv.Value {
	if !op.Creates() || Carries(params, mk.RunIDs()) {
		return params
	}
	for _, p := range op.Params {
		if _, given := params.Get(p.Name); given || p.Name == without {
			continue
		}
		if v, err := mk.MakeValue(op, p, p.Name); err == nil && Carries(v, mk.RunIDs()) {
			return params.With(p.Name, v)
		}
	}
	return params
}
