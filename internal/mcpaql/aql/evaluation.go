package aql

import (
	"fmt"
	"slices"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/evidence"
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
func (x *evaluation) fail(id string, at *place, v jsonv.Value, format string, args ...any) {
	if w := x.weight(id); w != rule.Off {
		x.found = append(x.found, verdict.Finding{Rule: id, Weight: w, At: at.pointer(), Says: fmt.Sprintf(format, args...), Offset: v.Offset()})
	}
}

// take adds the findings of a shape that keep accepts.
func (x *evaluation) take(found []verdict.Finding, keep func(verdict.Finding) bool) {
	for _, f := range found {
		if f.Weight = x.weight(f.Rule); f.Weight != rule.Off && (keep == nil || keep(f)) {
			x.found = append(x.found, f)
		}
	}
}

// sound reports whether a payload with these findings is still valid.
func (j *judgement) sound(found []verdict.Finding) bool {
	return !slices.ContainsFunc(found, func(f verdict.Finding) bool { return j.weight(f.Rule) == rule.Fail })
}

// weight returns the effect of breaking a rule in this judgement.
func (j *judgement) weight(id string) rule.Weight {
	r := rule.ByID()[id]
	w := r.Weight(j.set)
	if j.normative && j.set == rule.Strict && w == rule.Warn && r.Requirement == rule.Must && r.Normative() {
		return rule.Fail
	}
	return w
}

func (x *evaluation) result() verdict.TestResult {
	x.excuse()
	t := verdict.TestResult{Name: x.test.Name, Result: verdict.Pass, Findings: x.found}
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
	switch heaviest(x.found) {
	case rule.Fail:
		t.Result = verdict.Failed
	case rule.Warn:
		t.Result = verdict.Warned
	}
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
		t.Detail += " No case: " + evidence.Several(t.Missing) + "."
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

func heaviest(found []verdict.Finding) (w rule.Weight) {
	for _, f := range found {
		w = max(w, f.Weight)
	}
	return w
}
