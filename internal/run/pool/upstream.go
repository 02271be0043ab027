package pool

import (
	"context"

	"mcptest/internal/base/lists"
	"mcptest/internal/report/result"
	"mcptest/internal/run/doubles"
	"mcptest/internal/spec/plan"
)

// SharedDoubles returns the doubles that the programs of a file use; nil if it has
// no upstreams.
func (p *Pool) SharedDoubles(file *plan.File) *doubles.Group {
	p.mu.Lock()
	defer p.mu.Unlock()
	if sh := p.sharedBy(file); sh != nil {
		return sh.doubles
	}
	return nil
}

// Doubles returns the doubles of the servers of a lease.
func (l *Lease) Doubles() []*doubles.Group {
	return lists.Map(l.Servers, func(s *Server) *doubles.Group { return s.doubles })
}

// UnusedUpstreams returns a finding for each upstream that got no request in the run.
func (p *Pool) UnusedUpstreams() []result.Finding { return doubles.Unused(p.groups()) }

// Settle waits for late requests of the tests so far.
func (p *Pool) Settle(ctx context.Context) { doubles.Settle(ctx, p.groups()) }

func (p *Pool) groups() (groups []*doubles.Group) {
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
