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

// scope is what surrounds the calls of a case: its per-test hooks and fixtures. With
// restart_policy: per_test, the case has its own servers.
type scope struct {
	file  *File
	c     *plan.Case
	out   *outcome
	steps fixture.Scope

	own   fixture.Patch // of beforeEach
	begun bool          // beforeEach has begun, even if it failed: afterEach runs
	setUp bool          // setup_per_test has begun: teardown_per_test runs
}

// run makes the calls of a case of a file that runs one case at a time.
func (sc *scope) run(ctx context.Context, calls func(context.Context)) {
	sc.begun = true
	sc.guard(func() {
		if sc.begin(ctx) {
			calls(ctx)
		}
	})
	sc.steps.Background.TestsOver()
	if sc.setUp {
		sc.guard(sc.tearDown)
	}
	if sc.begun {
		sc.guard(sc.runAfterEach)
	}
	sc.recycle()
	sc.guard(sc.stopBackground)
}

// runBare makes the calls of a case that has neither hooks nor fixtures.
func (sc *scope) runBare(ctx context.Context, calls func(context.Context)) {
	sc.guard(func() { calls(ctx) })
	sc.recycle()
}

// begin runs the hooks and fixtures before the calls. It returns false if there are to be no calls.
func (sc *scope) begin(ctx context.Context) bool {
	f := sc.file
	call := fixture.HookCall{Phase: "beforeEach", Test: sc.c, Patch: f.Scope.Patch}
	before := f.Fixtures.RunHooks(ctx, f.Plan.BeforeEach, call)
	sc.own = before.Own
	sc.out.addPhases(before.Phases...)
	switch {
	case before.Interrupted:
		sc.begun = len(before.Phases) > 0
		sc.out.fail(result.Skip, Interrupted)
		return false
	case before.Failed != "":
		sc.out.fail(result.Fail, before.Failed)
		return false
	case before.Skip != "":
		sc.out.fail(result.Skip, before.Skip)
		return false
	}
	sc.steps.Patch = f.Scope.Patch.With(sc.own)
	sc.setUp = true
	return sc.runSetup(ctx)
}

// runSetup runs the per-test fixtures. It returns false if one of them failed.
func (sc *scope) runSetup(ctx context.Context) bool {
	for _, s := range sc.file.Plan.SetupPerTest {
		if ctx.Err() != nil {
			sc.out.fail(result.Skip, Interrupted)
			return false
		}
		ph, msg := sc.file.Fixtures.Step(ctx, s.For(sc.c.Server), &sc.steps)
		sc.out.addPhases(ph)
		switch {
		case ph.Status == result.Skip:
			sc.out.fail(result.Skip, Interrupted)
			return false
		case msg != "":
			sc.out.fail(result.Fail, "setup_per_test failed: "+msg)
			return false
		}
	}
	return true
}

// tearDown runs the steps after the test. A failing step is a warning, as in runAfterEach.
func (sc *scope) tearDown() {
	list := lists.Map(sc.file.Plan.TeardownPerTest, func(s *plan.Step) *plan.Step {
		return s.For(sc.c.Server)
	})
	failed := sc.out.c.Status.Failed()
	sc.file.Fixtures.Teardown(list, &sc.steps, failed, func(s *plan.Step, ph result.Phase, failure string) {
		sc.out.addPhases(ph)
		if failure != "" {
			sc.out.warn(fmt.Sprintf("teardown_per_test step %q failed: %s", s.Name, failure))
		}
	})
}

// runAfterEach runs the hooks after the test. A serial file runs one case at a time, so
// f.AfterPatch needs no lock.
func (sc *scope) runAfterEach() {
	f := sc.file
	if len(f.Plan.AfterEach) == 0 {
		return
	}
	after := f.Fixtures.RunHooks(f.Cleanup.Ctx, f.Plan.AfterEach, fixture.HookCall{
		Phase:   "afterEach",
		Test:    sc.c,
		After:   true,
		Status:  sc.out.c.Status,
		Message: sc.out.c.Message,
		Patch:   f.Scope.Patch.With(f.AfterPatch).With(sc.own),
	})
	f.AfterPatch = f.AfterPatch.With(after.Own)
	sc.out.addPhases(after.Phases...)
	for _, p := range after.Phases {
		if p.Status == result.Fail {
			sc.out.warn(fmt.Sprintf("afterEach hook %q failed: %s%s", p.Name, p.Message, cutLastLine(p.Output)))
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
func (sc *scope) guard(fn func()) {
	defer func() {
		if p := recover(); p != nil {
			sc.file.Broke()
			c := sc.out.c
			c.Status, c.Message, c.Stderr = result.Error, fmt.Sprintf("internal error: %v", p), string(debug.Stack())
		}
	}()
	fn()
}

// stopBackground stops the background steps of the case.
func (sc *scope) stopBackground() {
	for _, w := range sc.file.Fixtures.Stop(&sc.steps.Background) {
		sc.out.warn(w.Message)
	}
}

// recycle ends the sessions of a case with restart_policy: per_test.
func (sc *scope) recycle() {
	if sc.file.Plan.Options.RestartPolicy == plan.PerTest {
		sc.guard(func() { sc.file.Pool.Recycle(sc.file.Cleanup.Ctx, sc.steps.Lease.Servers...) })
	}
}
