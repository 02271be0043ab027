package run

import (
	"context"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/report/result"
	"mcptest/internal/run/fixture"
)

// setupOnlyReason is the skip reason of all cases with SetupOnly.
const setupOnlyReason = "not run: --setup-only"

// runSetupOnly runs beforeAll and setup of every file and leaves the started processes
// running. If a step fails, runSetupOnly ends everything in reverse order.
func (r *runner) runSetupOnly(ctx context.Context) {
	var begun []*fileRun
	ok := true
	for _, f := range r.listFiles() {
		if ok {
			f.begin(ctx)
			begun = append(begun, f)
			ok = f.refused == nil && ctx.Err() == nil
		}
		v := verdict{result.Skip, setupOnlyReason}
		if f.refused != nil {
			v = *f.refused
		}
		f.giveUp(v)
	}
	if !ok || ctx.Err() != nil || r.deps.Detach == nil || !r.detach(begun) {
		finishBackwards(ctx, begun)
	}
}

// detach hands over the processes that the files started. If it returns false, they
// must be ended by this run.
func (r *runner) detach(begun []*fileRun) bool {
	// The servers that setup called end with this program, which holds their pipes.
	// If detaching fails, teardown may call them again.
	r.pool.RecycleAll(r.cleanup.Ctx)
	var saved []SavedState
	for _, f := range begun {
		p := f.scope.Patch
		saved = append(saved, SavedState{
			File: f.file.Suite.File.Path,
			Env:  p.Env.OrNull(),
			Vars: p.Vars.OrNull(),
		})
	}
	if err := r.deps.Detach(saved); err != nil {
		r.report(result.Finding{Kind: "hand-over", Severity: "error", Message: "the processes could not be left running: " + err.Error()})
		return false
	}
	for _, f := range begun {
		f.scope.Background.Release()
	}
	r.deps.KillOrphans = nil
	return true
}

// runTeardownOnly runs teardown and runAfterAll, the last file first.
func (r *runner) runTeardownOnly(ctx context.Context) {
	files := r.listFiles()
	for _, f := range files {
		f.begun, f.setupBegun = true, true
		for _, s := range r.opts.Saved {
			if s.File == f.file.Suite.File.Path {
				f.scope.Patch = fixture.Patch{Env: readObject(s.Env), Vars: readObject(s.Vars)}
			}
		}
	}
	finishBackwards(ctx, files)
}

func finishBackwards(ctx context.Context, files []*fileRun) {
	for i := len(files) - 1; i >= 0; i-- {
		files[i].backwards = true
		files[i].finish(ctx)
	}
}

func readObject(v jsonv.Value) jsonv.Value {
	if v.Kind() != jsonv.KindObject {
		return jsonv.Value{}
	}
	return v
}
