package cli

import (
	"context"
	"slices"
	"strings"

	"mcptest/internal/cmdutil"
	"mcptest/internal/display"
	"mcptest/internal/draft"
	"mcptest/internal/mcp/protocol"
	"mcptest/internal/plan"
	"mcptest/internal/result"
	"mcptest/internal/run"
)

// maxTrials bounds how often the suite is run until it passes.
const maxTrials = 6

// settle runs the suite that was written until it passes: what the server does
// wrong on the wire is tolerated, and a test that fails all the same is
// skipped. It returns how many tests passed.
func (i *initializer) settle(ctx context.Context) (passed int, err error) {
	for range maxTrials {
		rec, code, err := i.trial(ctx)
		if err != nil {
			return 0, err
		}
		passed = rec.Run().Summary.Passed
		changed := i.adapt(rec.Run())
		_ = rec.Close()
		switch {
		case ctx.Err() != nil:
			return 0, i.failed(ctx, "", ctx.Err())
		case code == exitPassed:
			return passed, nil
		case !changed:
			return passed, fail(exitFailed, "%s was written, but does not pass: run mcptest run %s to see why", i.f.output, i.f.output)
		}
		if err := i.save(); err != nil {
			return 0, err
		}
	}
	return passed, fail(exitFailed, "%s was written, but does not pass: the server answers differently each time", i.f.output)
}

// trial runs the suite once.
func (i *initializer) trial(ctx context.Context) (*result.Recorder, int, error) {
	f := suiteFlags{color: i.f.color}
	suites, diags, err := f.load([]string{i.f.output}, i.s.Env)
	if err != nil {
		return nil, 0, err
	}
	set := f.settings(i.s)
	set.CI = false
	p, more := plan.Compile(suites, set)
	if errs, _ := f.print(i.s, append(diags, more...)); errs > 0 {
		return nil, 0, fail(exitInternal, "%s was written with %s", i.f.output, display.Count(errs, "mistake"))
	}
	rec := result.NewRecorder(result.RecorderOptions{Redactor: i.redactor})
	tool := result.Tool{Name: "mcptest", Version: cmdutil.Version()}
	code := run.Run(ctx, p, run.Options{Tool: tool}, run.Deps{Send: rec.Send, Secret: i.redactor.Add, Registry: i.world.Registry})
	return rec, code, nil
}

// adapt changes the suite by what a trial showed; false when there was nothing
// that it could change.
func (i *initializer) adapt(r *result.Run) (changed bool) {
	before := slices.Clone(i.suite.Server.Tolerate)
	tolerate := func(kind string) bool {
		known := kind == "output-schema" || slices.ContainsFunc(protocol.ViolationKinds, func(k protocol.ViolationKind) bool { return k.Name == kind })
		if !known || slices.Contains(before, kind) {
			return false // tolerated in this trial already, so it is not why the test failed
		}
		if !slices.Contains(i.suite.Server.Tolerate, kind) {
			i.suite.Server.Tolerate = append(i.suite.Server.Tolerate, kind)
		}
		return true
	}
	for _, f := range r.Findings {
		if f.Severity == "error" {
			changed = tolerate(f.Kind) || changed
		}
	}
	names := i.suite.Names()
	for c, err := range r.Cases.All() {
		if err != nil || c.Status != result.Fail && c.Status != result.Error {
			continue
		}
		forgiven := false
		for _, v := range c.Violations {
			forgiven = tolerate(v.Kind) || forgiven
		}
		if at := slices.Index(names, c.Name); !forgiven && at >= 0 {
			i.relax(i.suite.Tests[at], c.Message)
			forgiven = true
		}
		changed = changed || forgiven
	}
	slices.Sort(i.suite.Server.Tolerate)
	return changed
}

// relax expects less of a test that failed: one that is refused in different
// ways is only expected to be answered, any other is skipped.
func (i *initializer) relax(t *draft.Test, message string) {
	unexamined := strings.Contains(message, "no assertion examines")
	if !t.Loose && t.List == "" && (unexamined || t.Refused()) {
		t.Loose = true
		return
	}
	t.Skip = "it failed when the suite was tried: " + message
}
