package run

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"mcptest/internal/assert/snapshot"
	"mcptest/internal/base/secret"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/wire"
	"mcptest/internal/process/proc"
	"mcptest/internal/report/result"
	"mcptest/internal/run/agent"
	"mcptest/internal/run/connect"
	"mcptest/internal/run/doubles"
	"mcptest/internal/run/fixture"
	"mcptest/internal/run/pool"
	"mcptest/internal/spec/plan"
)

// Options are the data of a run.
type Options struct {
	Tool result.Tool
	// Command is the command that repeats the run, for reports.
	Command string
	// RerunFlags are the flags that a command for one test needs in addition to the
	// test's name.
	RerunFlags []string
	// Shard identifies the plan as a part of a larger run; may be nil.
	Shard *result.Shard
	Dir   string // Run.Dir of the record
	// Damaged is set if the responses are replayed with other contents: they say nothing
	// about the server.
	Damaged bool
	// Origin is that of the record; may be nil.
	Origin *result.Origin
	Notes  []string // written to the record first
	// Coverage enables measuring coverage, which a suite can demand too.
	// CoveragePartial is the reason why the plan does not contain all tests, so that
	// minimums are not checked.
	Coverage        bool
	CoveragePartial string
	// Live requests CaseStarted events.
	Live bool

	// Grace is the time that a server or background step has to exit; zero fields:
	// proc's defaults.
	Grace proc.Grace
	// Limits of the wire; zero fields: the defaults.
	Limits wire.Limits
	// Tokens is the file with stored user logins.
	Tokens string

	// Snapshots defines what happens to values without a stored snapshot.
	Snapshots snapshot.Mode

	// Phase is the part of the plan to run; the zero value runs everything.
	Phase Phase
	// LogDir is the folder for the output of background steps. SetupOnly needs it:
	// pipes would end with the runner.
	LogDir string
	// LeftUp is set if an earlier run left its processes running in the current
	// folder.
	LeftUp bool
	// NoDiagnosis leaves out running failed tests again alone to name a test that caused
	// the failure.
	NoDiagnosis bool
	// Saved is the data that the earlier run passed to Detach, for TeardownOnly.
	Saved []SavedState
}

// Deps are the dependencies of a run. Fields without a default must be set.
type Deps struct {
	// Send sends the events; it must be safe for concurrent use.
	Send func(result.Event)
	// Secret declares values that must not appear in any output; may be nil.
	Secret func(values ...string)
	// Redactor masks secrets in snapshots; may be nil.
	Redactor *secret.Redactor
	// Log receives details that reports omit, such as the output of hooks and
	// steps; nil discards them. It must redact secrets.
	Log *slog.Logger
	// OnCaseDone, if not nil, is called with every case before it is counted and
	// may change its status, as a baseline of known failures does. It must be safe
	// for concurrent use.
	OnCaseDone func(c *result.Case)
	// FinalFindings, if not nil, is called once after the last case, before the
	// exit code is determined. It returns findings about the whole run.
	FinalFindings func() []result.Finding
	// LastFindings, if not nil, is called after all other findings were sent, unless
	// the run was interrupted. passed says that none of them makes the run fail.
	LastFindings func(passed bool) []result.Finding
	// Upstreams are the dependencies of test doubles; Report is replaced by that of
	// the run.
	Upstreams doubles.Deps
	// Models are those of conversations and judges; nil: there is only script.
	Models *agent.Models
	// Dial opens the transport of a server; nil: connect.Dial.
	Dial connect.Dialer
	// Replayed says that Dial replays recordings, so no program may be started for a test
	// and no request sent past Dial.
	Replayed bool
	// Exec runs a hook or a step in the foreground; nil: proc.Run.
	Exec func(ctx context.Context, s proc.Spec) proc.Result
	// Registry tracks every process group. If it is nil, the run creates one
	// without a watchdog and a subreaper.
	Registry *proc.Registry
	// KillOrphans ends the remaining processes at the end of the run and returns
	// them; may be nil.
	KillOrphans func(ctx context.Context) []proc.Leftover
	// Eras provides hints on the eras of servers and stores those for the next run;
	// may be nil.
	Eras *connect.Eras
	// Warm, if not nil, keeps sessions for the next run. KillOrphans must not end
	// their processes.
	Warm *Warm
	// Detach is called instead of KillOrphans if Phase is SetupOnly and the setup of
	// every file succeeded. It takes over the process groups that Registry tracks. If
	// it fails, the run ends them.
	Detach func(files []SavedState) error
}

