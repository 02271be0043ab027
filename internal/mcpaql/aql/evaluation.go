package aql

import (
	"fmt"
	"strconv"

	"mcptest/internal/base/jsonv"
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

func findHeaviest(found []verdict.Finding) (w rule.Weight) {
	for _, f := range found {
		w = max(w, f.Weight)
	}
	return w
}

// addUnreadableGap records that a row does not cover an operation whose parameters
// cannot be read.
func (x *evaluation) addUnreadableGap(i int) {
	if x.read[i].Unreadable != "" {
		x.gaps = append(x.gaps, x.read[i].Value.Lookup("name").Text())
	}
}

// explainIrrelevant describes how many cases did not count, for a row that lacks others.
func explainIrrelevant(n int, why string) string {
	return ", and " + strconv.Itoa(n) + " in the bundle not counted: " + why
}

// needParameters makes the check incomplete if details lack the parameters that it reads.
func (x *evaluation) needParameters() {
	if lacking := x.explainNoParameters(); lacking != "" {
		x.incomplete = lacking
	}
}
