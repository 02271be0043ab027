package run

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"mcptest/internal/client/protocol"
	"mcptest/internal/report/result"
	"mcptest/internal/run/attempts"
	"mcptest/internal/run/line"
	"mcptest/internal/run/record"
	"mcptest/internal/spec/plan"
)

// execute runs the case.
func (cr *caseRun) execute(ctx context.Context) {
	switch {
	case cr.c.Trials != nil:
		cr.runTrials(ctx)
	case cr.c.Repeat != nil:
		cr.repeat(ctx)
	default:
		cr.retry(ctx)
	}
	if cr.c.ExpectFailure != "" {
		cr.excuseFailure(cr.c.ExpectFailure)
	}
	if cr.out.Status.Failed() {
		cr.out.Repro = line.FormatRepro(cr.file.file, cr.c, cr.file.run.opts.RerunFlags)
		if !cr.c.Row.IsAbsent() {
			cr.out.Row = &result.Row{Line: cr.c.RowPos.Line, Values: cr.c.Row.String()}
			if cr.c.RowPos.File != nil {
				cr.out.Row.File = cr.c.RowPos.File.Name
			}
		}
	}
}

// excuseFailure changes the result of a case that is expected to fail. An error, a
// crash, a failure before its calls and one that a mistake of the suite explains
// are not what the suite expects.
func (cr *caseRun) excuseFailure(reason string) {
	out := cr.out
	crashed := slices.ContainsFunc(out.Violations, func(v result.Violation) bool { return v.Kind == protocol.ServerCrashed && !v.Tolerated })
	switch {
	case out.Status == result.Pass:
		out.Flaky = false
		out.Status, out.Message = result.Fail, "the test passed, but expect_failure is set ("+reason+"); remove it if the failure is fixed"
	case out.Status != result.Fail || crashed || len(out.Exchanges)+len(out.Assertions) == 0:
	case cr.mistake != "":
		out.Message = cr.mistake
	default:
		out.KnownFailure = &result.KnownFailure{Status: result.Fail, Reason: reason}
		out.Status, out.Message = result.Skip, "expected failure ("+reason+"): "+out.Message
	}
}

// retry runs a case until it passes or its retries are used up. A pass after a
// failure is flaky. An attempt that did not begin, that a hook skipped, that decides
// nothing or that a signal ended does not change the result of the previous one.
func (cr *caseRun) retry(ctx context.Context) {
	out, blank := cr.out, *cr.out
	all := attempts.List{Word: "attempt"}
	for try := 0; ; try++ {
		before := *out
		*out = blank
		if !cr.attempt(ctx, out, try+1) && try > 0 {
			*out = before
			all.Apply(out, try-1)
			return
		}
		all.Add(out)
		failed := out.Status == result.Fail || out.Status == result.Error
		_, stopped := cr.file.run.haltReason(ctx)
		switch {
		case try > 0 && (out.Status == result.Skip || out.Status == result.Inconclusive):
			*out = before
			all.Apply(out, try-1)
		case !failed || try >= cr.c.Retries || stopped || cr.c.ExpectFailure != "":
			out.Flaky = out.Status == result.Pass && try > 0
			all.Apply(out, try)
		default:
			continue
		}
		if len(out.Attempts) == 1 {
			out.Attempts = nil
		}
		return
	}
}

// repeat runs a case several times and requires a share of passes.
func (cr *caseRun) repeat(ctx context.Context) {
	blank := *cr.out
	*cr.out = attempts.Repeat(cr.c.Repeat, func(n int) (*result.Case, bool) {
		one := blank
		began := cr.attempt(ctx, &one, n)
		return &one, began
	}, func() bool { return ctx.Err() != nil }, line.Interrupted)
}

// runTrials runs the case until its sequential test ends. Attempts share what they leave in
// cr, so each has its own.
func (cr *caseRun) runTrials(ctx context.Context) {
	f, blank := cr.file, *cr.out
	parallel := max(1, f.file.Options.Parallel)
	if f.file.Serial || f.file.Options.Whole || cr.snapshots != nil {
		parallel = 1
	}
	var mu sync.Mutex
	test := attempts.NewTrials(cr.c.Trials.Design())
	test.Run(parallel, func(n int) *result.Case {
		one, own := blank, *cr
		own.attempt(ctx, &one, n)
		mu.Lock()
		defer mu.Unlock()
		cr.notReady, cr.mistake = cr.notReady || own.notReady, cmp.Or(cr.mistake, own.mistake)
		return &one
	}, func(state string) {
		if f.run.opts.Live {
			f.run.deps.Send(result.CaseStarted{Index: cr.c.Index, Name: cr.c.Name, State: state})
		}
	})
	*cr.out = test.Result()
}

// attempt runs the case for the n-th time and stores the result in out. It returns false if
// the run was halted before that.
func (cr *caseRun) attempt(ctx context.Context, out *result.Case, n int) bool {
	run := cr.file.run
	out.StartMS = run.since(run.start)
	walked := line.Walk(ctx, line.Test{
		File:      cr.file.shared,
		Case:      cr.c,
		Number:    n,
		Snapshots: cr.snapshots,
		Halted:    run.haltReason,
		Out:       out,
	})
	if !walked.Began {
		return false
	}
	cr.notReady = cr.notReady || walked.NotReady
	if cr.mistake == "" {
		cr.mistake = walked.Mistake
	}
	cr.before, cr.warm = walked.Before, walked.Warm
	return true
}

// describe sets the fields of a case that are known before it is run.
func (f *fileRun) describe(c *plan.Case, out *result.Case) {
	*out = result.Case{
		Index:       c.Index,
		Name:        c.Name,
		File:        f.file.Path,
		Line:        c.Pos.Line,
		Column:      c.Pos.Col,
		Description: c.About.Description,
		Suite:       f.file.Name,
		Block:       string(c.Block),
		Tags:        c.Tags,
		StartMS:     f.run.since(f.run.start),
	}
	if c.Pos.File != nil {
		out.File = c.Pos.File.Name
		out.Source = record.SourceLine(c.Pos)
	}
	if c.Server != nil {
		out.Server = c.Server.Name
	}
	if len(c.Ops) == 1 || c.Ops[0].Action != nil {
		out.Call = line.CallName(c.Ops[0])
	} else {
		out.Call = fmt.Sprintf("%d steps", len(c.Ops))
	}
}
