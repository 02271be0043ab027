package pool

import (
	"context"
	"sync"

	"mcptest/internal/client/mcp"
	"mcptest/internal/report/result"
	"mcptest/internal/run/connect"
	"mcptest/internal/run/doubles"
	"mcptest/internal/run/respond"
	"mcptest/internal/spec/plan"
)

// Deps are the dependencies of a pool.
type Deps struct {
	Opener *connect.Opener
	Send   func(result.Event)
	// Doubles are the dependencies of test doubles.
	Doubles doubles.Deps
	// Report reports a finding that belongs to no case.
	Report func(result.Finding)
	// Protect runs fn. It reports a panic in fn and returns it as text.
	Protect func(fn func()) (fault string)
	Warm    *Warm // nil: sessions are not kept after the run
	Clock   *Clock
}

// Pool holds the servers of a run: one [Server] for each resolved definition and
// set of declared capabilities.
type Pool struct {
	deps Deps
	run  context.Context // ends when the run is interrupted

	mu      sync.Mutex
	order   []*Server // in order of first use, which is the order in reports
	servers map[string]*Server
	known   map[use]*Server // finds a server without building its long key
	shared  map[*plan.File]*shared
}

// use identifies the way a server is used.
type use struct {
	def  *plan.Server
	caps respond.Capabilities
	file *plan.File
}

// New returns an empty pool. When run ends, the pool stops waiting for servers.
func New(run context.Context, deps Deps) *Pool {
	return &Pool{
		deps:    deps,
		run:     run,
		servers: map[string]*Server{},
		known:   map[use]*Server{},
		shared:  map[*plan.File]*shared{},
	}
}

// Server returns the server of a definition for sessions that declare caps.
func (p *Pool) Server(def *plan.Server, caps respond.Capabilities, file *plan.File) *Server {
	u := use{def, caps, file}
	p.mu.Lock()
	defer p.mu.Unlock()
	if s := p.known[u]; s != nil {
		return s
	}
	key := def.Key + "\x00" + caps.Key()
	if file.Options.RestartPolicy != plan.PerRun {
		key += "\x00" + file.Path
	}
	s := p.servers[key]
	if s == nil {
		s = &Server{
			pool: p,
			Def:  def,
			caps: caps,
			file: file,
			state: state{
				tools: newTools(), lists: map[string]*list{},
				offers: map[*mcp.Session]*offered{}, users: map[*mcp.Session]string{},
			},
		}
		s.slots = make([]*Slot, max(1, def.Sessions))
		for i := range s.slots {
			s.slots[i] = &Slot{server: s}
		}
		s.doubles, s.apart = doubles.New(p.deps.Doubles, def.Upstreams, def.Name), nil
		sh := p.findShared(file)
		if def.URL != "" && sh != nil {
			s.doubles, s.apart = sh.doubles, &sh.gate
		}
		p.servers[key] = s
		p.order = append(p.order, s)
	}
	p.known[u] = s
	return s
}

// ForCase returns the server of a case for one of its operations.
func (p *Pool) ForCase(c *plan.Case, def *plan.Server, file *plan.File) *Server {
	s := p.Server(def, respond.CapabilitiesFor(c, def), file)
	if p.deps.Warm != nil && leavesState(c) {
		s.update(func(st *state) { st.stateful = true })
	}
	return s
}

// Recycle ends the sessions of servers; they are reopened on demand.
func (p *Pool) Recycle(ctx context.Context, servers ...*Server) {
	for _, s := range servers {
		for _, slot := range s.slots {
			p.report(slot.end(ctx, nil))
		}
		s.update(func(st *state) { st.restarts = 0 })
	}
}

// RecycleAll ends the sessions of every server.
func (p *Pool) RecycleAll(ctx context.Context) { p.Recycle(ctx, p.order...) }

// CloseFile ends the servers of a file that none of the later files uses.
func (p *Pool) CloseFile(ctx context.Context, file *plan.File, later []*plan.File) {
	p.close(ctx, findNotNeededLater(file, later))
}

// findNotNeededLater returns a function that reports whether no later file uses a server.
func findNotNeededLater(file *plan.File, later []*plan.File) func(*Server) bool {
	needed := map[string]bool{}
	for _, next := range later {
		if next.Options.RestartPolicy != plan.PerRun {
			continue
		}
		for _, s := range next.Servers {
			needed[s.Key] = true
		}
	}
	return func(s *Server) bool {
		if s.file.Options.RestartPolicy != plan.PerRun {
			return s.file == file
		}
		return !needed[s.Def.Key]
	}
}

// Close ends every server.
func (p *Pool) Close(ctx context.Context) { p.close(ctx, func(*Server) bool { return true }) }

// close ends the matching servers in parallel and reports them in the order of
// first use.
func (p *Pool) close(ctx context.Context, match func(*Server) bool) {
	p.mu.Lock()
	var list []*Server
	for _, s := range p.order {
		if match(s) && !s.closed {
			s.closed = true
			list = append(list, s)
		}
	}
	p.mu.Unlock()
	ends := make([][]ending, len(list))
	var wg sync.WaitGroup
	for i, s := range list {
		wg.Go(func() { ends[i] = s.close(ctx) })
	}
	wg.Wait()
	for _, list := range ends {
		p.report(list)
	}
}

// report reports the end of sessions.
func (p *Pool) report(ends []ending) {
	for _, e := range ends {
		for _, f := range e.findings {
			p.deps.Report(f)
		}
		p.deps.Send(result.ServerDown{Server: e.server})
	}
}

// shared are the doubles of the programs of a file and of its servers with an
// address. Cases that use such servers hold the gate.
type shared struct {
	doubles *doubles.Group
	gate    gate
}

// findShared returns the doubles that a file shares; nil if it has no upstreams. The
// caller holds the mutex.
func (p *Pool) findShared(file *plan.File) *shared {
	if len(file.Upstreams) == 0 {
		return nil
	}
	sh := p.shared[file]
	if sh == nil {
		sh = &shared{doubles: doubles.New(p.deps.Doubles, file.Upstreams, "")}
		p.shared[file] = sh
	}
	return sh
}
