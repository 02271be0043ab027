package aql

import (
	"iter"

	"mcptest/internal/aql/evidence"
	"mcptest/internal/aql/rule"
	"mcptest/internal/jsonv"
)

// readDetails reads the operation details and checks their form.
func (j *judgement) readDetails() {
	for i, d := range j.e.OperationDetails {
		r := evidence.Reading{Value: d}
		if j.set == rule.Strict {
			r = evidence.ReadDetail(d)
		}
		if name := r.Value.Lookup("name").Text(); r.Unreadable != "" {
			j.unreadable = append(j.unreadable, name)
		}
		var p probe
		operationDetail.look(&p, spot("introspection", "operation_details").elem(i), r.Value, "details.object")
		j.read, j.faults = append(j.read, r), append(j.faults, p.found)
	}
}

// details yields the operation details in the documented form.
func (j *judgement) details() iter.Seq2[int, jsonv.Value] {
	return func(yield func(int, jsonv.Value) bool) {
		for i, r := range j.read {
			if !yield(i, r.Value) {
				return
			}
		}
	}
}

// allRead reports whether the parameters of every listed operation are known, so that
// a statement about all of them is possible.
func (j *judgement) allRead() bool {
	for name := range j.listed {
		if !j.detailed[name] {
			return false
		}
	}
	return len(j.read) > 0 && len(j.unreadable) == 0
}

// gapUnreadable records that a row does not cover an operation whose parameters
// cannot be read.
func (x *evaluation) gapUnreadable(i int) {
	if x.read[i].Unreadable != "" {
		x.gaps = append(x.gaps, x.read[i].Value.Lookup("name").Text())
	}
}
