package aql

import (
	"fmt"
	"slices"
	"strings"

	"mcptest/internal/display"
	"mcptest/internal/jsonv"
)

// ruling is the work on one row.
type ruling struct {
	*judgement
	test     Test
	cases    int // what was looked at
	found    []Finding
	moot     string   // why the row does not apply to this implementation
	lacking  string   // what evidence the row would need
	observed string   // what to say when all is well; made from cases when empty
	gaps     []string // what the row promises to look at, and no case is about
}

// breaks adds a finding, unless the rule set does not have the rule.
func (x *ruling) breaks(rule string, at *place, v jsonv.Value, format string, args ...any) {
	if w := x.weight(rule); w != Off {
		x.found = append(x.found, Finding{Rule: rule, Weight: w, At: at.pointer(), Says: fmt.Sprintf(format, args...), offset: v.Offset()})
	}
}

// takes adds what a shape found, if keep says so.
func (x *ruling) takes(found []Finding, keep func(Finding) bool) {
	for _, f := range found {
		if f.Weight = x.weight(f.Rule); f.Weight != Off && (keep == nil || keep(f)) {
			x.found = append(x.found, f)
		}
	}
}

// sound says that a payload's findings do not make it invalid.
func (j *judgement) sound(found []Finding) bool {
	return !slices.ContainsFunc(found, func(f Finding) bool { return j.weight(f.Rule) == Fail })
}

// weight is what breaking a rule costs in this judgement.
func (j *judgement) weight(rule string) Weight {
	r := rulesByID()[rule]
	w := r.Weight(j.set)
	if j.normative && j.set == Strict && w == Warn && r.Requirement == Must && r.normative() {
		return Fail
	}
	return w
}

func (x *ruling) result() TestResult {
	x.excuse()
	t := TestResult{Name: x.test.Name, test: x.test.ID, Result: Pass, Findings: x.found}
	x.locate(t.Findings)
	x.e.exchanges(t.Findings)
	if t.unproven = x.set == Strict && x.cases == 0 && x.moot == ""; t.unproven {
		t.lacking = x.lacking
	}
	if x.set == Strict && x.cases > 0 {
		t.Missing = x.gaps
	}
	switch heaviest(x.found) {
	case Fail:
		t.Result = Failed
	case Warn:
		t.Result = Warned
	}
	switch {
	case len(x.found) > 0:
		t.Detail = narrate(x.found)
	case x.set == Strict && x.moot != "":
		t.Result, t.Detail = Skipped, "Not applicable: "+x.moot+"."
	case x.set == Strict && x.cases == 0:
		t.Result = Skipped
		t.Detail = "No evidence: " + x.lacking + "."
	case x.cases == 0:
		t.Detail = "No evidence against it: " + x.lacking + "."
	case x.observed != "":
		t.Detail = x.observed
	default:
		t.Detail = fmt.Sprintf("%s: no problem found.", display.Count(x.cases, "case"))
	}
	if len(t.Missing) > 0 {
		t.Detail += " No case: " + several(t.Missing) + "."
	}
	return t
}

// maxNamed is how many things one sentence names.
const maxNamed = 6

// several names the first of some things and counts the others.
func several(names []string) string {
	if n := len(names) - maxNamed; n > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxNamed], ", "), n)
	}
	return strings.Join(names, ", ")
}

// locate gives findings the line and column of what they are about.
func (x *ruling) locate(found []Finding) {
	if x.e.File == nil {
		return
	}
	order := make([]*Finding, 0, len(found))
	for i := range found {
		if found[i].offset >= 0 {
			order = append(order, &found[i])
		}
	}
	slices.SortStableFunc(order, func(a, b *Finding) int { return a.offset - b.offset })
	l := locator{file: x.e.File}
	for _, f := range order {
		pos := l.at(f.offset)
		f.Line, f.Column = pos.Line, pos.Col
	}
}

func heaviest(found []Finding) (w Weight) {
	for _, f := range found {
		w = max(w, f.Weight)
	}
	return w
}
