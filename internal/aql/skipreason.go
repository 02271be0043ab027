package aql

import (
	"slices"
	"strings"

	"mcptest/internal/aql/reference"
	"mcptest/internal/aql/rule"
	"mcptest/internal/aql/verdict"
	"mcptest/internal/jsonv"
)

// What a live run did not look at, or left behind, through no fault of the
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

// excused reports whether a live run could not look at a category, through nothing
// that the adapter did wrong: it was cut short, or there is nothing that it
// may create.
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

// absences are the rules that are broken by what the evidence does not hold.
// A run that had no time to look has nothing to say about them.
var absences = map[string]bool{
	"operations.answer": true, "types.answer": true, "details.missing": true, "completeness.unaccepted": true, "completeness.no-detail": true,
	"required.case": true, "modes.both": true, "fields.supported": true, "batch.supported": true, "batch.example": true,
}

// excuse takes out of a row what it lacks because its run was cut short.
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
