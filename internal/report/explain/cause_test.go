package explain_test

import (
	"fmt"
	"testing"

	"mcptest/internal/report/explain"
	"mcptest/internal/report/render"
	"mcptest/internal/report/result"
)

// The first rows of a test are explained, and the others counted; a failure
// with details of its own shares no cause.
func TestCauses(t *testing.T) {
	row := func(i int) *result.Case {
		return &result.Case{
			Name: fmt.Sprint("row ", i), Status: result.Fail, Line: 3, Message: fmt.Sprint("got ", i),
			Assertions: []result.Assertion{{Target: "text", Matcher: "exact", Line: 5, Message: fmt.Sprint("got ", i)}},
		}
	}
	var cs explain.Causes
	var shared *explain.Cause
	for i := range 10 {
		why, first := cs.Find(row(i))
		if first != (i < 3) {
			t.Errorf("row %d: explained is %v", i, first)
		}
		shared = why
	}
	if shared.Others != 7 || !shared.Rows || shared.Last != "row 2" {
		t.Errorf("got %+v", shared)
	}
	odd := row(11)
	odd.Violations = []result.Violation{{Kind: "stray-output"}}
	if why, first := cs.Find(odd); why != nil || !first {
		t.Error("a test with a violation shares a cause")
	}
	verbose := explain.Causes{Verbose: true}
	for i := range 5 {
		if why, first := verbose.Find(row(i)); why != nil || !first {
			t.Error("verbose output leaves a row out")
		}
	}
}

// The age of a line of standard error does not make another cause.
func TestCausesWithAges(t *testing.T) {
	var cs explain.Causes
	for i, age := range []string{"1.2s", "2.4s"} {
		message := "tools/call timed out after 1s; the server is alive, its last line on stderr, " + age + ` old: "ready"`
		if _, first := cs.Find(&result.Case{Status: result.Error, Server: "api", Message: message}); first != (i == 0) {
			t.Errorf("%s: explained is %v", age, first)
		}
	}
}

// A failed cleanup is no failure for CI; a failed setup and an error are.
func TestPseudoTests(t *testing.T) {
	r := &result.Run{
		Suites: []result.Suite{{Name: "s", File: "s.yaml"}},
		Phases: []result.Phase{
			{Phase: "setup", Name: "db", Status: result.Error, File: "s.yaml", Line: 4, Message: "no disk"},
			{Phase: "teardown", Name: "db", Status: result.Fail},
		},
		Findings: []result.Finding{{Kind: "leak", Severity: "error", Server: "api", Message: "2 processes"}, {Kind: "note", Severity: "warning"}},
	}
	all := explain.ListPseudoTests(r, explain.NewExplainer(r, render.Options{}))
	if len(all) != 2 {
		t.Fatalf("got %+v", all)
	}
	if all[0].Kind != "setup" || all[0].Status != result.Error || all[0].Line != 4 {
		t.Errorf("got %+v", all[0])
	}
	if all[1].MessageLine() != "server api: 2 processes" || all[1].File != "s.yaml" {
		t.Errorf("got %+v", all[1])
	}
}

// Cases with the same suite name in a row are one section, with its totals.
func TestSections(t *testing.T) {
	c := func(suite string, status result.Status, ms float64) *result.Case {
		return &result.Case{Suite: suite, File: suite + ".yaml", Status: status, DurationMS: ms}
	}
	r := &result.Run{Cases: result.NewStored(c("a", result.Pass, 1), c("a", result.Fail, 2), c("b", result.Skip, 0))}
	all, err := explain.ListSections(r)
	if err != nil || len(all) != 2 || all[0].Total != 2 || all[0].Failed != 1 || all[0].MS != 3 || all[1].Skipped != 1 {
		t.Fatalf("got %+v, %v", all, err)
	}
	var order []string
	if err := explain.WalkSections(r, all, func(s *explain.Section, first bool, c *result.Case) error {
		order = append(order, fmt.Sprint(s.Title(), first, c.Status))
		return nil
	}); err != nil || fmt.Sprint(order) != "[atruepass afalsefail btrueskip]" {
		t.Errorf("got %v, %v", order, err)
	}
}
