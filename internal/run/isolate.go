package run

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/shellwords"
	"mcptest/internal/report/result"
	"mcptest/internal/run/doubles"
	"mcptest/internal/run/line"
	"mcptest/internal/run/pool"
	"mcptest/internal/spec/plan"
)

// Limits of the diagnosis of failures that another test may have caused.
const (
	maxDiagnosed   = 20          // tests of a file
	leastDiagnosis = time.Second // of a short run: a server must be able to start
	shownSuspects  = 5
)

// listPredecessors returns the other tests that used the sessions of a test before it.
func (cr *caseRun) listPredecessors() []int {
	var list []int
	seen := map[int]bool{cr.c.Index: true}
	for _, index := range slices.Concat(cr.before...) {
		if !seen[index] {
			seen[index] = true
			list = append(list, index)
		}
	}
	return list
}

// hasPredecessor reports whether predecessors returns a test, at the cost of a look.
func (cr *caseRun) hasPredecessor() bool {
	other := func(index int) bool { return index != cr.c.Index }
	return slices.ContainsFunc(cr.before, func(list []int) bool { return slices.ContainsFunc(list, other) })
}

// isDiagnosable reports whether another test may have caused the failure of a case, which
// can be run again alone.
func (cr *caseRun) isDiagnosable() bool {
	f, out := cr.file, cr.out
	switch {
	case cr.c == nil || !f.run.diagnoses():
		return false
	case !out.Status.Failed() || out.Status == result.Inconclusive:
		return false
	case out.KnownFailure != nil || cr.mistake != "" || cr.notReady: // the cause is known
		return false
	case cr.c.ExpectFailure != "": // what failed is the expectation: it passed
		return false
	case len(out.Exchanges) == 0 || !cr.warm && !cr.hasPredecessor():
		return false
	case f.file.Options.RestartPolicy == plan.PerTest || f.hasOwnFixtures() || len(f.file.Upstreams) > 0:
		return false
	case cr.c.Trials != nil || cr.c.Repeat != nil:
		return false
	case cr.c.DiagnoseIsolation != nil && !*cr.c.DiagnoseIsolation:
		return false
	}
	return hasOnlyCalls(cr.c)
}

// diagnoses reports whether failed tests of a run are run again alone.
func (r *runner) diagnoses() bool {
	isPart := r.opts.Phase != All || r.shadow
	return !r.opts.NoDiagnosis && !r.shared.Replayed && !isPart
}

// hasOwnFixtures reports whether the tests of a file have hooks or fixtures of their own.
func (f *fileRun) hasOwnFixtures() bool {
	p := f.file
	return len(p.BeforeEach)+len(p.AfterEach)+len(p.SetupPerTest)+len(p.TeardownPerTest) > 0
}

// hasOnlyCalls reports whether a case only calls servers whose processes the run starts.
func hasOnlyCalls(c *plan.Case) bool {
	return !slices.ContainsFunc(c.Ops, func(op *plan.Op) bool {
		return op.Action != nil || op.Raw != nil || op.Notification || op.Server == nil || op.Server.URL != ""
	})
}

// diagnose runs the failed tests that were kept again, and sends them.
func (f *fileRun) diagnose(ctx context.Context) {
	defer f.run.shared.Clock.Begin(pool.Diagnosing)()
	left := max(f.run.sinceStart(), leastDiagnosis)
	for _, cr := range f.kept {
		switch {
		case ctx.Err() != nil:
		case left <= 0:
			f.leaveOut(cr, noTime)
		default:
			began := time.Now()
			limited, cancel := context.WithTimeout(ctx, left)
			f.run.recoverPanic(func() { diagnosis{f, cr}.run(limited) })
			if limited.Err() != nil && ctx.Err() == nil {
				f.leaveOut(cr, noTime)
			}
			cancel()
			left -= time.Since(began)
		}
		f.run.deps.Send(result.CaseFinished{Case: cr.out})
	}
	f.kept = nil
}

// noTime is why a test is not run again.
const noTime = "no time was left (running failed tests again may take as long as the run)"

// leaveOut says of a test without a diagnosis, which may run again, why it does not.
func (f *fileRun) leaveOut(cr *caseRun, why string) {
	if cr.out.Diagnosis != nil || !(diagnosis{f, cr}).mayRepeat(cr.c.Index) {
		return
	}
	cr.out.Diagnosis = &result.Diagnosis{
		Status:  result.Skip,
		Message: "not run again alone to see whether another test caused it: " + why,
	}
}

func (r *runner) sinceStart() time.Duration { return time.Since(r.start) }

// diagnosis finds out whether another test caused the failure of a test. It changes
// no verdict.
type diagnosis struct {
	f  *fileRun
	cr *caseRun
}

