package aql

import (
	"iter"
	"slices"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/evidence"
	"mcptest/internal/mcpaql/rule"
	"mcptest/internal/mcpaql/verdict"
)

// judgement is one pass over the evidence under one rule set.
type judgement struct {
	e   *evidence.Evidence
	set rule.Set

	normative bool
	read      []evidence.Reading  // the operation details in the documented form
	details   []jsonv.Value       // the same without the deviations
	faults    [][]verdict.Finding // the other faults of each operation detail
	// unreadable lists the operations whose parameters cannot be read.
	unreadable []string
	errors     [][]verdict.Finding // the faults in the answer of each error test
	// Indices of the evidence, so that large bundles take time in
	// proportion to their size.
	missing  map[[2]string][]int // cases of MissingRequired by operation and parameter
	accepted map[string][]string
	detailed map[string]bool // operations that have a detail
	listed   map[string]bool
	// described holds the documentation in the details, by operation and parameter.
	described    map[[2]string]jsonv.Value
	skipped      map[string]string  // operations that a live run left out, with the reason
	untested     map[[3]string]bool // test, operation and parameter that it left out; whether its mode or rules forbade the call
	inapplicable []verdict.Inapplicable
}

// isSound reports whether a payload with these findings is still valid.
func (j *judgement) isSound(found []verdict.Finding) bool {
	return !slices.ContainsFunc(found, func(f verdict.Finding) bool { return j.findWeight(f.Rule) == rule.Fail })
}

// findWeight returns the effect of breaking a rule in this judgement.
func (j *judgement) findWeight(id string) rule.Weight {
	r := rule.ByID()[id]
	w := r.FindWeight(j.set)
	isNormativeMust := r.Requirement == rule.Must && r.IsNormative()
	if j.normative && j.set == rule.Strict && isNormativeMust && w == rule.Warn {
		return rule.Fail
	}
	return w
}

// shows reports whether an answer is a success that is usable as evidence.
func (j *judgement) shows(answer jsonv.Value) bool {
	return evidence.IsSuccess(answer) && (j.set == rule.Reference || evidence.FindWrappedFailure(answer) == "")
}

// listOperations yields the operations in the list by name, with their
// places.
func listOperations(e *evidence.Evidence) iter.Seq2[jsonv.Value, place] {
	r := evidence.ReadOperations(e.OperationsList.Lookup("data"))
	return func(yield func(jsonv.Value, place) bool) {
		for i, op := range r.Value.Lookup("operations").Elems() {
			at := placeOf("introspection", "operations_list", "data", "operations")
			if len(r.Odd) == 0 {
				at = at.elem(i)
			}
			if op.Lookup("name").Kind() == jsonv.KindString && !yield(op, at) {
				return
			}
		}
	}
}

// readDetails reads the operation details and checks their form.
func (j *judgement) readDetails() {
	for i, d := range j.e.OperationDetails {
		r := evidence.Reading{Value: d}
		if j.set == rule.Strict {
			r = evidence.ReadDetail(d)
		}
		name := r.Value.Lookup("name").Text()
		if r.Unreadable != "" {
			j.unreadable = append(j.unreadable, name)
		}
		var p probe
		at := placeOf("introspection", "operation_details").elem(i)
		shapes()["operationDetail"].look(&p, at, r.Value, "details.object")
		j.read = append(j.read, r)
		j.details = append(j.details, r.Value)
		j.faults = append(j.faults, p.found)
	}
}

// canReadAll reports whether the parameters of every listed operation are known, so that
// a statement about all of them is possible.
func (j *judgement) canReadAll() bool {
	for name := range j.listed {
		if !j.detailed[name] {
			return false
		}
	}
	return len(j.read) > 0 && len(j.unreadable) == 0 && len(j.findSilent()) == 0
}

// findSilent returns the operations whose details do not say which parameters they take: that
// there are none is not known.
func (j *judgement) findSilent() []string {
	var names []string
	for _, d := range j.details {
		if d.Lookup("parameters").IsAbsent() {
			names = append(names, d.Lookup("name").Text())
		}
	}
	return names
}

// explainNoParameters says why a row without a case may still apply, "" if all details say which
// parameters there are.
func (j *judgement) explainNoParameters() string {
	silent := j.findSilent()
	if len(silent) == 0 {
		return ""
	}
	return "the details do not say which parameters there are: of " + evidence.JoinFirst(silent)
}

// Under the strict rules evidence counts only if it concerns something in the
// introspection: a test of an operation that does not exist proves nothing.

// knows reports whether an operation is listed or has a detail. If nothing is listed
// at all, every operation counts as known.
func (j *judgement) knows(op string) bool {
	return j.detailed[op] || j.listed[op] || len(j.detailed) == 0 && len(j.listed) == 0
}

// findDocumentation returns a detail's documentation of a parameter, absent if there is none.
func (j *judgement) findDocumentation(op, param string) jsonv.Value {
	return j.described[[2]string{op, param}]
}

// readNames indexes the listed and documented names.
func (j *judgement) readNames() {
	j.detailed = map[string]bool{}
	j.listed = map[string]bool{}
	j.described = map[[2]string]jsonv.Value{}
	for op := range listOperations(j.e) {
		j.listed[op.Lookup("name").Text()] = true
	}
	for _, d := range j.details {
		name := d.Lookup("name")
		if name.Kind() == jsonv.KindString {
			j.detailed[name.Text()] = true
		}
		for _, p := range d.Lookup("parameters").Elems() {
			key := [2]string{name.Text(), p.Lookup("name").Text()}
			if _, known := j.described[key]; !known {
				j.described[key] = p
			}
		}
	}
}
