package run

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"mcptest/internal/assert/snapshot"
	"mcptest/internal/base/display"
	"mcptest/internal/base/shellwords"
	"mcptest/internal/client/protocol"
	"mcptest/internal/report/result"
	"mcptest/internal/run/attempts"
	"mcptest/internal/run/fixture"
	"mcptest/internal/run/respond"
	"mcptest/internal/run/twin"
	"mcptest/internal/spec/plan"
)

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

// execute runs the case.
func (cr *caseRun) execute(ctx context.Context) {
	switch {
	case cr.c.Trials != nil:
		cr.trials(ctx)
	case cr.c.Repeat != nil:
		cr.repeat(ctx)
	default:
		cr.retry(ctx)
	}
	if cr.c.ExpectFailure != "" {
		cr.expectedFailure(cr.c.ExpectFailure)
	}
	if cr.out.Status.Failed() {
		cr.out.Repro = repro(cr.file.file, cr.c, cr.file.run.opts.RerunFlags)
		if !cr.c.Row.IsAbsent() {
			cr.out.Row = &result.Row{Line: cr.c.RowPos.Line, Values: cr.c.Row.String()}
			if cr.c.RowPos.File != nil {
				cr.out.Row.File = cr.c.RowPos.File.Name
			}
		}
	}
}

// expectedFailure changes the result of a case that is expected to fail. An error, a
// crash, a failure before its calls and one that a mistake of the suite explains
// are not what the suite expects.
func (cr *caseRun) expectedFailure(reason string) {
	out := cr.out
	crashed := slices.ContainsFunc(out.Violations, func(v result.Violation) bool { return v.Kind == protocol.ServerCrashed && !v.Tolerated })
	switch {
	case out.Status == result.Pass:
		out.Flaky = false
		out.Status, out.Message = result.Fail, "the test passed, and expect_failure says that it fails ("+reason+"); remove expect_failure if that is over"
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
	}, func() bool { return ctx.Err() != nil }, interruptedReason)
}

// trials runs the case until its sequential test ends. Attempts share what they leave in
// cr, so each has its own.
func (cr *caseRun) trials(ctx context.Context) {
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

// attempt runs the case for the n-th time, with its per-test hooks and fixtures, and stores
// the result in out. It returns false if the run was halted while the case waited for
// its servers.
func (cr *caseRun) attempt(ctx context.Context, out *result.Case, n int) bool {
	f := cr.file
	out.StartMS = f.run.since(f.run.start)
	others := twin.OtherWays(cr.c, f.file)
	var servers []*plan.Server
	for _, o := range others {
		if o.Err == nil {
			servers = append(servers, o.Server)
		}
	}
	lease := f.run.pool.Lease(cr.c, f.file, servers...)
	defer lease.Release()
	if reason, stopped := f.run.haltReason(ctx); stopped {
		out.Status, out.Message = result.Skip, reason
		return false
	}
	a := &attempt{
		file:      f,
		c:         cr.c,
		number:    n,
		snapshots: cr.snapshots,
		out:       outcome{c: out},
		script:    scriptOf(cr.c),
		others:    others,
		scope:     fixture.Scope{Patch: f.scope.Patch, Case: cr.c, Lease: lease},
	}
	if a.snapshots != nil {
		a.snapshots.Attempt()
	}
	if f.file.Serial {
		a.inScope(ctx)
	} else {
		a.guard(func() { a.calls(ctx) })
		a.recycle()
	}
	if a.snapshots != nil && out.Status == result.Pass {
		a.snapshots.AttemptPassed()
	}
	cr.notReady, cr.mistake = cr.notReady || a.notReady, cmp.Or(cr.mistake, a.mistake)
	cr.before, cr.warm = a.before, a.warm
	return true
}

func scriptOf(c *plan.Case) *respond.Script {
	if c.Server == nil {
		return respond.New(c.Respond)
	}
	return respond.New(c.Respond, c.Server.Respond)
}

// repro returns a shell command that runs one case again.
func repro(f *plan.File, c *plan.Case, flags []string) string {
	filter := shellwords.QuoteForShell("re:^" + pattern(c.Name) + "$")
	line := "mcptest run " + shellwords.QuotePathForShell(f.Path) + " --filter " + filter
	if len(flags) > 0 {
		line += " " + shellwords.QuoteAllForShell(flags)
	}
	return line
}

// pattern returns a regular expression that matches a name exactly. It escapes
// control and invisible characters like RE2, so that the command can be printed.
func pattern(name string) string {
	var b strings.Builder
	for _, r := range regexp.QuoteMeta(name) {
		if display.Hidden(r) {
			fmt.Fprintf(&b, `\x{%x}`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}
