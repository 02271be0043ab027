package run

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"mcptest/internal/plan"
	"mcptest/internal/result"
)

// fileRun runs the cases of one file inside its brackets.
type fileRun struct {
	*runner
	file       *plan.File
	index      int
	first, end int // its cases in the plan

	begun      bool     // afterAll is owed
	setupBegun bool     // teardown is owed
	refused    *verdict // why no case is dispatched
	broken     string   // why setup failed

	patch      patch // what before-hooks handed over for the rest of the file
	afterPatch patch // what after-hooks handed over, for later after-hooks
	background background
	warming    sync.WaitGroup // servers that are started early
	stopWarm   context.CancelFunc
	backwards  bool // files are ended the last first

	counts [4]atomic.Int32 // cases by order of the four statuses
}

// verdict is a status and why.
type verdict struct {
	status  result.Status
	message string
}

// run goes through the file's phases. Everything that was begun is ended,
// whatever happens.
func (f *fileRun) run(ctx context.Context) {
	if reason, stopped := f.halted(ctx); stopped {
		f.giveUp(verdict{result.Skip, reason})
		return
	}
	f.begin(ctx)
	if f.refused != nil {
		f.giveUp(*f.refused)
	} else {
		f.lanes(ctx)
	}
	f.finish(ctx)
}

// begin runs beforeAll and setup; what went wrong is in f.refused.
func (f *fileRun) begin(ctx context.Context) {
	if len(f.file.BeforeAll)+len(f.file.Setup) == 0 && f.w.Part == Whole {
		f.warm(ctx)
	}
	f.begun = true
	fault := f.protect(func() {
		before := f.hooks(ctx, f.file.BeforeAll, hookCall{phase: "beforeAll"})
		f.sendPhases(before.phases)
		f.patch = before.patch
		switch {
		case before.interrupted:
			f.refuse(result.Skip, interruptedReason)
		case before.failed != "":
			f.failed.Store(true)
			f.refuse(result.Fail, before.failed)
		case before.skip != "":
			f.refuse(result.Skip, before.skip)
		default:
			f.setupBegun = true
			f.setup(ctx)
		}
	})
	if fault != "" {
		f.refuse(result.Error, fault)
	}
}

func (f *fileRun) refuse(status result.Status, message string) {
	f.refused = &verdict{status, message}
}

// finish ends what begin began: teardown, afterAll, the servers that no later
// file uses, the background steps.
func (f *fileRun) finish(ctx context.Context) {
	if f.stopWarm != nil {
		f.stopWarm()
		f.warming.Wait()
	}
	f.background.testsOver()
	if f.setupBegun {
		f.protect(f.teardown)
	}
	if f.begun {
		f.protect(func() { f.hooksAfterAll(ctx) })
	}
	f.protect(func() {
		// After a signal servers leave time to the background steps.
		ctx, cancel := f.clean.part(min(2, len(f.background.steps)+1))
		defer cancel()
		f.pool.closeAfter(ctx, f)
	})
	f.protect(func() {
		for _, w := range f.background.stop(f.runner) {
			f.finding(w.finding())
		}
	})
}

// verdict is what afterAll hooks see: the outcome of the file's cases.
func (f *fileRun) verdict(ctx context.Context) verdict {
	fails, errs := f.count(result.Fail), f.count(result.Error)
	switch {
	case f.broken != "":
		return verdict{result.Error, f.broken}
	case f.refused != nil:
		return *f.refused
	case fails+errs > 0:
		v := verdict{result.Fail, fmt.Sprintf("%d of %d tests did not pass", fails+errs, f.end-f.first)}
		if fails == 0 {
			v.status = result.Error
		}
		return v
	case ctx.Err() != nil:
		return verdict{result.Skip, interruptedReason}
	case f.count(result.Pass) == 0 && f.count(result.Skip) > 0:
		return verdict{result.Skip, "every test was skipped"}
	}
	return verdict{status: result.Pass}
}

// bad reports whether something failed, so that state is worth a look.
func (f *fileRun) bad() bool {
	return f.broken != "" || f.count(result.Fail)+f.count(result.Error) > 0
}

func statusIndex(s result.Status) int {
	switch s {
	case result.Pass:
		return 0
	case result.Fail:
		return 1
	case result.Skip:
		return 2
	}
	return 3
}

func (f *fileRun) count(s result.Status) int { return int(f.counts[statusIndex(s)].Load()) }

// giveUp ends every case of the file undispatched. A case that the suite
// skips anyway keeps its own reason.
func (f *fileRun) giveUp(v verdict) {
	for i := f.first; i < f.end; i++ {
		f.conclude(i, func(c *plan.Case, out *result.Case) {
			out.Status, out.Message = v.status, v.message
			if c.Skip != "" {
				out.Status, out.Message = result.Skip, c.Skip
			}
		})
	}
}

// conclude gives the i-th case its verdict by fn and hands it over. A fault of
// ours ends this case only: what it started is still ended, and the others
// get their verdict.
func (f *fileRun) conclude(i int, fn func(c *plan.Case, out *result.Case)) {
	out := &result.Case{Index: i, Name: fmt.Sprintf("test %d", i+1), File: f.file.Path, Assertions: []result.Assertion{}}
	if fault := f.protect(func() {
		c := f.plan.Case(i)
		f.fill(c, out)
		fn(c, out)
	}); fault != "" {
		out.Status, out.Message = result.Error, fault
	}
	if f.w.Settle != nil {
		f.w.Settle(out)
	}
	f.counts[statusIndex(out.Status)].Add(1)
	switch out.Status {
	case result.Fail, result.Error:
		if _, late := f.late.LoadAndDelete(i); late && out.Status == result.Error {
			f.unready.Store(true)
		} else {
			f.failed.Store(true)
		}
		if f.file.Options.FailFast {
			f.halt(fmt.Sprintf("not run: fail-fast after %q", out.Name))
		}
	}
	f.w.Send(result.CaseFinished{Case: out})
}
