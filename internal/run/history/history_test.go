package history

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"mcptest/internal/base/secret"
	"mcptest/internal/report/result"
	"mcptest/internal/spec/plan"
	"mcptest/internal/spec/suite"
)

// load writes and compiles a suite of two tests.
func load(t *testing.T) ([]*suite.Suite, *plan.Plan) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s.yaml")
	text := "servers:\n  api: {command: [server]}\ntools:\n  - {name: one, tool: a}\n  - {name: two, tool: a}\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	su, diags := suite.Load(path, suite.Options{})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	suites := []*suite.Suite{su}
	p, diags := plan.Compile(suites, plan.Settings{})
	if diags.HasErrors() || p.Len() != 2 {
		t.Fatal(diags)
	}
	return suites, p
}

// A test that failed is selected until it passes; one that did not run keeps
// its state; a skipped test changes nothing.
func TestFailedTestsAreRemembered(t *testing.T) {
	suites, p := load(t)
	run := func(cases ...*result.Case) map[string]bool {
		v := NewVerdicts(p, nil, Gates{})
		for _, c := range cases {
			v.CaseDone(c)
		}
		if err := v.KeepFailed(suites, secret.NewRedactor()); err != nil {
			t.Fatal(err)
		}
		return Failed(suites)
	}
	one := func(s result.Status) *result.Case { return &result.Case{Index: 0, Name: "one", Status: s} }
	two := func(s result.Status) *result.Case { return &result.Case{Index: 1, Name: "two", Status: s} }
	for i, step := range []struct {
		cases []*result.Case
		want  []string
	}{
		{[]*result.Case{one(result.Fail), two(result.Error)}, []string{"one", "two"}},
		{[]*result.Case{one(result.Pass)}, []string{"two"}},
		{[]*result.Case{two(result.Skip)}, []string{"two"}},
		{[]*result.Case{two(result.Pass)}, nil},
	} {
		got := run(step.cases...)
		if len(got) != len(step.want) {
			t.Errorf("step %d: got %v, want %v", i, got, step.want)
		}
		for _, n := range step.want {
			if !got[n] {
				t.Errorf("step %d: %s is missing", i, n)
			}
		}
	}
}

// A name that contains a secret is not written.
func TestSecretNamesAreHashed(t *testing.T) {
	suites, p := load(t)
	hide := secret.NewRedactor()
	hide.Add("hunter-2-secret")
	v := NewVerdicts(p, nil, Gates{})
	v.CaseDone(&result.Case{Name: "logs in with hunter-2-secret", Status: result.Fail})
	if err := v.KeepFailed(suites, hide); err != nil {
		t.Fatal(err)
	}
	if got := Failed(suites); len(got) != 1 || !got[plan.NameHash("logs in with hunter-2-secret")] {
		t.Errorf("got %v", got)
	}
}

// Durations are stored for the next split, and a damaged file is an empty one.
func TestDurations(t *testing.T) {
	suites, _ := load(t)
	file := suites[0].File
	w := Stopwatch{}
	w.Event(result.CaseFinished{Case: &result.Case{File: file.Name, Name: "one", Status: result.Pass, DurationMS: 40}}, nil)
	w.Event(result.CaseFinished{Case: &result.Case{File: file.Name, Name: "two", Status: result.Error, DurationMS: 9000}}, nil)
	w.Event(result.PhaseFinished{Phase: result.Phase{File: file.Name, DurationMS: 7}}, nil)
	if err := w.Keep(suites, true); err != nil {
		t.Fatal(err)
	}
	costs := Costs(suites)[0]
	if costs.SetupAndTeardown != 7*time.Millisecond || costs.Cases["one"] != 40*time.Millisecond || len(costs.Cases) != 1 {
		t.Errorf("got %+v", costs)
	}
	path := filepath.Join(filepath.Dir(file.Path), Dir, durationsFile)
	if err := os.WriteFile(path, []byte(`{"schema": "mcptest.durations/v9", "suites": 3}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if costs := Costs(suites)[0]; costs.SetupAndTeardown != 0 || len(costs.Cases) != 0 {
		t.Errorf("a file of another version gives %+v", costs)
	}
}

func TestFlakyTestsFailTheRun(t *testing.T) {
	_, p := load(t)
	for _, fail := range []bool{false, true} {
		v := NewVerdicts(p, nil, Gates{Flaky: fail})
		v.CaseDone(&result.Case{Name: "one", Status: result.Pass, Flaky: true})
		if got := v.Findings(); (len(got) == 1) != fail {
			t.Errorf("%v: got %v", fail, got)
		}
	}
}
