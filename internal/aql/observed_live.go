package aql

import (
	"slices"

	"mcptest/internal/aql/evidence"
	"mcptest/internal/aql/rule"
	"mcptest/internal/aql/verdict"
)

// observedLive reads a live row's findings from the bundle.
func (x *evaluation) observedLive() {
	x.incomplete = "the live run did not check it"
	if x.test.ID == "accuracy" || x.test.ID == "values" {
		x.gaps = slices.Clone(x.unreadable)
	}
	at := spot("x_live", "tests")
	for i, t := range x.e.Live.Lookup("tests").Elems() {
		if t.Lookup("id").Text() != x.test.ID {
			continue
		}
		n, _ := t.Lookup("cases").Int64()
		x.cases = int(min(max(n, 0), 1<<30))
		if s := t.Lookup("lacking").Text(); s != "" {
			x.incomplete = s
		}
		x.notApplicable, x.observed = t.Lookup("moot").Text(), t.Lookup("observed").Text()
		for k, f := range t.Lookup("findings").Elems() {
			if rule := rule.ByID()[f.Lookup("rule").Text()]; rule != nil && rule.Test == x.test.ID {
				x.fail(rule.ID, at.elem(i).member("findings").elem(k), f, "%s", f.Lookup("says").Text())
			}
		}
	}
}

// exchanges finds the calls behind findings: by the case or the live finding that
// their place names, or, for introspection, by the query.
func exchanges(e *evidence.Evidence, found []verdict.Finding) {
	if !e.IsLive() {
		return
	}
	for i := range found {
		if n := e.CallBehind(found[i].At); n > 0 {
			found[i].Exchange = e.Exchange(n)
		}
	}
}
