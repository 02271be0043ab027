package cli

import (
	"sync"

	"mcptest/internal/plan"
	"mcptest/internal/result"
)

// settling is what the flags of a run say about verdicts after a test ran: a
// baseline turns known failures into skips, --fail-on-flaky counts, and the
// state for --last-failed remembers.
type settling struct {
	mu       sync.Mutex
	plan     *plan.Plan
	baseline *baseline // nil without --baseline
	complete bool      // nothing was deselected, so every test of the suites is in the plan
	noFlaky  bool
	flaky    []string
	outcome  map[string]map[string]bool // suite file → test → failed; skipped tests are not in it
}

// settle sees one finished case.
func (t *settling) settle(c *result.Case) {
	t.mu.Lock()
	defer t.mu.Unlock()
	file := t.plan.Files[t.plan.FileOf(c.Index)].Path
	if c.Status != result.Skip {
		if t.outcome[file] == nil {
			t.outcome[file] = map[string]bool{}
		}
		t.outcome[file][c.Name] = c.Status != result.Pass
	}
	if c.Flaky {
		t.flaky = append(t.flaky, c.Name)
	}
	if t.baseline != nil {
		t.baseline.settle(c, t.plan.Files[t.plan.FileOf(c.Index)].Suite.Files[0])
	}
}

// closing returns what makes the run fail though its tests may have passed.
func (t *settling) closing() []result.Finding {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []result.Finding
	if t.noFlaky && len(t.flaky) > 0 {
		out = append(out, result.FlakyFinding(t.flaky))
	}
	if t.baseline != nil {
		var files []string
		for _, f := range t.plan.Files {
			files = append(files, f.Suite.Files...)
		}
		out = append(out, t.baseline.stale(t.complete, files)...)
	}
	return out
}
