package pool

import (
	"mcptest/internal/base/lists"
	"mcptest/internal/run/doubles"
	"mcptest/internal/spec/plan"
)

// GetSharedDoubles returns the doubles that the programs of a file use; nil if it has
// no upstreams.
func (p *Pool) GetSharedDoubles(file *plan.File) *doubles.Group {
	p.mu.Lock()
	defer p.mu.Unlock()
	if sh := p.findShared(file); sh != nil {
		return sh.doubles
	}
	return nil
}

// Doubles returns the doubles of the servers of a lease.
func (l *Lease) Doubles() []*doubles.Group {
	return lists.Map(l.Servers, func(s *Server) *doubles.Group { return s.doubles })
}

// Doubles returns the doubles of all servers and programs.
func (p *Pool) Doubles() (groups []*doubles.Group) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.order {
		groups = append(groups, s.doubles)
	}
	for _, sh := range p.shared { // the order does not matter: these doubles serve programs
		groups = append(groups, sh.doubles)
	}
	return groups
}
