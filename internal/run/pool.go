package run

import (
	"context"
	"slices"
	"strings"
	"sync"

	"mcptest/internal/plan"
	"mcptest/internal/result"
)

// pool holds the servers of a run: one entry for each resolved definition and
// set of declared capabilities.
type pool struct {
	r  *runner
	mu sync.Mutex
	// order of first use, for a stable order of reports.
	order   []*entry
	entries map[string]*entry
	// known finds an entry without building its long key.
	known map[use]*entry
}

// use is who asks for an entry.
type use struct {
	server *plan.Server
	caps   capabilities
	file   *plan.File
}

func newPool(r *runner) *pool {
	return &pool{r: r, entries: map[string]*entry{}, known: map[use]*entry{}}
}

// entry returns the entry of a server for sessions that declare caps.
func (p *pool) entry(s *plan.Server, caps capabilities, file *plan.File) *entry {
	u := use{s, caps, file}
	p.mu.Lock()
	defer p.mu.Unlock()
	if e := p.known[u]; e != nil {
		return e
	}
	key := s.Key + "\x00" + caps.key()
	if file.Options.RestartPolicy != plan.PerRun {
		key += "\x00" + file.Path
	}
	e := p.entries[key]
	if e == nil {
		e = &entry{r: p.r, def: s, caps: caps, file: file, tools: newToolIndex()}
		e.slots = make([]*slot, max(1, s.Sessions))
		for i := range e.slots {
			e.slots[i] = &slot{entry: e, index: i}
		}
		p.entries[key] = e
		p.order = append(p.order, e)
	}
	p.known[u] = e
	return e
}

// warm starts the servers of a file's cases in the background, so that they
// are up when the first case wants them.
func (f *fileRun) warm(ctx context.Context) {
	if f.file.Options.RestartPolicy == plan.PerTest {
		return
	}
	ctx, f.stopWarm = context.WithCancel(ctx)
	seen := map[*plan.Server]bool{}
	for i := f.first; i < f.end && len(seen) < len(f.file.Servers); i++ {
		s := f.plan.ServerOf(i)
		if s == nil || seen[s] {
			continue
		}
		c := f.plan.Case(i)
		if c.Skip != "" {
			continue
		}
		seen[s] = true
		e := f.pool.entry(s, caseCapabilities(c, s), f.file)
		f.warming.Go(func() { f.protect(func() { _, _ = e.slots[0].session(ctx) }) })
	}
}

// closeAfter ends the servers that no file still to be ended uses: their
// fixtures are about to go.
func (p *pool) closeAfter(ctx context.Context, f *fileRun) {
	still := map[string]bool{}
	for _, next := range f.pending() {
		if next.Options.RestartPolicy != plan.PerRun {
			continue
		}
		for _, s := range next.Servers {
			still[s.Key] = true
		}
	}
	p.close(ctx, func(e *entry) bool {
		if e.file.Options.RestartPolicy != plan.PerRun {
			return e.file == f.file
		}
		return !still[e.def.Key]
	})
}

// pending are the files whose end comes after that of f: those that follow, or
// those before it where files are ended the last first.
func (f *fileRun) pending() []*plan.File {
	var out []*plan.File
	for _, g := range f.files() {
		if f.backwards && g.index < f.index || !f.backwards && g.index > f.index {
			out = append(out, g.file)
		}
	}
	return out
}

// recycle ends the sessions of entries and lets new ones be opened.
func (p *pool) recycle(ctx context.Context, entries []*entry) {
	for _, e := range entries {
		for _, s := range e.slots {
			for _, end := range s.recycle(ctx) {
				p.r.ended(end)
			}
		}
	}
}

// closeAll ends every server.
func (p *pool) closeAll(ctx context.Context) { p.close(ctx, func(*entry) bool { return true }) }

// close ends the entries that match, side by side, and reports them in order
// of first use.
func (p *pool) close(ctx context.Context, match func(*entry) bool) {
	p.mu.Lock()
	var list []*entry
	for _, e := range p.order {
		if match(e) && !e.closed {
			e.closed = true
			list = append(list, e)
		}
	}
	p.mu.Unlock()
	ends := make([][]ending, len(list))
	var wg sync.WaitGroup
	for i, e := range list {
		wg.Go(func() { ends[i] = e.close(ctx) })
	}
	wg.Wait()
	for _, es := range ends {
		for _, end := range es {
			p.r.ended(end)
		}
	}
}

// lease is the right to use the sessions a case needs.
type lease struct {
	entries   []*entry
	exclusive bool
}

// lease waits for the case's servers, in the order of their names, so that
// two leases never wait for each other.
func (f *fileRun) lease(c *plan.Case) *lease {
	l := &lease{exclusive: c.Exclusive}
	for _, op := range c.Ops {
		if op.Server == nil {
			continue
		}
		e := f.entryOf(c, op)
		if !slices.Contains(l.entries, e) {
			l.entries = append(l.entries, e)
		}
	}
	slices.SortFunc(l.entries, func(a, b *entry) int {
		if n := strings.Compare(a.def.Name, b.def.Name); n != 0 {
			return n
		}
		return strings.Compare(a.caps.key(), b.caps.key())
	})
	for _, e := range l.entries {
		if l.exclusive {
			e.gate.Lock()
		} else {
			e.gate.RLock()
		}
	}
	return l
}

func (l *lease) release() {
	for _, e := range l.entries {
		if l.exclusive {
			e.gate.Unlock()
		} else {
			e.gate.RUnlock()
		}
	}
}

// entryOf is the entry an op of a case uses.
func (f *fileRun) entryOf(c *plan.Case, op *plan.Op) *entry {
	return f.pool.entry(op.Server, caseCapabilities(c, op.Server), f.file)
}

// ended reports the end of one session.
func (r *runner) ended(e ending) {
	for _, f := range e.findings {
		r.finding(f)
	}
	r.w.Send(result.ServerDown{Server: e.server})
}
