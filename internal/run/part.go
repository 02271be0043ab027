package run

import (
	"context"

	"mcptest/internal/jsonv"
	"mcptest/internal/result"
)

// Kept is what a file needs again when a later run ends what this one began:
// which file it was, and what its hooks handed over.
type Kept struct {
	File string      `json:"file"` // absolute path
	Env  jsonv.Value `json:"env"`  // an object, or null
	Vars jsonv.Value `json:"vars"`
}

// upReason is why no case is run when only the world is brought up.
const upReason = "not run: --setup-only"

// up runs beforeAll and setup of every file and leaves what they started. If
// one of them fails, everything that is up is ended again, the last first.
func (r *runner) up(ctx context.Context) {
	var begun []*fileRun
	ok := true
	for _, f := range r.files() {
		if ok {
			f.begin(ctx)
			begun = append(begun, f)
			ok = f.refused == nil && ctx.Err() == nil
		}
		v := verdict{result.Skip, upReason}
		if f.refused != nil {
			v = *f.refused
		}
		f.giveUp(v)
	}
	if !ok || ctx.Err() != nil || r.w.HandOver == nil {
		for i := len(begun) - 1; i >= 0; i-- {
			begun[i].backwards = true
			begun[i].finish(ctx)
		}
		return
	}
	// The servers that setup called end with us: their pipes are ours.
	// Should they not be wanted after all, teardown may call them again.
	r.pool.recycle(r.clean.ctx, r.pool.order)
	var kept []Kept
	for _, f := range begun {
		kept = append(kept, Kept{File: f.file.Suite.File.Path, Env: orNull(f.patch.env), Vars: orNull(f.patch.vars)})
	}
	if err := r.w.HandOver(kept); err != nil {
		r.finding(result.Finding{Kind: "hand-over", Severity: "error", Message: "the world could not be left running: " + err.Error()})
		for i := len(begun) - 1; i >= 0; i-- {
			begun[i].backwards = true
			begun[i].finish(ctx)
		}
		return
	}
	for _, f := range begun {
		f.background.release()
	}
	r.w.Sweep = nil
}

// down runs teardown and afterAll, the last file first.
func (r *runner) down(ctx context.Context) {
	files := r.files()
	for i := len(files) - 1; i >= 0; i-- {
		f := files[i]
		f.begun, f.setupBegun, f.backwards = true, true, true
		for _, k := range r.w.Kept {
			if k.File == f.file.Suite.File.Path {
				f.patch = patch{env: orAbsent(k.Env), vars: orAbsent(k.Vars)}
			}
		}
		f.finish(ctx)
	}
}

func orNull(v jsonv.Value) jsonv.Value {
	if v.IsAbsent() {
		return jsonv.Null()
	}
	return v
}

func orAbsent(v jsonv.Value) jsonv.Value {
	if v.Kind() != jsonv.KindObject {
		return jsonv.Value{}
	}
	return v
}
