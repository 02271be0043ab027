package mcptest

import (
	"cmp"
	"fmt"
	"strings"
	"sync"
	"testing"

	"mcptest/internal/base/term"
	"mcptest/internal/report/explain"
	"mcptest/internal/report/render"
	"mcptest/internal/report/result"
)

// outcomes collects the results of a run for the subtests that wait for them.
type outcomes struct {
	test  string   // name of the parent test
	names []string // of the subtests, by the index of their case

	mu       sync.Mutex
	changed  *sync.Cond
	cases    map[int]outcome // finished and not yet reported
	failed   bool            // whether any case failed
	problems []string        // problems outside every case
	warnings []string        // warnings outside every case
	over     bool
}

// outcome is the result of one case.
type outcome struct {
	status result.Status
	text   string
}

func newOutcomes(test string, names []string) *outcomes {
	o := &outcomes{test: test, names: names, cases: map[int]outcome{}}
	o.changed = sync.NewCond(&o.mu)
	return o
}

// Event implements result.Listener.
func (o *outcomes) Event(e result.Event, r *result.Run) {
	switch e := e.(type) {
	case result.CaseFinished:
		found := describeCase(rerun(o.test, o.names[e.Case.Index]), e.Case, r)
		o.update(func() {
			o.cases[e.Case.Index] = found
			o.failed = o.failed || explain.Failed(e.Case.Status)
		})
	case result.RunFinished:
		var found []string
		x := explain.NewExplainer(r, render.Options{})
		for _, p := range explain.ListPseudoTests(r, x) {
			found = append(found, fmt.Sprintf("\n%s: %s", render.Place(p.File, p.Line, 0), p.Text))
		}
		var warnings []string
		for _, f := range explain.FoldFindings(r.Findings) {
			if f.Severity == "warning" {
				warnings = append(warnings, "warning: "+term.EscapeLines(explain.FormatOnServer(f)))
			}
		}
		o.update(func() {
			o.problems, o.warnings = found, warnings
			if len(found) == 0 && !o.failed && e.ExitCode != 0 {
				o.problems = []string{fmt.Sprintf("the run of the suite ended with the exit code %d", e.ExitCode)}
			}
		})
	}
}

// describeCase returns the status of a case and the text that its subtest prints:
// the reason of a failure with the command that repeats it, or the warnings.
func describeCase(repro string, c *result.Case, r *result.Run) outcome {
	o := outcome{status: c.Status}
	switch {
	case explain.Failed(c.Status):
		c.Repro = repro
		file, line, column := explain.FindLocation(c)
		o.text = "\n" + render.Place(file, line, column) + ": " + term.EscapeLines(cmp.Or(c.Message, explain.Reason(c))) + "\n" +
			explain.Text(c, r)
	case c.Status == result.Skip:
		o.text = term.EscapeLines(explain.Reason(c))
	default:
		o.text = term.EscapeLines(strings.Join(c.Warnings, "\n"))
	}
	return o
}

// end marks the run as finished.
func (o *outcomes) end() { o.update(func() { o.over = true }) }

func (o *outcomes) update(fn func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	fn()
	o.changed.Broadcast()
}

// report waits for the i-th case of the plan and passes its result to its subtest.
func (o *outcomes) report(t *testing.T, i int) {
	t.Helper()
	found, ok := o.wait(i)
	switch {
	case !ok:
		t.Error("the run ended without a result for this case")
	case found.status == result.Skip:
		t.Skip(found.text)
	case found.status != result.Pass:
		t.Error(found.text)
	case found.text != "":
		t.Log(found.text)
	}
}

func (o *outcomes) wait(i int) (found outcome, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for {
		if found, ok = o.cases[i]; ok || o.over {
			delete(o.cases, i)
			return found, ok
		}
		o.changed.Wait()
	}
}

// outside waits for the end of the run and returns the problems and warnings that
// do not belong to a case.
func (o *outcomes) outside() (problems, warnings []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for !o.over {
		o.changed.Wait()
	}
	return o.problems, o.warnings
}
