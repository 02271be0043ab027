package run

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"mcptest/internal/assert/snapshot"
	"mcptest/internal/report/result"
	"mcptest/internal/run/connect"
	"mcptest/internal/run/fixture"
	"mcptest/internal/run/line"
	"mcptest/internal/run/pool"
	"mcptest/internal/spec/plan"
)

// runner is the state of a run.
type runner struct {
	opts     Options
	deps     Deps
	plan     *plan.Plan
	start    time.Time
	pool     *pool.Pool
	opener   *connect.Opener
	cleanup  *fixture.Cleanup
	shared   *line.Run // by all tests
	findings findings
	exit     exit
	executed []*fileRun
	shadow   bool // runs tests again for a diagnosis
}

// newShared returns what all tests share.
func (r *runner) newShared() *line.Run {
	return &line.Run{
		Start:      r.start,
		Pool:       r.pool,
		Opener:     r.opener,
		Cleanup:    r.cleanup,
		Registry:   r.deps.Registry,
		Models:     r.deps.Models,
		Redactor:   r.deps.Redactor,
		Secret:     r.deps.Secret,
		Broke:      func() { r.exit.update(func(s *exitState) { s.internal = true }) },
		Capped:     func() { r.exit.update(func(s *exitState) { s.capped = true }) },
		RerunFlags: r.opts.RerunFlags,
		Replayed:   r.deps.Replayed,
		Ignored:    r.opts.Damaged || r.shadow,
	}
}

// listFiles returns the plan's files that have selected cases, or all files if no case
// is selected.
func (r *runner) listFiles() []*fileRun {
	var out []*fileRun
	first := 0
	for i, f := range r.plan.Files {
		end := first
		for end < r.plan.Len() && r.plan.FileOf(end) == i {
			end++
		}
		if end > first || r.plan.Len() == 0 && r.opts.Phase != All {
			out = append(out, newFileRun(r, f, i, first, end))
		}
		first = end
	}
	return out
}

// report reports a finding that belongs to no case.
func (r *runner) report(f result.Finding) {
	if f.Severity == "error" {
		r.exit.update(func(s *exitState) { s.badFinding = true })
	}
	if r.findings.admit(f) {
		r.deps.Send(result.FindingSeen{Finding: f})
	}
}

// recoverPanic runs fn. It reports a panic in fn and returns it as text, so that cleanup
// continues.
func (r *runner) recoverPanic(fn func()) (fault string) {
	defer func() {
		if p := recover(); p != nil {
			fault = fmt.Sprintf("internal error: %v", p)
			r.exit.update(func(s *exitState) { s.internal = true })
			r.report(result.Finding{
				Kind:     "internal-error",
				Severity: "warning",
				Message:  fault,
				Excerpt:  string(debug.Stack()),
			})
		}
	}()
	fn()
	return ""
}

// since returns the time since t in milliseconds.
func (r *runner) since(t time.Time) float64 { return ms(time.Since(t)) }

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// haltReason returns why no further case is started.
func (r *runner) haltReason(ctx context.Context) (string, bool) {
	if ctx.Err() != nil {
		return line.Interrupted, true
	}
	s := r.exit.update(func(*exitState) {})
	return s.halted, s.halted != ""
}

// fileRun runs the cases of one file inside its hooks and fixtures.
type fileRun struct {
	run        *runner
	file       *plan.File
	index      int
	first, end int // its cases in the plan
	fixtures   *fixture.Runner
	scope      fixture.Scope
	shared     *line.File // by its tests

	begun      bool     // afterAll must run
	setupBegun bool     // teardown must run
	refused    *verdict // why no case is run
	broken     string   // why setup failed
	backwards  bool     // files are ended in reverse order

	warming  sync.WaitGroup // servers that are started early
	stopWarm context.CancelFunc

	keeping sync.Mutex
	kept    []*caseRun // failed, for their diagnosis

	counts    counts
	snapshots *snapshot.Run // nil if the suite has no snapshot file
}

// verdict is a status with its reason.
type verdict struct {
	status  result.Status
	message string
}

func newFileRun(r *runner, f *plan.File, index, first, end int) *fileRun {
	out := &fileRun{run: r, file: f, index: index, first: first, end: end, fixtures: &fixture.Runner{
		File:     f,
		Index:    index,
		Start:    r.start,
		Pool:     r.pool,
		Cleanup:  r.cleanup,
		Exec:     r.deps.Exec,
		Registry: r.deps.Registry,
		Grace:    r.opts.Grace,
		Log:      r.deps.Log,
		LogDir:   r.opts.LogDir,
		LeftUp:   r.opts.LeftUp,
		Secret:   r.deps.Secret,
		Report:   r.report,
		Protect:  r.recoverPanic,
		Clock:    r.shared.Clock,
	}}
	out.shared = &line.File{Run: r.shared, Plan: f, Fixtures: out.fixtures, Scope: &out.scope}
	if f.Snapshots != nil {
		out.snapshots = f.Snapshots.Begin(r.opts.Snapshots)
	}
	return out
}

// listPending returns the files that end after f: the following ones, or the
// preceding ones if files are ended in reverse order.
func (f *fileRun) listPending() []*plan.File {
	var out []*plan.File
	for _, g := range f.run.listFiles() {
		if f.backwards && g.index < f.index || !f.backwards && g.index > f.index {
			out = append(out, g.file)
		}
	}
	return out
}

// counts counts cases by status.
type counts struct {
	mu sync.Mutex
	n  map[result.Status]int
}

func (c *counts) add(s result.Status) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n == nil {
		c.n = map[result.Status]int{}
	}
	c.n[s]++
}

func (c *counts) get(s result.Status) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n[s]
}

// countFailed returns the number of cases that neither passed nor were skipped.
func (c *counts) countFailed() int {
	return c.get(result.Fail) + c.get(result.Error) + c.get(result.Inconclusive)
}

// caseRun runs one case with its retries or repetitions.
type caseRun struct {
	file *fileRun
	c    *plan.Case
	out  *result.Case
	// snapshots of the case; nil if the suite has no snapshot file.
	snapshots *snapshot.Test
	notReady  bool    // its server was not ready in time, in any attempt
	before    [][]int // per session, the tests that used it before
	warm      bool    // a session was kept from an earlier run
	mistake   string  // of the suite, which explains why a test that is expected to fail fails
}
