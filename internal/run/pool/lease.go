package pool

import (
	"cmp"
	"slices"
	"strings"

	"mcptest/internal/spec/plan"
)

// Lease is the right to use the sessions that a case needs.
type Lease struct {
	Servers   []*Server
	exclusive bool
	apart     *gate // set if several servers share the doubles
}

// Lease waits for the servers of a case.
func (p *Pool) Lease(c *plan.Case, file *plan.File, more ...*plan.Server) *Lease {
	l := &Lease{exclusive: c.Exclusive}
	for _, op := range c.Ops {
		more = append(append(more, op.Server), op.With...)
	}
	for _, def := range more {
		if def == nil {
			continue
		}
		if s := p.ForCase(c, def, file); !slices.Contains(l.Servers, s) {
			l.Servers = append(l.Servers, s)
		}
	}
	slices.SortFunc(l.Servers, func(a, b *Server) int {
		return cmp.Or(strings.Compare(a.Def.Name, b.Def.Name), strings.Compare(a.caps.Key(), b.caps.Key()))
	})
	for _, s := range l.Servers {
		s.gate.acquire(l.exclusive)
		l.apart = cmp.Or(l.apart, s.apart) // a case has servers of one file only
	}
	if l.apart != nil {
		l.apart.acquire(l.exclusive)
	}
	return l
}

// Release ends the lease.
func (l *Lease) Release() {
	if l.apart != nil {
		l.apart.release(l.exclusive)
	}
	for _, s := range l.Servers {
		s.gate.release(l.exclusive)
	}
}
