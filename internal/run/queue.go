package run

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"mcptest/internal/report/result"
	"mcptest/internal/spec/plan"
)

// queue holds the cases of one server in file order, and the number of its workers.
type queue struct {
	cases   []int32
	next    atomic.Int64
	workers int
}

// pop removes and returns the next case of the queue.
func (q *queue) pop() (int, bool) {
	i := q.next.Add(1) - 1
	if i >= int64(len(q.cases)) {
		return 0, false
	}
	return int(q.cases[i]), true
}

// runCases runs the file's cases.
func (f *fileRun) runCases(ctx context.Context) {
	var wg sync.WaitGroup
	for _, q := range f.makeQueues() {
		for range min(q.workers, len(q.cases)) {
			wg.Go(func() {
				for i, ok := q.pop(); ok; i, ok = q.pop() {
					f.finishCase(i, func(c *caseRun) { c.runUnlessSkipped(ctx) })
				}
			})
		}
	}
	wg.Wait()
}

// makeQueues returns a queue for each server; a serial file has a single one with a
// single worker.
func (f *fileRun) makeQueues() []*queue {
	serial := f.file.Serial || f.file.Options.Whole
	var out []*queue
	byKey := map[string]*queue{}
	for i := f.first; i < f.end; i++ {
		key, workers := "", 1
		if !serial {
			workers = max(1, f.file.Options.Parallel)
			if s := f.run.plan.ServerOf(i); s != nil {
				key, workers = s.Key, workers*max(1, s.Sessions)
			}
		}
		q := byKey[key]
		if q == nil {
			q = &queue{workers: workers}
			byKey[key] = q
			out = append(out, q)
		}
		q.cases = append(q.cases, int32(i))
	}
	return out
}

// giveUp ends every case of the file without running it. A case that the suite
// skips keeps its reason.
func (f *fileRun) giveUp(v verdict) {
	for i := f.first; i < f.end; i++ {
		f.finishCase(i, func(c *caseRun) {
			c.out.Status, c.out.Message = v.status, v.message
			if c.c.Skip != "" {
				c.out.Status, c.out.Message = result.Skip, c.c.Skip
			}
		})
	}
}

// finishCase runs fn to determine the result of the i-th case and sends it.
func (f *fileRun) finishCase(i int, fn func(*caseRun)) {
	cr := f.determine(i, fn)
	if f.run.deps.OnCaseDone != nil {
		f.run.deps.OnCaseDone(cr.out)
	}
	if cr.snapshots != nil {
		cr.snapshots.Done(cr.out.Status == result.Pass)
	}
	f.countOutcome(cr)
	if cr.isDiagnosable() {
		if f.keep(cr) {
			return // it is sent after its diagnosis
		}
		f.leaveOut(cr, fmt.Sprintf("%d failed tests of this file are", maxDiagnosed))
	}
	f.run.deps.Send(result.CaseFinished{Case: cr.out})
}

// determine lets fn determine the result of the i-th case. A panic ends only this case.
func (f *fileRun) determine(i int, fn func(*caseRun)) *caseRun {
	out := &result.Case{
		Index:      i,
		Name:       fmt.Sprintf("test %d", i+1),
		File:       f.file.Path,
		Assertions: []result.Assertion{},
	}
	cr := &caseRun{file: f, out: out}
	fault := f.run.recoverPanic(func() {
		cr.c = f.run.plan.Case(i)
		f.describe(cr.c, out)
		cr.snapshots = f.newSnapshots(cr.c)
		fn(cr)
	})
	if fault != "" {
		out.Status, out.Message = result.Error, fault
	}
	return cr
}

// countOutcome counts the status of a case, for the file and for the exit code, and ends the
// run if it was the first failure of one that fails fast.
func (f *fileRun) countOutcome(cr *caseRun) {
	status, options := cr.out.Status, f.file.Options
	f.counts.add(status)
	if status == result.Inconclusive && options.Inconclusive != plan.Fail {
		if options.Inconclusive == plan.Gate {
			f.run.exit.update(func(s *exitState) { s.gate = true })
		}
		return
	}
	if !status.Failed() {
		return
	}
	f.run.exit.update(func(s *exitState) {
		if cr.notReady && status == result.Error {
			s.notReady = true
		} else {
			s.failed = true
		}
	})
	if options.FailFast {
		f.run.exit.halt(fmt.Sprintf("not run: fail-fast after %q", cr.out.Name))
	}
}

// keep keeps a failed case for its diagnosis at the end of the file. It returns false if
// there are too many.
func (f *fileRun) keep(cr *caseRun) bool {
	f.keeping.Lock()
	defer f.keeping.Unlock()
	if len(f.kept) == maxDiagnosed {
		return false
	}
	f.kept = append(f.kept, cr)
	return true
}

// runUnlessSkipped runs a case unless the suite or the run skips it.
func (cr *caseRun) runUnlessSkipped(ctx context.Context) {
	r := cr.file.run
	if r.opts.Live {
		r.deps.Send(result.CaseStarted{Index: cr.c.Index, Name: cr.c.Name})
	}
	if cr.c.Skip != "" {
		cr.out.Status, cr.out.Message = result.Skip, cr.c.Skip
		return
	}
	if reason, stopped := r.haltReason(ctx); stopped {
		cr.out.Status, cr.out.Message = result.Skip, reason
		return
	}
	cr.execute(ctx)
}
