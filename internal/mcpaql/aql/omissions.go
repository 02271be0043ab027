package aql

import (
	"fmt"
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/evidence"
	"mcptest/internal/mcpaql/reference"
	"mcptest/internal/mcpaql/rule"
)

// Omissions of a live run, and their effect on a row that promises to test every
// operation or parameter: omissions that the policy required are mentioned, and any
// other omission is a gap.

// readSkipped indexes the omissions of a live run.
func (j *judgement) readSkipped() {
	j.skipped, j.untested = map[string]string{}, map[[3]string]bool{}
	if !j.e.IsLive() {
		return
	}
	for _, s := range j.e.Live.Lookup("skipped").Elems() {
		j.skipped[s.Lookup("operation").Text()] = s.Lookup("reason").Text()
	}
	for _, s := range j.e.Live.Lookup("untested").Elems() {
		test, op, param := s.Lookup("test").Text(), s.Lookup("operation").Text(), s.Lookup("parameter").Text()
		key := [3]string{test, op, param}
		j.untested[key] = s.Lookup("policy").Bool()
	}
}

// hasSkipped reports whether a live run left an operation out.
func (j *judgement) hasSkipped(op string) bool { _, left := j.skipped[op]; return left }

// canCall reports whether the run could have called an operation: it called it, or
// left it out only because the run ended before.
func (j *judgement) canCall(op string) bool {
	reason, left := j.skipped[op]
	return !left || reason != "" && reason == j.e.Live.Lookup("ended").Text()
}

// hasPassedOver reports whether a live run left out an operation, or one parameter for
// one test; the report then mentions the omission instead of blaming the adapter.
func (j *judgement) hasPassedOver(test, op, param string) bool {
	_, left := j.untested[[3]string{test, op, param}]
	return j.set == rule.Strict && (j.hasSkipped(op) || left)
}

// noteLack notes that a row has no case of what the run passed over, as a gap or,
// where the policy forbade it, among the left.
func (x *evaluation) noteLack(test, op, param, name string, left *[]string) {
	if slices.Contains(x.unreadable, op) {
		x.gaps = append(x.gaps, op)
		return
	}
	if x.canCall(op) && !x.untested[[3]string{test, op, param}] {
		x.gaps = append(x.gaps, name)
		return
	}
	if !x.canCall(op) {
		name = op
	}
	if !slices.Contains(*left, name) {
		*left = append(*left, name)
	}
}

// noteOmitted notes the operations as gaps that the row's test passed over as a whole.
func (x *evaluation) noteOmitted() {
	if !x.e.IsLive() {
		return
	}
	for _, u := range x.e.Live.Lookup("untested").Elems() {
		isWhole := u.Lookup("parameter").Text() == "" && !u.Lookup("policy").Bool()
		if u.Lookup("test").Text() == x.test.ID && isWhole {
			x.gaps = append(x.gaps, u.Lookup("operation").Text()+" ("+u.Lookup("reason").Text()+")")
		}
	}
}

// describeObstacles describes what kept a live run from a row's cases, of the operations
// named and of what the row's test passed over.
func (x *evaluation) describeObstacles(ops []string) string {
	var why []string
	for _, u := range x.e.Live.Lookup("untested").List() {
		what := strings.TrimSpace(u.Lookup("operation").Text() + " " + u.Lookup("parameter").Text())
		if u.Lookup("test").Text() == x.test.ID {
			why = append(why, what+": "+u.Lookup("reason").Text())
		}
	}
	for _, s := range x.e.Live.Lookup("skipped").Elems() {
		op := s.Lookup("operation").Text()
		if slices.Contains(ops, op) {
			text := op + ": " + s.Lookup("reason").Text() + ": " + s.Lookup("detail").Text()
			why = append(why, strings.TrimSuffix(text, ": "))
		}
	}
	if len(why) == 0 {
		if wasCollectedSafely(x.e.Live) {
			return "the run found none; --mode write checks more, and " + x.hintAtValues()
		}
		return "the run found none; " + x.hintAtValues()
	}
	if !slices.ContainsFunc(why, func(reason string) bool { return !strings.HasSuffix(reason, evidence.NotShown) }) {
		return evidence.JoinFirst(why)
	}
	return evidence.JoinFirst(why) + "; " + x.hintAtValues()
}

// hintAtValues says what --values can do, also for a run that had it.
func (x *evaluation) hintAtValues() string {
	if x.e.Live.Lookup("policy", "values").Bool() {
		return "other values of --values may show one"
	}
	return "--values provides values"
}

// describeLeftOut names what a live run may not, or could not, call.
func describeLeftOut(left []string) string {
	if len(left) == 0 {
		return ""
	}
	return fmt.Sprintf(" Left out because of the mode, a missing value, or the risk to data that the run did not create: %s.", evidence.JoinFirst(left))
}

// Parts that a live run did not test, or left behind, through no fault of the
// adapter.

// DescribeLeftover describes one entry of x_live.leftovers.
func DescribeLeftover(l jsonv.Value) string {
	s := l.Lookup("operation").Text()
	id, call := l.Lookup("id"), l.Lookup("call")
	switch {
	case !id.IsAbsent():
		s += " " + reference.FormatText(id)
	case !call.IsAbsent():
		s += ", call " + reference.FormatText(call)
	}
	return s + ": " + l.Lookup("reason").Text()
}

// wasCollectedSafely reads the policy of a live run.
func wasCollectedSafely(live jsonv.Value) bool {
	policy := live.Lookup("policy")
	return policy.Text() == "safe" || policy.Lookup("mode").Text() == "safe"
}
