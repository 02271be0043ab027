package history

import (
	"strings"
	"sync"

	"mcptest/internal/base/display"
	"mcptest/internal/report/result"
	"mcptest/internal/spec/plan"
)

// Gates are what makes a run fail although its tests passed.
type Gates struct {
	Flaky    bool // tests that passed only after a retry
	Warnings bool
	Loading  int  // number of warnings before the run
	Part     bool // the run is a part of a larger one
}

// Verdicts sees every finished case of a run, changes the status of known
// failures, and adds findings at the end. It also remembers which tests failed.
type Verdicts struct {
	plan     *plan.Plan
	baseline *Baseline // nil: none
	gates    Gates

	mu      sync.Mutex
	summary result.Summary
	tested  bool // a case was not skipped, or only because of the baseline
	flaky   []string
	outcome map[string]map[string]bool // suite file → test → failed; skipped tests are not in it
}

// NewVerdicts returns the Verdicts of a run. baseline may be nil.
func NewVerdicts(p *plan.Plan, baseline *Baseline, gates Gates) *Verdicts {
	return &Verdicts{plan: p, baseline: baseline, gates: gates, outcome: map[string]map[string]bool{}}
}

// Complete reports whether every test of the suites is in the plan.
func (v *Verdicts) Complete() bool { return v.plan.Len() == v.plan.Total() }

// CaseDone may change the status of a finished case.
func (v *Verdicts) CaseDone(c *result.Case) {
	v.mu.Lock()
	defer v.mu.Unlock()
	file := v.plan.Files[v.plan.FileOf(c.Index)]
	if c.Status != result.Skip || c.KnownFailure != nil { // expected by the suite
		v.tested = true
		if v.outcome[file.Path] == nil {
			v.outcome[file.Path] = map[string]bool{}
		}
		v.outcome[file.Path][c.Name] = c.Status.Failed()
	}
	if c.Flaky {
		v.flaky = append(v.flaky, c.Name)
	}
	if v.baseline != nil {
		v.baseline.apply(c, file.Suite.Files[0])
	}
}

// Event keeps the counts of the record, which include warnings.
func (v *Verdicts) Event(_ result.Event, r *result.Run) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.summary = r.Summary
}

// Last returns the findings that depend on all others. passed says that nothing else
// makes the run fail.
func (v *Verdicts) Last(passed bool) (out []result.Finding) {
	v.mu.Lock()
	defer v.mu.Unlock()
	seen := v.summary.Warnings
	if passed && !v.gates.Part && !v.tested && v.summary.Skipped > 0 {
		out = append(out, result.Finding{Kind: result.AllSkipped, Severity: "warning", Message: "every selected test was skipped: nothing was tested"})
		seen++
	}
	var counts []string
	if seen > 0 {
		counts = append(counts, display.Count(seen, "warning")+" of the run")
	}
	if v.gates.Loading > 0 {
		counts = append(counts, display.Count(v.gates.Loading, "warning")+" about the suites")
	}
	if v.gates.Warnings && len(counts) > 0 {
		out = append(out, result.Finding{Kind: "warnings", Severity: "error", Message: strings.Join(counts, " and ") + " (--fail-on-warnings)"})
	}
	return out
}

// Findings returns what makes the run fail although its tests may have passed.
func (v *Verdicts) Findings() []result.Finding {
	v.mu.Lock()
	defer v.mu.Unlock()
	var out []result.Finding
	if v.gates.Flaky && len(v.flaky) > 0 {
		out = append(out, result.NewFlakyFinding(v.flaky))
	}
	if v.baseline != nil {
		var files []string
		for _, f := range v.plan.Files {
			files = append(files, f.Suite.Files...)
		}
		out = append(out, v.baseline.findStale(v.Complete(), files)...)
	}
	return out
}
