package history

import (
	"sync"

	"mcptest/internal/plan"
	"mcptest/internal/result"
)

// Verdicts sees every finished case of a run, changes the status of known
// failures, and adds findings at the end. It also remembers which tests failed.
type Verdicts struct {
	plan      *plan.Plan
	baseline  *Baseline // nil: none
	failFlaky bool

	mu      sync.Mutex
	flaky   []string
	outcome map[string]map[string]bool // suite file → test → failed; skipped tests are not in it
}

// NewVerdicts returns the Verdicts of a run. baseline may be nil; failFlaky
// makes a run fail in which a test passed only after a retry.
func NewVerdicts(p *plan.Plan, baseline *Baseline, failFlaky bool) *Verdicts {
	return &Verdicts{plan: p, baseline: baseline, failFlaky: failFlaky, outcome: map[string]map[string]bool{}}
}

// Complete reports whether every test of the suites is in the plan.
func (v *Verdicts) Complete() bool { return v.plan.Len() == v.plan.Total() }

// CaseDone may change the status of a finished case.
func (v *Verdicts) CaseDone(c *result.Case) {
	v.mu.Lock()
	defer v.mu.Unlock()
	file := v.plan.Files[v.plan.FileOf(c.Index)]
	if c.Status != result.Skip {
		if v.outcome[file.Path] == nil {
			v.outcome[file.Path] = map[string]bool{}
		}
		v.outcome[file.Path][c.Name] = c.Status != result.Pass
	}
	if c.Flaky {
		v.flaky = append(v.flaky, c.Name)
	}
	if v.baseline != nil {
		v.baseline.apply(c, file.Suite.Files[0])
	}
}

// Findings returns what makes the run fail although its tests may have passed.
func (v *Verdicts) Findings() []result.Finding {
	v.mu.Lock()
	defer v.mu.Unlock()
	var out []result.Finding
	if v.failFlaky && len(v.flaky) > 0 {
		out = append(out, result.FlakyFinding(v.flaky))
	}
	if v.baseline != nil {
		var files []string
		for _, f := range v.plan.Files {
			files = append(files, f.Suite.Files...)
		}
		out = append(out, v.baseline.stale(v.Complete(), files)...)
	}
	return out
}
