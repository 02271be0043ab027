package verdict_test

import (
	"testing"

	"mcptest/internal/report/gate"
	"mcptest/internal/run/probe/verdict"
)

// failures of one rule, in two revisions.
func failing() verdict.Report {
	result := func(revision string, subjects ...string) verdict.Result {
		x := verdict.Result{Rule: "message-schema", Revision: revision, Verdict: verdict.Fail}
		for _, s := range subjects {
			x.Failures = append(x.Failures, verdict.Failure{Subject: s, Message: "broken"})
		}
		return x
	}
	return verdict.Report{Results: []verdict.Result{result("2026-07-28", "tools/list"), result("2025-11-25", "tools/list", "tools/call echo")}}
}

// open lists the failures that are not accepted, by revision and subject.
func open(rep verdict.Report) map[string]bool {
	out := map[string]bool{}
	for _, x := range rep.Results {
		for _, f := range x.Failures {
			if f.Accepted == "" {
				out[x.Rule+" "+x.Revision+" "+f.Subject] = true
			}
		}
	}
	return out
}

// An entry accepts the failure that it names: the subject, in its revision.
func TestAnEntryAcceptsWhatItNames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		entry gate.Accepted
		want  int // failures that stay, with that of an entry that accepts nothing
	}{
		{gate.Accepted{Subject: "tools/list"}, 1},
		{gate.Accepted{Subject: "tools/list", Revision: "2025-11-25"}, 2},
		{gate.Accepted{Subject: "tools/list", Revision: "2026-07-28"}, 2},
		{gate.Accepted{Subject: "tools/call echo"}, 2},
		{gate.Accepted{Subject: "tools/call"}, 4},
		{gate.Accepted{Subject: "server"}, 4}, // of which of the two requests is not known
		{gate.Accepted{Tool: "echo"}, 4},
	} {
		rep := failing()
		c.entry.Rule = "message-schema"
		rep.Accept(&gate.Baseline{Accepted: []gate.Accepted{c.entry}})
		if got := open(rep); len(got) != c.want {
			t.Errorf("%+v: %v stay, expected %d", c.entry, got, c.want)
		}
	}
}

// An entry without a request, as older versions wrote it, accepts the failures of one.
func TestAnOlderEntryAcceptsOneRequest(t *testing.T) {
	t.Parallel()
	rep := failing()
	rep.Results[1].Failures = rep.Results[1].Failures[:1]
	rep.Accept(&gate.Baseline{Accepted: []gate.Accepted{{Rule: "message-schema", Subject: "server"}}})
	if got := open(rep); len(got) > 0 {
		t.Errorf("%v stay", got)
	}
}
