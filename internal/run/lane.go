package run

import (
	"context"
	"sync"
	"sync/atomic"

	"mcptest/internal/plan"
	"mcptest/internal/result"
)

// lane is the queue of one server: its cases in file order, worked on by as
// many workers as calls may be in flight.
type lane struct {
	cases   []int32
	next    atomic.Int64
	workers int
}

// take returns the next case of the lane.
func (l *lane) take() (int, bool) {
	i := l.next.Add(1) - 1
	if i >= int64(len(l.cases)) {
		return 0, false
	}
	return int(l.cases[i]), true
}

// lanes runs the file's cases.
func (f *fileRun) lanes(ctx context.Context) {
	var wg sync.WaitGroup
	for _, l := range f.makeLanes() {
		for range min(l.workers, len(l.cases)) {
			wg.Go(func() {
				for {
					i, ok := l.take()
					if !ok {
						return
					}
					f.conclude(i, func(c *plan.Case, out *result.Case) { f.one(ctx, c, out) })
				}
			})
		}
	}
	wg.Wait()
}

// makeLanes gives each server a lane; a serial file has a single one with a
// single worker.
func (f *fileRun) makeLanes() []*lane {
	if f.file.Serial || f.file.Options.Whole {
		l := &lane{workers: 1, cases: make([]int32, 0, f.end-f.first)}
		for i := f.first; i < f.end; i++ {
			l.cases = append(l.cases, int32(i))
		}
		return []*lane{l}
	}
	var out []*lane
	byKey := map[string]*lane{}
	for i := f.first; i < f.end; i++ {
		s := f.plan.ServerOf(i)
		key := ""
		if s != nil {
			key = s.Key
		}
		l := byKey[key]
		if l == nil {
			l = &lane{workers: f.width(s)}
			byKey[key] = l
			out = append(out, l)
		}
		l.cases = append(l.cases, int32(i))
	}
	return out
}

// width is the number of calls in flight on a server.
func (f *fileRun) width(s *plan.Server) int {
	n := f.file.Options.Parallel
	if s != nil {
		n *= max(1, s.Sessions)
	}
	return max(1, n)
}

// one runs a case unless something speaks against it.
func (f *fileRun) one(ctx context.Context, c *plan.Case, out *result.Case) {
	if f.w.Live {
		f.w.Send(result.CaseStarted{Index: c.Index, Name: c.Name})
	}
	if c.Skip != "" {
		out.Status, out.Message = result.Skip, c.Skip
	} else if reason, stopped := f.halted(ctx); stopped {
		out.Status, out.Message = result.Skip, reason
	} else {
		f.runCase(ctx, c, out)
	}
}
