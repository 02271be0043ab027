package aql

import (
	"strconv"
	"strings"

	"mcptest/internal/jsonv"
)

// Under the strict rules evidence counts only when it is about what the
// introspection says: a test of an operation that does not exist shows
// nothing.

// knows says that an operation is listed or has a detail. Where nothing is
// listed at all, nothing can be said against it.
func (j *judgement) knows(op string) bool {
	if j.detailed[op] {
		return true
	}
	empty := true
	for name := range listedOperations(j.e) {
		if empty = false; name == op {
			return true
		}
	}
	return empty && len(j.detailed) == 0
}

// documents returns what the detail of an operation says of a parameter,
// absent when it says nothing.
func (j *judgement) documents(op, param string) jsonv.Value {
	for _, d := range j.e.OperationDetails {
		if d.Lookup("name").Text() != op {
			continue
		}
		for _, p := range parameterList(d) {
			if p.Lookup("name").Text() == param {
				return p
			}
		}
	}
	return jsonv.Value{}
}

// defaultEquivalent is where a live run writes that an answer is the same with
// and without the documented default.
const defaultEquivalent = "_conformance.default_equivalent"

// failure is a failure in the evidence, wherever it stands.
type failure struct {
	at                *place
	response, request jsonv.Value
	provoked          bool // by a call that was meant to fail
}

// otherFailures are the failures that are not among the error tests.
func (j *judgement) otherFailures() (out []failure) {
	told := map[int]bool{}
	for _, c := range j.e.ErrorTests {
		told[c.Call] = c.Call > 0
	}
	add := func(at *place, response, request jsonv.Value, call int, provoked bool) {
		if refused(response) && !told[call] {
			out = append(out, failure{at, response, request, provoked})
		}
	}
	for i, c := range j.e.MissingRequired {
		add(spot("parameter_tests", "missing_required").elem(i).member("response"), c.Response, c.Request, c.Call, true)
	}
	for i, c := range j.e.UnknownParameter {
		add(spot("parameter_tests", "unknown_parameter").elem(i).member("response"), c.Response, c.Request, c.Call, true)
	}
	for i, c := range j.e.OptionalDefaults {
		add(spot("parameter_tests", "optional_defaults").elem(i).member("response"), c.Response, c.Request, c.Call, false)
	}
	for i, c := range j.e.RoundTrips {
		add(spot("round_trip_tests").elem(i).member("read_response"), c.ReadResponse, jsonv.Value{}, c.Call, false)
	}
	for i, c := range j.e.Updates {
		add(spot("update_preservation_tests").elem(i).member("read_response"), c.ReadResponse, jsonv.Value{}, c.Call, false)
	}
	for i, c := range j.e.Constraints {
		add(spot("constraint_tests").elem(i).member("response"), c.Response, c.Request, c.Call, holds(c))
	}
	for i, r := range j.e.BatchExample.Lookup("results").Elems() {
		add(spot("batch_example", "results").elem(i).member("result"), r.Lookup("result"), jsonv.Value{}, 0, false)
	}
	return out
}

// comparable says that a field is one of what was read, and not of the
// envelope around it.
func (f Field) comparable() bool { return f.Path == "data" || strings.HasPrefix(f.Path, "data.") }

// irrelevant says how many cases did not count, for a row that lacks others.
func irrelevant(n int, why string) string {
	if n == 0 {
		return ""
	}
	return ", and " + strconv.Itoa(n) + " in the bundle did not count: " + why
}
