package guard

import (
	"fmt"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/rule"
)

// Row collects the evidence of a live-only row, in the form of x_live.tests.
type Row struct {
	ID            string        `member:"id"`
	Cases         int           `member:"cases"`
	Incomplete    string        `member:"lacking,omitempty"`
	NotApplicable string        `member:"moot,omitempty"`
	Findings      []jsonv.Value `member:"findings,omitempty"`
}

// maxLiveFindings bounds the findings of one row.
const maxLiveFindings = 500

// rows is the tally of the rows that only live runs have.
type rows struct {
	Untested []jsonv.Value
	Tests    map[string]*Row
}

// newRows returns a tally with a row for each test that only live runs have.
func newRows() *rows {
	rs := &rows{Tests: map[string]*Row{}}
	for _, t := range rule.Tests() {
		if t.Live {
			rs.Tests[t.ID] = &Row{ID: t.ID}
		}
	}
	return rs
}

// Count counts a case of a live-only row.
func (rs *rows) Count(test string) { rs.Tests[test].Cases++ }

// Fail adds a finding to a live-only row, with the call that shows it.
func (rs *rows) Fail(id string, r Reply, format string, args ...any) {
	t := rs.Tests[rule.ByID()[id].Test]
	if len(t.Findings) >= maxLiveFindings {
		return
	}
	says := fmt.Sprintf(format, args...)
	finding := jsonv.ObjectOf("rule", id, "says", says)
	if r.Number != 0 {
		finding = finding.With("call", jsonv.Int(int64(r.Number)))
	}
	t.Findings = append(t.Findings, finding)
}

// Skip records that a test left a parameter out, and why.
func (rs *rows) Skip(test, op, param, reason string) {
	left := jsonv.ObjectOf("test", test, "operation", op, "parameter", param, "reason", reason)
	rs.Untested = append(rs.Untested, left)
}

// SkipByPolicy is like Skip for what the mode or the rules of the run forbid.
func (rs *rows) SkipByPolicy(test, op, param, reason string) {
	left := jsonv.ObjectOf("test", test, "operation", op, "parameter", param, "reason", reason, "policy", true)
	rs.Untested = append(rs.Untested, left)
}

// SkipUnsent is like Skip for a call that was not sent or not answered.
func (rs *rows) SkipUnsent(test, op, param string, r Reply) {
	if r.Barred {
		rs.SkipByPolicy(test, op, param, r.Cause.Error())
	} else {
		rs.Skip(test, op, param, r.Cause.Error())
	}
}
