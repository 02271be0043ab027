package aql

import (
	"cmp"
	"fmt"
	"slices"

	"mcptest/internal/base/display"
	"mcptest/internal/mcpaql/evidence"
	"mcptest/internal/mcpaql/rule"
	"mcptest/internal/mcpaql/verdict"
)

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
