package live

import (
	"fmt"

	"mcptest/internal/aql/evidence"
	"mcptest/internal/aql/rule"
	"mcptest/internal/jsonv"
)

// liveTest collects what a live-only row rests on.
type liveTest struct {
	id       string
	cases    int
	found    []jsonv.Value
	moot     string
	lacking  string
	observed string
}

// maxLiveFindings bounds the findings of one row.
const maxLiveFindings = 500

// sees counts a case of a live-only row.
func (rs *rows) sees(test string) { rs.tests[test].cases++ }

// breaks files a finding of a live-only row, with the call that shows it.
func (rs *rows) breaks(id string, r reply, format string, args ...any) {
	t := rs.tests[rule.ByID()[id].Test]
	if len(t.found) >= maxLiveFindings {
		return
	}
	f := evidence.Object{{Key: "rule", Value: jsonv.String(id)}, {Key: "says", Value: jsonv.String(fmt.Sprintf(format, args...))}}
	if r.n > 0 {
		f.Set("call", jsonv.Int(int64(r.n)))
	}
	t.found = append(t.found, f.Value())
}

// leaves notes that a test did not look at a parameter, and why.
func (rs *rows) leaves(test, op, param, reason string) { rs.leave(test, op, param, reason, false) }

// leavesUnsent is leaves because of a call that was not sent or not answered.
func (rs *rows) leavesUnsent(test, op, param string, r reply) {
	rs.leave(test, op, param, r.cause.Error(), r.barred)
}

func (rs *rows) leave(test, op, param, reason string, policy bool) {
	o := evidence.Object{evidence.TextMember("test", test), evidence.TextMember("operation", op), evidence.TextMember("parameter", param), evidence.TextMember("reason", reason)}
	if policy {
		o.Set("policy", jsonv.Bool(true))
	}
	rs.untested = append(rs.untested, o.Value())
}

// rows is the tally of the rows that only live runs have.
type rows struct {
	untested []jsonv.Value
	tests    map[string]*liveTest
}

func (t *liveTest) json() jsonv.Value {
	o := evidence.Object{evidence.TextMember("id", t.id), {Key: "cases", Value: jsonv.Int(int64(t.cases))}}
	o.Text("lacking", t.lacking)
	o.Text("moot", t.moot)
	o.Text("observed", t.observed)
	o.List("findings", t.found)
	return o.Value()
}
