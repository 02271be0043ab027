package line

import (
	"time"

	"mcptest/internal/base/secret"
	"mcptest/internal/process/proc"
	"mcptest/internal/run/agent"
	"mcptest/internal/run/connect"
	"mcptest/internal/run/coverage"
	"mcptest/internal/run/fixture"
	"mcptest/internal/run/pool"
	"mcptest/internal/spec/plan"
)

// Interrupted is the message of a case that a signal ended.
const Interrupted = "interrupted"

// Run is what all tests of a run share.
type Run struct {
	Start    time.Time
	Pool     *pool.Pool
	Opener   *connect.Opener
	Cleanup  *fixture.Cleanup
	Registry *proc.Registry
	Models   *agent.Models
	Coverage *coverage.Servers // nil: not measured
	Clock    *pool.Clock       // nil: not measured
	Redactor *secret.Redactor  // nil: nothing is masked
	// Secret declares values that must not appear in any output; it may be nil.
	Secret func(values ...string)
	// Broke is called after an internal error, Capped if a model was not asked because of
	// its cost.
	Broke, Capped func()
	// RerunFlags are the flags that a command for one test needs.
	RerunFlags []string
	Replayed   bool // no program may be started, and no request sent past Opener
	// Ignored leaves out what results say about a server: they were changed, or the test
	// runs again for a diagnosis.
	Ignored bool

	Trees   Budget
	Results Results
	Uses    Uses
}

// File is what the tests of a file share.
type File struct {
	*Run
	Plan       *plan.File
	Fixtures   *fixture.Runner
	Scope      *fixture.Scope // around all of its tests
	AfterPatch fixture.Patch  // from after-hooks, for later after-hooks
}

// Redact masks the secrets in a text.
func (r *Run) Redact(s string) string {
	if r.Redactor == nil {
		return s
	}
	return r.Redactor.String(s)
}

// Declare masks values in all reports.
func (r *Run) Declare(values ...string) {
	if r.Secret != nil && len(values) > 0 {
		r.Secret(values...)
	}
}

// ms returns a time in milliseconds.
func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
