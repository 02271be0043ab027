package run

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"mcptest/internal/client/mcp"
	"mcptest/internal/process/proc"
	"mcptest/internal/report/result"
	"mcptest/internal/run/connect"
	"mcptest/internal/run/coverage"
	"mcptest/internal/run/doubles"
	"mcptest/internal/run/fixture"
	"mcptest/internal/run/pool"
	"mcptest/internal/spec/plan"
)

// Run executes the plan and returns the exit code. If ctx is canceled with an
// *proc.Interrupted cause, no further case is started, running calls are canceled, and
// cleanup takes at most ten seconds.
func Run(ctx context.Context, p *plan.Plan, opts Options, deps Deps) int {
	r := newRunner(ctx, p, opts, deps)
	defer r.cleanup.Close()
	r.begin()
	switch opts.Phase {
	case SetupOnly:
		r.runSetupOnly(ctx)
	case TeardownOnly:
		r.runTeardownOnly(ctx)
	default:
		r.executed = r.listFiles()
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
		opts:    opts,
		deps:    deps,
		plan:    p,
		start:   time.Now(),
		cleanup: fixture.NewCleanup(ctx),
	}
	clock := new(pool.Clock)
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
		Clock:   clock,
	})
	r.shared = r.newShared()
	r.shared.Clock, r.shared.Coverage = clock, coverage.NewServers(p, opts.Coverage)
	return r
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
	for _, f := range doubles.FindUnused(r.pool.Doubles()) {
		r.report(f)
	}
	r.recoverPanic(func() { r.saveSnapshots(ctx) })
	r.reportCoverage(ctx)
	for _, f := range r.shared.Results.Findings() {
		r.report(f)
	}
	for _, f := range r.findings.listRest() {
		r.deps.Send(result.FindingSeen{Finding: f})
	}
	if r.deps.LastFindings != nil && ctx.Err() == nil {
		for _, f := range r.deps.LastFindings(r.exit.chooseCode() == ExitPassed) {
			r.report(f)
		}
	}
	e := result.RunFinished{DurationMS: r.since(r.start), ExitCode: r.exit.chooseCode(), Times: r.computeTimes()}
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

// computeTimes returns where the time of the run went.
func (r *runner) computeTimes() *result.Times {
	spent := r.shared.Clock.Spent()
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
