package run

import (
	"cmp"
	"context"

	"mcptest/internal/report/result"
	"mcptest/internal/run/line"
)

// surveyEnding requests what the servers that end with a file offer.
func (f *fileRun) surveyEnding(ctx context.Context) {
	m := f.run.shared.Coverage
	if m == nil || ctx.Err() != nil {
		return
	}
	for _, s := range f.run.pool.Ending(f.file, f.listPending()) {
		known := m.AddUnsurveyed(s.Def)
		if known == nil {
			continue
		}
		offer, err := s.Survey(ctx)
		if err == nil {
			err = offer.Err()
		}
		if err != nil {
			known.SetUnknown(line.CutFirstLine(err.Error()))
			continue
		}
		known.SetOffer(offer)
	}
}

// reportCoverage sends the coverage at the end of a run, and findings for minimums
// that were not reached. Minimums are not checked in a shard, because it is only a
// part of the run.
func (r *runner) reportCoverage(ctx context.Context) {
	if r.shared.Coverage == nil || r.opts.Phase != All {
		return
	}
	state := r.exit.update(func(*exitState) {})
	partial := cmp.Or(r.opts.CoveragePartial, state.halted)
	switch {
	case ctx.Err() != nil:
		partial = "the run was interrupted"
	case state.setupFailed:
		partial = "the setup failed"
	}
	c := r.shared.Coverage.Record(partial)
	findings := c.Findings()
	r.deps.Send(result.CoverageMeasured{Coverage: c})
	if r.opts.Shard != nil {
		return
	}
	for _, f := range findings {
		r.exit.update(func(s *exitState) { s.gate = true })
		r.deps.Send(result.FindingSeen{Finding: f})
	}
}