func (d diagnosis) run(ctx context.Context) {
	began := time.Now()
	own := d.cr.c.Index
	alone := d.runAgain(ctx, []int{own})
	if alone == nil {
		return
	}
	out := &result.Diagnosis{Status: alone.Status, Message: "fails alone on a new process, too: no other test caused it"}
	if alone.Status == result.Pass {
		d.blame(ctx, out)
		dropUpdates(d.cr.out.Assertions)
	}
	out.DurationMS = ms(time.Since(began))
	d.cr.out.Diagnosis = out
}

// blame names the tests that changed the state of the server.
func (d diagnosis) blame(ctx context.Context, out *result.Diagnosis) {
	const passes = "passes alone on a new process"
	before := d.cr.listPredecessors()
	culprits, reproduced := d.find(ctx, before)
	switch {
	case len(before) == 0:
		out.Message = passes + ": the process was kept from an earlier run; restart_policy: per_file or per_test starts one for each"
		return
	case reproduced && culprits == nil:
		out.Message = passes + ", and also after the tests that ran before it: its outcome varies"
		return
	case !reproduced:
		culprits = d.listWriters(before)
	}
	undeclared := len(culprits) == 0
	if undeclared {
		culprits = before
	}
	for _, i := range culprits[:min(len(culprits), shownSuspects)] {
		out.After = append(out.After, d.place(i))
	}
	names := strings.Join(out.After, ", ")
	if more := len(culprits) - len(out.After); more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	policy := plan.PerTest
	if !slices.ContainsFunc(culprits, func(i int) bool { return d.f.run.plan.FileOf(i) == d.f.index }) {
		policy = plan.PerFile
	}
	out.Reproduced = reproduced
	switch {
	case undeclared:
		why := "they can't be run again here"
		if ctx.Err() != nil {
			why = "there was no time left to run them again"
		}
		out.Message = passes + ": its outcome varies, or an earlier test changed the state of the server, though its calls are " +
			"declared to only read; which one is not known, because " + why + ": " + names
	case reproduced && len(culprits) > 1:
		out.Message = passes + ": earlier tests changed the state of the server (" + names + ")"
	case reproduced:
		out.Message = passes + ": an earlier test changed the state of the server (" + names + ")"
	default:
		out.Message = passes + ": an earlier test may have changed the state of the server; these called tools without readOnlyHint: true: " + names
	}
	out.Message += "; run_options: {restart_policy: " + policy + "} keeps them apart"
	if reproduced || len(culprits) <= shownSuspects {
		d.cr.out.Repro = d.formatRepro(culprits)
	}
}

// find finds by halves which of the earlier tests make the test fail; nil if it passes
// after all of them. ran is false if they could not all be run again, in the time that is
// left.
func (d diagnosis) find(ctx context.Context, before []int) (culprits []int, ran bool) {
	if len(before) == 0 || !d.canRepeat(before) {
		return nil, false
	}
	ran = true
	fails := func(list []int) bool {
		got := d.runAgain(ctx, append(slices.Clone(list), d.cr.c.Index))
		ran = ran && got != nil
		return got != nil && got.Status.Failed()
	}
	culprits = findSmallest(before, func(list []int) bool { return ran && fails(list) })
	return culprits, ran
}

// findSmallest finds by halves the tests that it takes to fail; nil if it does not fail after
// all of them.
func findSmallest(list []int, fails func([]int) bool) []int {
	if !fails(list) {
		return nil
	}
	for len(list) > 1 {
		middle := len(list) / 2
		first, rest := list[:middle], list[middle:]
		switch {
		case fails(first):
			list = first
		case fails(rest):
			list = rest
		default: // it takes several
			return reduceToNeeded(list, fails)
		}
	}
	return list
}

// reduceToNeeded leaves out every test without which it fails, too.
func reduceToNeeded(list []int, fails func([]int) bool) []int {
	if len(list) > maxDiagnosed {
		return list
	}
	for i := len(list) - 1; i >= 0; i-- {
		if fewer := slices.Delete(slices.Clone(list), i, i+1); fails(fewer) {
			list = fewer
		}
	}
	return list
}

// canRepeat reports whether tests may be run again in the file's surroundings.
func (d diagnosis) canRepeat(list []int) bool {
	return !slices.ContainsFunc(list, func(i int) bool {
		file := d.f.run.plan.Files[d.f.run.plan.FileOf(i)]
		c := d.f.run.plan.Case(i)
		other := file != d.f.file && len(file.BeforeAll)+len(file.Setup) > 0
		own := len(file.BeforeEach)+len(file.AfterEach)+len(file.SetupPerTest)+len(file.TeardownPerTest) > 0
		return other || own || !hasOnlyCalls(c) || c.Trials != nil || c.Repeat != nil
	})
}

