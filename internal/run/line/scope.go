package line

import (
	"context"
	"fmt"
	"runtime/debug"
	"strings"

	"mcptest/internal/base/lists"
	"mcptest/internal/report/result"
	"mcptest/internal/run/fixture"
	"mcptest/internal/spec/plan"
)

// runInScope runs a case between its per-test hooks and fixtures. With restart_policy:
// per_test, it has its own servers. runAfterEach runs whenever beforeEach began, even
// if it failed.
func (a *attempt) runInScope(ctx context.Context) {
	f := a.file
	own, begun, setUp := fixture.Patch{}, true, false
	a.guard(func() {
		call := fixture.HookCall{Phase: "beforeEach", Test: a.c, Patch: f.Scope.Patch}
		before := f.Fixtures.RunHooks(ctx, f.Plan.BeforeEach, call)
		own = before.Own
		a.out.addPhases(before.Phases...)
		switch {
		case before.Interrupted:
			begun = len(before.Phases) > 0
			a.out.fail(result.Skip, Interrupted)
		case before.Failed != "":
			a.out.fail(result.Fail, before.Failed)
		case before.Skip != "":
			a.out.fail(result.Skip, before.Skip)
		default:
			a.scope.Patch = f.Scope.Patch.With(own)
			setUp = true
			if a.setUp(ctx) {
				a.runCalls(ctx)
			}
		}
	})
	bg := &a.scope.Background
	bg.TestsOver()
	if setUp {
		a.guard(a.tearDown)
	}
	if begun {
		a.guard(func() { a.runAfterEach(own) })
	}
	a.recycle()
	a.guard(func() {
		for _, w := range f.Fixtures.Stop(bg) {
			a.out.warn(w.Message)
		}
	})
}

// setUp runs the per-test fixtures. It returns false if one of them failed.
func (a *attempt) setUp(ctx context.Context) bool {
	for _, s := range a.file.Plan.SetupPerTest {
		if ctx.Err() != nil {
			a.out.fail(result.Skip, Interrupted)
			return false
		}
		ph, msg := a.file.Fixtures.Step(ctx, s.For(a.c.Server), &a.scope)
		a.out.addPhases(ph)
		switch {
		case ph.Status == result.Skip:
			a.out.fail(result.Skip, Interrupted)
			return false
		case msg != "":
			a.out.fail(result.Fail, "setup_per_test failed: "+msg)
			return false
		}
	}
	return true
}

// tearDown runs the steps after the test. A failing step is a warning, as in runAfterEach.
func (a *attempt) tearDown() {
	list := lists.Map(a.file.Plan.TeardownPerTest, func(s *plan.Step) *plan.Step {
		return s.For(a.c.Server)
	})
	failed := a.out.c.Status.Failed()
	a.file.Fixtures.Teardown(list, &a.scope, failed, func(s *plan.Step, ph result.Phase, failure string) {
		a.out.addPhases(ph)
		if failure != "" {
			a.out.warn(fmt.Sprintf("teardown_per_test step %q failed: %s", s.Name, failure))
		}
	})
}

// runAfterEach runs the hooks after the test; own is the patch of its before-hooks. A
// serial file runs one case at a time, so f.AfterPatch needs no lock.
func (a *attempt) runAfterEach(own fixture.Patch) {
	f := a.file
	if len(f.Plan.AfterEach) == 0 {
		return
	}
	after := f.Fixtures.RunHooks(f.Cleanup.Ctx, f.Plan.AfterEach, fixture.HookCall{
		Phase: "afterEach", Test: a.c, After: true, Status: a.out.c.Status, Message: a.out.c.Message,
		Patch: f.Scope.Patch.With(f.AfterPatch).With(own),
	})
	f.AfterPatch = f.AfterPatch.With(after.Own)
	a.out.addPhases(after.Phases...)
	for _, p := range after.Phases {
		if p.Status == result.Fail {
			a.out.warn(fmt.Sprintf("afterEach hook %q failed: %s%s", p.Name, p.Message, cutLastLine(p.Output)))
		}
	}
}

// cutLastLine returns the last line of a hook's output, for a message.
func cutLastLine(output string) string {
	output = strings.TrimSpace(output)
	if output == "" {
		return ""
	}
	return fmt.Sprintf(" (it wrote %q)", output[strings.LastIndexByte(output, '\n')+1:])
}

// guard runs fn and reports a panic as an error of the case, so that cleanup
// continues.
func (a *attempt) guard(fn func()) {
	defer func() {
		if p := recover(); p != nil {
			a.file.Broke()
			c := a.out.c
			c.Status, c.Message, c.Stderr = result.Error, fmt.Sprintf("internal error: %v", p), string(debug.Stack())
		}
	}()
	fn()
}

// recycle ends the sessions of a case with restart_policy: per_test.
func (a *attempt) recycle() {
	if a.file.Plan.Options.RestartPolicy == plan.PerTest {
		a.guard(func() { a.file.Pool.Recycle(a.file.Cleanup.Ctx, a.scope.Lease.Servers...) })
	}
}