// Phase is the part of a plan that is run.
type Phase uint8

// The phases of a run.
const (
	All          Phase = iota
	SetupOnly          // beforeAll and setup, whose processes are left running
	TeardownOnly       // teardown and afterAll of an earlier SetupOnly
)

// Warm keeps sessions between runs.
type Warm = pool.Warm

// NewWarm returns a Warm without sessions.
func NewWarm() *Warm { return pool.NewWarm() }

// runner is the state of a run.
type runner struct {
	opts     Options
	deps     Deps
	plan     *plan.Plan
	start    time.Time
	pool     *pool.Pool
	opener   *connect.Opener
	cleanup  *fixture.Cleanup
	trees    byteBudget // of large responses
	findings findings
	results  seenResults
	exit     exit
	executed []*fileRun
	coverage *measurement // nil: not measured
	uses     uses
	clock    *pool.Clock // nil: not measured
	shadow   bool        // runs tests again for a diagnosis
}

// Run executes the plan and returns the exit code. If ctx is canceled with an
// *proc.Interrupted cause, no further case is started, running calls are canceled, and
// cleanup takes at most ten seconds.
func Run(ctx context.Context, p *plan.Plan, opts Options, deps Deps) int {
	r := newRunner(ctx, p, opts, deps)
	defer r.cleanup.Close()
	r.begin()
	switch opts.Phase {
	case SetupOnly:
		r.setupOnly(ctx)
	case TeardownOnly:
		r.teardownOnly(ctx)
	default:
		r.executed = r.files()
		for _, f := range r.executed {
			f.execute(ctx)
		}
	}
	r.recoverPanic(func() { r.pool.Close(r.cleanup.Ctx) })
	r.killOrphans()
	return r.finish(ctx)
}

// newRunner fills in the defaults of deps.
func newRunner(ctx context.Context, p *plan.Plan, opts Options, deps Deps) *runner {
	if deps.Log == nil {
		deps.Log = slog.New(slog.DiscardHandler)
	}
	if deps.Exec == nil {
		deps.Exec = proc.Run
	}
	if deps.Dial == nil {
		deps.Dial = connect.Dial
	}
	if deps.Eras == nil {
		deps.Eras = connect.NewEras(nil)
	}
	if deps.Registry == nil {
		own := proc.NewRegistry(nil, nil)
		deps.Registry = own
		deps.KillOrphans = func(ctx context.Context) []proc.Leftover { return own.Close(ctx, opts.Grace) }
	}
	r := &runner{
		opts:     opts,
		deps:     deps,
		plan:     p,
		start:    time.Now(),
		cleanup:  fixture.NewCleanup(ctx),
		coverage: newMeasurement(p, opts.Coverage),
		clock:    new(pool.Clock),
	}
	deps.Upstreams.Report = r.report
	r.opener = &connect.Opener{
		Options: connect.Options{
			Registry: deps.Registry, Secret: deps.Secret, Limits: opts.Limits, Grace: opts.Grace, Tokens: opts.Tokens,
			UserAgent: opts.Tool.Name + "/" + opts.Tool.Version, Logins: connect.NewLogins(), Sessions: connect.NewSessions(),
		},
		Dial: deps.Dial, Client: mcp.Implementation{Name: opts.Tool.Name, Version: opts.Tool.Version}, Eras: deps.Eras,
	}
	r.pool = pool.New(ctx, pool.Deps{
		Opener:  r.opener,
		Send:    deps.Send,
		Doubles: deps.Upstreams,
		Report:  r.report,
		Protect: r.recoverPanic,
		Warm:    deps.Warm,
		Clock:   r.clock,
	})
	return r
}

