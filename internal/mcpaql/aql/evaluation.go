package aql

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/evidence"
	"mcptest/internal/mcpaql/reference"
	"mcptest/internal/mcpaql/rule"
	"mcptest/internal/mcpaql/verdict"
)

// evaluation holds the state of the evaluation of one row.
type evaluation struct {
	*judgement
	test          rule.Test
	cases         int // the number of cases that were checked
	found         []verdict.Finding
	notApplicable string   // why the row does not apply to this implementation
	incomplete    string   // the evidence that the row lacks
	observed      string   // the detail if there is no finding; derived from cases if empty
	gaps          []string // what the row promises to test but has no case for
}

// fail adds a finding, unless the rule set lacks the rule.
func (x *evaluation) fail(id string, at place, v jsonv.Value, format string, args ...any) {
	if w := x.findWeight(id); w != rule.Off {
		x.found = append(x.found, verdict.Finding{
			Rule:   id,
			Weight: w,
			At:     string(at),
			Says:   fmt.Sprintf(format, args...),
			Offset: v.Offset(),
		})
	}
}

// take adds the findings of a shape that keep accepts.
func (x *evaluation) take(found []verdict.Finding, keep func(verdict.Finding) bool) {
	for _, f := range found {
		if f.Weight = x.findWeight(f.Rule); f.Weight != rule.Off && (keep == nil || keep(f)) {
			x.found = append(x.found, f)
		}
	}
}

// isSound reports whether a payload with these findings is still valid.
func (j *judgement) isSound(found []verdict.Finding) bool {
	return !slices.ContainsFunc(found, func(f verdict.Finding) bool { return j.findWeight(f.Rule) == rule.Fail })
}

// findWeight returns the effect of breaking a rule in this judgement.
func (j *judgement) findWeight(id string) rule.Weight {
	r := rule.ByID()[id]
	w := r.FindWeight(j.set)
	if j.normative && j.set == rule.Strict && w == rule.Warn && r.Requirement == rule.Must && r.IsNormative() {
		return rule.Fail
	}
	return w
}

// weighResult returns the result of a test whose heaviest finding has a weight.
func weighResult(w rule.Weight) verdict.Result {
	switch w {
	case rule.Fail:
		return verdict.Failed
	case rule.Warn:
		return verdict.Warned
	}
	return verdict.Pass
}

func (x *evaluation) buildResult() verdict.TestResult {
	x.excuse()
	t := verdict.TestResult{Name: x.test.Name, Findings: x.found}
	x.locate(t.Findings)
	if x.e.IsLive() {
		for i := range t.Findings {
			t.Findings[i].Exchange = x.e.Exchange(x.e.CallBehind(t.Findings[i].At))
		}
	}
	if t.Unproven = x.set == rule.Strict && x.cases == 0 && x.notApplicable == ""; t.Unproven {
		t.Incomplete = x.incomplete
	}
	if x.set == rule.Strict && x.cases > 0 {
		t.Missing = x.gaps
	}
	t.Result = weighResult(findHeaviest(x.found))
	switch {
	case len(x.found) > 0:
		t.Detail = verdict.Narrate(x.found)
	case x.set == rule.Strict && x.notApplicable != "":
		t.Result, t.Detail = verdict.Skipped, "Not applicable: "+x.notApplicable+"."
	case x.set == rule.Strict && x.cases == 0:
		t.Result = verdict.Skipped
		t.Detail = "No evidence: " + x.incomplete + "."
	case x.cases == 0:
		t.Detail = "No evidence against it: " + x.incomplete + "."
	case x.observed != "":
		t.Detail = x.observed
	default:
		t.Detail = fmt.Sprintf("%s: no problem found.", display.Count(x.cases, "case"))
	}
	if len(t.Missing) > 0 {
		t.Detail += " No case: " + evidence.JoinFirst(t.Missing) + "."
	}
	return t
}

// locate sets the line and column of findings.
func (x *evaluation) locate(found []verdict.Finding) {
	if x.e.File == nil {
		return
	}
	order := make([]*verdict.Finding, 0, len(found))
	for i := range found {
		if found[i].Offset >= 0 {
			order = append(order, &found[i])
		}
	}
	slices.SortStableFunc(order, func(a, b *verdict.Finding) int { return a.Offset - b.Offset })
	l := evidence.Locator{File: x.e.File}
	for _, f := range order {
		pos := l.At(f.Offset)
		f.Line, f.Column = pos.Line, pos.Col
	}
}

func findHeaviest(found []verdict.Finding) (w rule.Weight) {
	for _, f := range found {
		w = max(w, f.Weight)
	}
	return w
}

// readLiveFindings reads a live row's findings from the bundle.
func (x *evaluation) readLiveFindings() {
	x.incomplete = "the live run did not check it"
	if x.test.ID == "accuracy" || x.test.ID == "values" {
		x.gaps = slices.Clone(x.unreadable)
		x.noteOmitted()
	}
	at := placeOf("x_live", "tests")
	for i, t := range x.e.Live.Lookup("tests").Elems() {
		if t.Lookup("id").Text() != x.test.ID {
			continue
		}
		n, _ := t.Lookup("cases").Int64()
		x.cases = int(min(max(n, 0), 1<<30))
		x.incomplete = cmp.Or(t.Lookup("lacking").Text(), x.incomplete)
		x.notApplicable, x.observed = t.Lookup("moot").Text(), t.Lookup("observed").Text()
		for k, f := range t.Lookup("findings").Elems() {
			if rule := rule.ByID()[f.Lookup("rule").Text()]; rule != nil && rule.Test == x.test.ID {
				place := at.elem(i).member("findings").elem(k)
				x.fail(rule.ID, place, f, "%s", f.Lookup("says").Text())
			}
		}
	}
}

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

// wasCollectedSafely reads the policy of a live run.
func wasCollectedSafely(live jsonv.Value) bool {
	policy := live.Lookup("policy")
	return policy.Text() == "safe" || policy.Lookup("mode").Text() == "safe"
}
