package aql

import (
	"strconv"

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
		j.read, j.details, j.faults = append(j.read, r), append(j.details, r.Value), append(j.faults, p.found)
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

// Under the strict rules evidence counts only if it concerns something in the
// introspection: a test of an operation that does not exist proves nothing.

// knows reports whether an operation is listed or has a detail. If nothing is listed
// at all, every operation counts as known.
func (j *judgement) knows(op string) bool {
	return j.detailed[op] || j.listed[op] || len(j.detailed) == 0 && len(j.listed) == 0
}

// documents returns a detail's documentation of a parameter, absent if there is none.
func (j *judgement) documents(op, param string) jsonv.Value { return j.described[[2]string{op, param}] }

// indexNames indexes the listed and documented names.
func (j *judgement) indexNames() {
	j.detailed, j.listed, j.described = map[string]bool{}, map[string]bool{}, map[[2]string]jsonv.Value{}
	for op := range listedOperations(j.e) {
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

// irrelevant describes how many cases did not count, for a row that lacks others.
func irrelevant(n int, why string) string {
	if n == 0 {
		return ""
	}
	return ", and " + strconv.Itoa(n) + " in the bundle not counted: " + why
}
