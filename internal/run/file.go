package run

import (
	"context"
	"fmt"

	"mcptest/internal/report/result"
	"mcptest/internal/run/doubles"
	"mcptest/internal/run/fixture"
	"mcptest/internal/run/line"
	"mcptest/internal/spec/plan"
)

// execute runs the phases of the file. Every phase that began is followed by its
// cleanup.
func (f *fileRun) execute(ctx context.Context) {
	if reason, stopped := f.run.haltReason(ctx); stopped {
		f.giveUp(verdict{result.Skip, reason})
		return
	}
	f.begin(ctx)
	if f.refused != nil {
		f.giveUp(*f.refused)
	} else {
		f.runCases(ctx)
		f.diagnose(ctx)
	}
	f.finish(ctx)
}

// begin runs beforeAll and setup; it stores a failure in f.refused.
func (f *fileRun) begin(ctx context.Context) {
	if len(f.file.BeforeAll)+len(f.file.Setup) == 0 && f.run.opts.Phase == All {
		f.warmUp(ctx)
	}
	f.begun = true
	fault := f.run.recoverPanic(func() {
		own, err := f.fillAddresses()
		if err != nil {
			f.refuse(result.Error, err.Error())
			return
		}
		before := f.fixtures.RunHooks(ctx, f.file.BeforeAll, fixture.HookCall{Phase: "beforeAll", Patch: own})
		f.send(before.Phases...)
		f.scope.Patch = own.With(before.Own)
		switch {
		case before.Interrupted:
			f.refuse(result.Skip, line.Interrupted)
		case before.Failed != "":
			f.run.exit.update(func(s *exitState) { s.failed = true })
			f.refuse(result.Fail, before.Failed)
		case before.Skip != "":
			f.refuse(result.Skip, before.Skip)
		default:
			f.setupBegun = true
			f.setUp(ctx)
		}
	})
	if fault != "" {
		f.refuse(result.Error, fault)
	}
}

// fillAddresses starts the doubles that the programs of the file use and returns their
// addresses as environment variables.
func (f *fileRun) fillAddresses() (fixture.Patch, error) {
	group := f.run.pool.GetSharedDoubles(f.file)
	if group == nil {
		return fixture.Patch{}, nil
	}
	env, err := group.Environ()
	return fixture.Patch{Env: env}, err
}

// warmUp starts the servers of the cases in the background, so that they are ready
// for the first case.
func (f *fileRun) warmUp(ctx context.Context) {
	if f.file.Options.RestartPolicy == plan.PerTest {
		return
	}
	ctx, f.stopWarm = context.WithCancel(ctx)
	p := f.run.plan
	seen := map[*plan.Server]bool{}
	for i := f.first; i < f.end && len(seen) < len(f.file.Servers); i++ {
		s := p.ServerOf(i)
		if s == nil || seen[s] {
			continue
		}
		c := p.Case(i)
		if c.Skip != "" || !c.Connects() {
			continue
		}
		seen[s] = true
		slot := f.run.pool.ForCase(c, s, f.file).First()
		f.warming.Go(func() { f.run.recoverPanic(func() { _, _ = slot.Session(ctx) }) })
	}
}

// setUp runs the file's setup steps. If a step fails, no case is run.
func (f *fileRun) setUp(ctx context.Context) {
	if f.file.Options.RestartPolicy == plan.PerTest { // each test has its own sessions
		defer func() { f.run.pool.Recycle(f.run.cleanup.Ctx, f.fixtures.ListSetupServers()...) }()
	}
	for _, s := range f.file.Setup {
		if ctx.Err() != nil {
			f.refuse(result.Skip, line.Interrupted)
			return
		}
		ph, msg := f.fixtures.Step(ctx, s, &f.scope)
		f.send(ph)
		switch {
		case ph.Status == result.Skip:
			f.refuse(result.Skip, line.Interrupted)
			return
		case msg != "":
			f.run.exit.update(func(s *exitState) { s.setupFailed = true })
			f.broken = "setup failed: " + msg
			f.refuse(result.Skip, f.broken)
			return
		}
	}
}