// files returns the plan's files that have selected cases, or all files if no case
// is selected.
func (r *runner) files() []*fileRun {
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

func (r *runner) begin() {
	o := &r.opts
	e := result.RunStarted{
		Tool:     o.Tool,
		Started:  r.start,
		Total:    r.plan.Len(),
		Parallel: 1,
		Command:  o.Command,
		Dir:      o.Dir,
		Origin:   o.Origin,
		Shard:    o.Shard,
	}
	if o.Phase != All {
		e.Total = 0
	}
	for _, f := range r.plan.Files {
		e.Suites = append(e.Suites, result.Suite{Name: f.Name, File: f.Path})
		if !f.Serial && !f.Options.Whole {
			e.Parallel = max(e.Parallel, f.Options.Parallel)
		}
	}
	r.deps.Send(e)
	for _, note := range o.Notes {
		r.deps.Send(result.Noted{Note: note})
	}
	if e.Shard != nil {
		r.deps.Send(result.Noted{Note: e.Shard.Note()})
	}
}

func (r *runner) finish(ctx context.Context) int {
	if r.deps.FinalFindings != nil {
		for _, f := range r.deps.FinalFindings() {
			r.report(f)
		}
	}
	for _, f := range doubles.Unused(r.pool.Doubles()) {
		r.report(f)
	}
	r.recoverPanic(func() { r.saveSnapshots(ctx) })
	r.reportCoverage(ctx)
	for _, f := range r.results.findings() {
		r.report(f)
	}
	for _, f := range r.findings.rest() {
		r.deps.Send(result.FindingSeen{Finding: f})
	}
	if r.deps.LastFindings != nil && ctx.Err() == nil {
		for _, f := range r.deps.LastFindings(r.exit.code() == ExitPassed) {
			r.report(f)
		}
	}
	e := result.RunFinished{DurationMS: r.since(r.start), ExitCode: r.exit.code(), Times: r.times()}
	in, ok := errors.AsType[*proc.Interrupted](context.Cause(ctx))
	switch {
	case ok:
		e.ExitCode, e.Interrupted = in.Code, in.Signal
		r.deps.Send(result.FindingSeen{Finding: result.Finding{
			Kind: result.Stopped, Severity: "error", Message: in.Signal + " ended the run: running tests were stopped, and the others were not started",
		}})
	case ctx.Err() != nil:
		e.ExitCode, e.Interrupted = ExitCancelled, "cancelled"
	}
	r.deps.Send(e)
	return e.ExitCode
}

// times returns where the time of the run went.
func (r *runner) times() *result.Times {
	spent := r.clock.Spent()
	return &result.Times{
		CallsMS:     ms(spent[pool.Calling]),
		StartingMS:  ms(spent[pool.Starting]),
		HooksMS:     ms(spent[pool.Hooking]),
		EndingMS:    ms(spent[pool.Ending]),
		DiagnosisMS: ms(spent[pool.Diagnosing]),
	}
}

// killOrphans ends the remaining processes and reports them by name.
func (r *runner) killOrphans() {
	if r.deps.KillOrphans == nil {
		return
	}
	for _, l := range r.deps.KillOrphans(r.cleanup.Ctx) {
		of := ""
		if l.Of != "" {
			of = " by " + l.Of
		}
		r.report(result.Finding{
			Kind: "leftover-process", Severity: "warning",
			Message: fmt.Sprintf("a process was left running%s: pid %d %s (stopped now)", of, l.Pid, l.Command),
		})
	}
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
			r.report(result.Finding{Kind: "internal-error", Severity: "warning", Message: fault, Excerpt: string(debug.Stack())})
		}
	}()
	fn()
	return ""
}

// since returns the time since t in milliseconds.
func (r *runner) since(t time.Time) float64 { return ms(time.Since(t)) }

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// interruptedReason is the message of a case that a signal ended.
const interruptedReason = "interrupted"

// haltReason returns why no further case is started.
func (r *runner) haltReason(ctx context.Context) (string, bool) {
	if ctx.Err() != nil {
		return interruptedReason, true
	}
	s := r.exit.update(func(*exitState) {})
	return s.halted, s.halted != ""
}
