package aql

import (
	"strconv"

	"mcptest/internal/jsonv"
)

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
	for _, d := range j.details() {
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
