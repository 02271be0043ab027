package run

import (
	"context"
	"fmt"
	"runtime/debug"
	"strings"

	"mcptest/internal/plan"
	"mcptest/internal/result"
)

// bracket runs a case between its per-test hooks and fixtures, on servers of
// its own where the suite asks for them. afterEach runs whenever beforeEach
// began, whatever came of it.
func (a *attempt) bracket(ctx context.Context) {
	var bg background
	given := a.patch
	own, begun := patch{}, true
	a.guard(func() {
		before := a.hooks(ctx, a.file.BeforeEach, hookCall{phase: "beforeEach", test: a.c, patch: given})
		own = before.own
		a.phases(before.phases...)
		switch {
		case before.interrupted:
			begun = len(before.phases) > 0
			a.fail(result.Skip, interruptedReason)
		case before.failed != "":
			a.fail(result.Fail, before.failed)
		case before.skip != "":
			a.fail(result.Skip, before.skip)
		default:
			a.patchNow(before.patch, func() { a.dispatch(ctx, &bg) })
		}
	})
	bg.testsOver()
	if begun {
		a.guard(func() { a.afterEach(own) })
	}
	a.recycle()
	a.guard(func() {
		for _, w := range bg.stop(a.runner) {
			a.out.Warnings = append(a.out.Warnings, w.message)
		}
	})
}

// dispatch runs the per-test fixtures and then the case's calls.
func (a *attempt) dispatch(ctx context.Context, bg *background) {
	for _, s := range a.file.SetupPerTest {
		if ctx.Err() != nil {
			a.fail(result.Skip, interruptedReason)
			return
		}
		ph, msg := a.step(ctx, s, bg, a)
		a.phases(ph)
		switch {
		case ph.Status == result.Skip:
			a.fail(result.Skip, interruptedReason)
			return
		case msg != "":
			a.fail(result.Fail, "setup_per_test failed: "+msg)
			return
		}
	}
	a.calls(ctx)
}

func (a *attempt) afterEach(own patch) {
	if len(a.file.AfterEach) == 0 {
		return
	}
	after := a.hooks(a.clean.ctx, a.file.AfterEach, hookCall{
		phase: "afterEach", test: a.c, after: true, known: verdict{a.out.Status, a.out.Message},
		patch: a.patch.with(a.afterPatch).with(own),
	})
	a.fileRun.afterPatch = a.afterPatch.with(after.own)
	a.phases(after.phases...)
	for _, p := range after.phases {
		if p.Status == result.Fail {
			a.out.Warnings = append(a.out.Warnings, fmt.Sprintf("afterEach hook %q failed: %s%s", p.Name, p.Message, lastLine(p.Output)))
		}
	}
}

// lastLine is the end of what a hook wrote, for a message of one line.
func lastLine(output string) string {
	output = strings.TrimSpace(output)
	if output == "" {
		return ""
	}
	return fmt.Sprintf(" (it wrote %q)", output[strings.LastIndexByte(output, '\n')+1:])
}

// phases adds to the case's phases. What they warn of is the case's, where
// every reader looks.
func (a *attempt) phases(list ...result.Phase) {
	for _, ph := range list {
		for _, w := range ph.Warnings {
			a.out.Warnings = append(a.out.Warnings, fmt.Sprintf("%s %q: %s", ph.Phase, ph.Name, w))
		}
		ph.Warnings = nil
		a.out.Phases = append(a.out.Phases, ph)
	}
}

// guard turns a fault of ours into the case's verdict, so that what comes
// after fn is still done.
func (a *attempt) guard(fn func()) {
	defer func() {
		if p := recover(); p != nil {
			a.internal.Store(true)
			a.out.Status, a.out.Message = result.Error, fmt.Sprintf("internal error: %v", p)
			a.out.Stderr = string(debug.Stack())
		}
	}()
	fn()
}

// patchNow runs fn with what the test's hooks handed over; a serial file runs
// one case at a time, so nobody else sees it.
func (f *fileRun) patchNow(p patch, fn func()) {
	old := f.patch
	f.patch = p
	defer func() { f.patch = old }()
	fn()
}

// recycle ends the sessions of a case that wants a fresh server.
func (a *attempt) recycle() {
	if a.file.Options.RestartPolicy == plan.PerTest {
		a.guard(func() { a.pool.recycle(a.clean.ctx, a.lease.entries) })
	}
}