func (f *fileRun) refuse(status result.Status, message string) {
	f.refused = &verdict{status, message}
}

// finish cleans up after begin: teardown, runAfterAll, the servers that no later file
// uses, and the background steps.
func (f *fileRun) finish(ctx context.Context) {
	if f.stopWarm != nil {
		f.stopWarm()
		f.warming.Wait()
	}
	r := f.run
	doubles.Settle(ctx, r.pool.Doubles())
	f.scope.Background.TestsOver()
	r.recoverPanic(func() { f.surveyEnding(ctx) })
	if f.setupBegun {
		r.recoverPanic(f.tearDown)
	}
	if f.begun {
		r.recoverPanic(func() { f.runAfterAll(ctx) })
	}
	r.recoverPanic(func() {
		// After a signal, servers and background steps share the remaining time.
		ctx, cancel := r.cleanup.Part(min(2, f.scope.Background.Len()+1))
		defer cancel()
		r.pool.CloseFile(ctx, f.file, f.listPending())
	})
	r.recoverPanic(func() {
		for _, w := range f.fixtures.Stop(&f.scope.Background) {
			r.report(w)
		}
	})
	r.pool.GetSharedDoubles(f.file).Close()
}

// tearDown runs the teardown steps. A failing step is a warning.
func (f *fileRun) tearDown() {
	failed := f.broken != "" || f.counts.countFailed() > 0
	f.fixtures.Teardown(f.file.Teardown, &f.scope, failed, func(s *plan.Step, ph result.Phase, failure string) {
		if failure != "" {
			f.run.report(result.Finding{
				Kind: "teardown", Severity: "warning", File: fixture.MakeFileName(s.Pos), Line: s.Pos.Line,
				Message: fmt.Sprintf("teardown step %q failed: %s", s.Name, failure),
			})
		}
		f.send(ph)
	})
}

// runAfterAll always runs. Its failures are reported, but do not stop the run.
func (f *fileRun) runAfterAll(ctx context.Context) {
	if len(f.file.AfterAll) == 0 {
		return
	}
	v := f.judgeFile(ctx)
	out := f.fixtures.RunHooks(f.run.cleanup.Ctx, f.file.AfterAll, fixture.HookCall{
		Phase: "afterAll", After: true, Status: v.status, Message: v.message, Patch: f.scope.Patch.With(f.shared.AfterPatch),
	})
	f.send(out.Phases...)
	for _, p := range out.Phases {
		if p.Status == result.Fail {
			f.run.report(result.Finding{
				Kind: "afterAll", Severity: "warning", File: p.File, Line: p.Line,
				Message: fmt.Sprintf("afterAll hook %q failed: %s", p.Name, p.Message),
			})
		}
	}
}

func (f *fileRun) send(list ...result.Phase) {
	for _, p := range list {
		f.run.deps.Send(result.PhaseFinished{Phase: p})
	}
}

// judgeFile returns the outcome of the file's cases, for runAfterAll hooks.
func (f *fileRun) judgeFile(ctx context.Context) verdict {
	failed := f.counts.countFailed()
	switch {
	case f.broken != "":
		return verdict{result.Error, f.broken}
	case f.refused != nil:
		return *f.refused
	case failed > 0:
		v := verdict{result.Fail, fmt.Sprintf("%d of %d tests did not pass", failed, f.end-f.first)}
		if f.counts.get(result.Fail) == 0 {
			v.status = result.Error
		}
		if f.counts.get(result.Inconclusive) == failed {
			v.status = result.Inconclusive
		}
		return v
	case ctx.Err() != nil:
		return verdict{result.Skip, line.Interrupted}
	case f.counts.get(result.Pass) == 0 && f.counts.get(result.Skip) > 0:
		return verdict{result.Skip, "every test was skipped"}
	}
	return verdict{status: result.Pass}
}