// runAgain runs tests, one after the other, on new processes and returns the outcome of the
// last; nil if one of them must not be run again, or the time is over.
func (d diagnosis) runAgain(ctx context.Context, list []int) *result.Case {
	if slices.ContainsFunc(list, func(i int) bool { return !d.mayRepeat(i) }) {
		return nil
	}
	s := d.f.run.newShadow(ctx)
	defer s.recoverPanic(func() { s.pool.Close(d.f.run.cleanup.Ctx) })
	var out *result.Case
	for _, i := range list {
		index := s.plan.FileOf(i)
		f := newFileRun(s, s.plan.Files[index], index, i, i+1)
		if index == d.f.index {
			f.scope.Patch = d.f.scope.Patch
		}
		out = &result.Case{Assertions: []result.Assertion{}}
		cr := &caseRun{file: f, c: s.plan.Case(i), out: out}
		f.describe(cr.c, out)
		cr.snapshots = f.newSnapshots(cr.c)
		if !cr.attempt(ctx, out, 1) || ctx.Err() != nil {
			return nil
		}
	}
	return out
}

// newShadow returns a runner with processes of its own, which reports nothing.
func (r *runner) newShadow(ctx context.Context) *runner {
	s := &runner{
		opts:    r.opts,
		deps:    r.deps,
		plan:    r.plan,
		start:   r.start,
		opener:  r.opener,
		cleanup: r.cleanup,
		shadow:  true,
	}
	s.deps.Send, s.deps.OnCaseDone, s.deps.Warm = func(result.Event) {}, nil, nil
	s.deps.Upstreams = doubles.Deps{Report: func(result.Finding) {}}
	s.pool = pool.New(ctx, pool.Deps{
		Opener: r.opener, Send: s.deps.Send, Doubles: s.deps.Upstreams, Report: func(result.Finding) {}, Protect: s.recoverPanic,
	})
	s.shared = s.newShared()
	return s
}

// mayRepeat reports whether a test may be run again: its suite says so, or its calls only
// read, or may be repeated as the tools declare.
func (d diagnosis) mayRepeat(i int) bool {
	p := d.f.run.plan
	c, file := p.Case(i), p.Files[p.FileOf(i)]
	if c.DiagnoseIsolation != nil {
		return *c.DiagnoseIsolation
	}
	return file.Options.DiagnoseIsolation || !slices.ContainsFunc(c.Ops, func(op *plan.Op) bool {
		switch op.Method {
		case "resources/read", "resources/list", "resources/templates/list", "prompts/get", "prompts/list", "tools/list", "ping", "completion/complete":
			return false
		case "tools/call":
			hints := d.hints(file, c, op)
			idempotent := hints.Lookup("idempotentHint").Bool() && !hints.Lookup("destructiveHint").Bool()
			return !hints.Lookup("readOnlyHint").Bool() && !idempotent
		}
		return true
	})
}

// hints returns what the tool of a call declares, as far as the run knows.
func (d diagnosis) hints(file *plan.File, c *plan.Case, op *plan.Op) jsonv.Value {
	return d.f.run.pool.ForCase(c, op.Server, file).Tools().Hints(op.Subject)
}

// listWriters returns the tests that called tools which do not declare readOnlyHint: true.
func (d diagnosis) listWriters(list []int) []int {
	return slices.DeleteFunc(slices.Clone(list), func(i int) bool {
		p := d.f.run.plan
		c, file := p.Case(i), p.Files[p.FileOf(i)]
		return !slices.ContainsFunc(c.Ops, func(op *plan.Op) bool {
			if op.Method != "tools/call" || op.Server == nil {
				return op.Raw != nil || op.MaybeMethod
			}
			return !d.hints(file, c, op).Lookup("readOnlyHint").Bool()
		})
	})
}

// place names a test with its file and what it called.
func (d diagnosis) place(i int) string {
	p := d.f.run.plan
	c := p.Case(i)
	var tools []string
	for _, op := range c.Ops {
		if op.Subject != "" && !slices.Contains(tools, op.Subject) {
			tools = append(tools, op.Subject)
		}
	}
	text := fmt.Sprintf("%s: %q", p.Files[p.FileOf(i)].Path, c.Name)
	if len(tools) > 0 {
		text += " called " + strings.Join(tools, ", ")
	}
	return text
}

// formatRepro returns a command that runs the test after others.
func (d diagnosis) formatRepro(before []int) string {
	p := d.f.run.plan
	var files, names []string
	for _, i := range append(slices.Clone(before), d.cr.c.Index) {
		if path := shellwords.QuotePathForShell(p.Files[p.FileOf(i)].Path); !slices.Contains(files, path) {
			files = append(files, path)
		}
		names = append(names, line.MakePattern(p.Name(i)))
	}
	filter := shellwords.QuoteForShell("re:^(" + strings.Join(names, "|") + ")$")
	command := "mcptest run " + strings.Join(files, " ") + " --filter " + filter
	if flags := d.f.run.opts.RerunFlags; len(flags) > 0 {
		command += " " + shellwords.QuoteAllForShell(flags)
	}
	return command
}

// dropUpdates removes hints to store the values that a test got: they come from the
// state that another test left.
func dropUpdates(list []result.Assertion) {
	for i := range list {
		a := &list[i]
		a.Notes = slices.DeleteFunc(a.Notes, func(note string) bool { return strings.Contains(note, line.UpdateFlag) })
		dropUpdates(a.Assertions)
	}
}
