package aql

import (
	"slices"
	"strings"

	"mcptest/internal/aql/reference"
	"mcptest/internal/aql/rule"
	"mcptest/internal/aql/verdict"
	"mcptest/internal/jsonv"
)

// Parts that a live run did not test, or left behind, through no fault of the
// adapter.

// Leftover describes one entry of x_live.leftovers.
func Leftover(l jsonv.Value) string {
	s := l.Lookup("operation").Text()
	switch id, call := l.Lookup("id"), l.Lookup("call"); {
	case !id.IsAbsent():
		s += " " + reference.Text(id)
	case !call.IsAbsent():
		s += ", call " + reference.Text(call)
	}
	return s + ": " + l.Lookup("reason").Text()
}

// excused reports whether a live run could not test a category through no fault of
// the adapter: the run ended early, or there is nothing that it may create.
func (j *judgement) excused(category string) bool {
	if !j.e.IsLive() {
		return false
	}
	if j.e.Live.Lookup("ended").Text() != "" {
		return true
	}
	for op := range listedOperations(j.e) {
		creates := strings.EqualFold(op.Lookup("semantic_category").Text(), "CREATE") || strings.EqualFold(op.Lookup("endpoint").Text(), "CREATE")
		if creates && !j.skips(op.Lookup("name").Text()) {
			return false
		}
	}
	return category == rule.RoundTrip
}

// absences lists the rules that missing evidence breaks. A run that had no time to
// collect the evidence does not break them.
var absences = map[string]bool{
	"operations.answer": true, "types.answer": true, "details.missing": true, "completeness.unaccepted": true, "completeness.no-detail": true,
	"required.case": true, "modes.both": true, "fields.supported": true, "batch.supported": true, "batch.example": true,
}

// excuse removes from a row the findings about evidence that is missing because the
// run ended early.
func (x *evaluation) excuse() {
	why := x.e.Live.Lookup("cut_short", x.test.ID).Text()
	if why == "" || x.set != rule.Strict || !x.e.IsLive() {
		return
	}
	x.found = slices.DeleteFunc(x.found, func(f verdict.Finding) bool { return absences[f.Rule] })
	if len(x.found) == 0 {
		x.cases, x.notApplicable, x.incomplete = 0, "", "not checked: "+why
	}
}

// collectedSafely reads the policy of a live run.
func collectedSafely(live jsonv.Value) bool {
	policy := live.Lookup("policy")
	return policy.Text() == "safe" || policy.Lookup("mode").Text() == "safe"
}
